"""The guide of docs/batch.md and README's section for people with data, followed in an empty folder."""
import csv
import json
import os
import re

import e2e
from e2e import check, claim, equal
from page import blocks, follow, on_this_machine, script_of, section_of, text_of

PAGE = "docs/batch.md"
BATCH = re.compile(r"eddy batch (\S+) -o (\S+)")
# Programs of others, as far as the page needs them.
STUBS = {"gcloud": "echo KEY", "az": "echo KEY", "llama-server": "exit 0", "sbatch": 'SLURM_JOB_ID=1 sh "$1"',
         "srun": 'shift; exec "$@"', "scontrol": "exit 1"}
# A module in place of pandas, which is not installed here.
PANDAS = """class read_csv:
    def __init__(self, path):
        self.text = open(path).read()

    def to_string(self):
        return self.text
"""


def ids(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return sorted(line.get("custom_id") or line["key"] for line in lines)


@claim
def each_command_of_the_guide_works_in_order_and_each_request_gets_one_answer(eddy):
    script = script_of(text_of(PAGE))
    folder = follow(eddy, PAGE, on_this_machine(eddy, script), STUBS)
    for given, answers in set(BATCH.findall(script)):
        if given.endswith(".jsonl") and answers != "failed.jsonl":
            equal(ids(f"{folder}/{answers}"), ids(f"{folder}/{given}"), answers)
    equal(len(ids(folder + "/vectors.jsonl")), 100)
    equal(len(ids(folder + "/items.jsonl")), 3)
    equal(ids(folder + "/csv.jsonl"), ["sun", "water"])
    with open(folder + "/kept.csv", encoding="utf-8") as file:
        equal(len(file.readlines()), 3)
    check("/items/7?q=red%20shoes" in text_of(eddy.file("shown")))
    equal(ids(folder + "/failed.errors.jsonl"), ["empty"])
    check(not os.path.exists(folder + "/stop"))


@claim
def section_for_people_with_data_leads_from_a_table_to_pandas(eddy):
    script = script_of(section_of(text_of("README.md"), "For people with data"))
    # Other tests build the wheel, and install it.
    script, count = re.subn(r"^(make wheel|python3 -m venv) .*", "", script, flags=re.M)
    equal(count, 2)
    check(len([line for line in script.splitlines() if line]) <= 15, script)
    eddy.file("pandas.py", PANDAS)
    script = f"export PYTHONPATH={eddy.folder}; {script}"
    folder = follow(eddy, "README.md", on_this_machine(eddy, script), STUBS)
    with open(folder + "/table.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    equal([(row["id"], row["review"], row["error"]) for row in rows],
          [("1", "The soup was cold.", ""), ("2", "Fast, and friendly.", "")])
    check(all(row["answer"] for row in rows), rows)
    shown = section_of(text_of("README.md"), "For people with data")
    for row in rows:
        check(re.search(f'{row["review"]} +{row["answer"]} +NaN$', shown, re.M), row)


@claim
def commands_of_the_guide_are_in_blocks_that_are_run(_):
    for language, first, lines in blocks(text_of(PAGE)):
        if language == "":
            check(not re.search(r"^(eddy|jq|curl|echo|printf) ", "\n".join(lines), re.M), f"{PAGE}:{first}: mark it sh")


@claim
def no_two_inputs_of_the_guide_share_an_output(_):
    inputs = {}
    for _, _, lines in blocks(text_of(PAGE)):
        for given, answers in BATCH.findall("\n".join(lines)):
            # Those of schedulers are in folders of their own.
            if (given, answers) != ("requests.jsonl", "answers.jsonl"):
                inputs.setdefault(answers, set()).add(given)
    check(len(inputs) > 10, inputs)
    for answers, given in inputs.items():
        equal(len(given), 1, answers, given)


@claim
def programs_of_the_guide_are_python(_):
    for language, first, lines in blocks(text_of(PAGE)):
        if language == "python":
            compile("\n".join(lines), f"{PAGE}:{first}", "exec")


@claim
def statuses_of_the_guide_are_those_of_the_manual_page(_):
    manual = text_of("docs/man/eddy-batch.1").split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
    tags = re.findall(r"^\.TP\n(?:\.B(?:R)? )?(.*)$", manual, re.M)
    table = text_of(PAGE).split("| status | meaning | next |\n")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[1:]]
    # 137 is the shell's, and not the program's.
    equal({int(number) for cell in cells for number in re.findall(r"\d+", cell)} - {137},
          {int(number) for tag in tags for number in re.findall(r"\d+", tag)})


if __name__ == "__main__":
    e2e.main()
