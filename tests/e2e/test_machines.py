"""The commands of docs/machines.md, followed in an empty folder, with small programs in place of schedulers.

test_schedulers.py has the real Slurm and GNU parallel.
"""
import json
import os
import re

import e2e
from e2e import check, claim, equal
from page import blocks, follow, on_this_machine, script_of, section_of, text_of

PAGE = "docs/machines.md"
# The tasks of an array, one after the other: `sbatch --array=0-7 --export=ALL,NAME=VALUE SCRIPT`.
SBATCH = r"""#!/usr/bin/env python3
import os, re, subprocess, sys
options, script = sys.argv[1:-1], sys.argv[-1]
with open(script) as file:
    options = re.findall(r"^#SBATCH (.*)", file.read(), re.M) + options
low, high = re.findall(r"--array=(\d+)-(\d+)", " ".join(options))[-1]
more = dict(re.findall(r"(\w+)=(\w+)", "".join(re.findall(r"--export=ALL,(\S+)", " ".join(options)))))
for task in range(int(low), int(high) + 1):
    env = {**os.environ, **more, "SLURM_ARRAY_JOB_ID": "1", "SLURM_ARRAY_TASK_ID": str(task),
           "SLURM_ARRAY_TASK_MIN": low, "SLURM_ARRAY_TASK_MAX": high, "SLURM_ARRAY_TASK_STEP": "1",
           "SLURM_ARRAY_TASK_COUNT": str(int(high) - int(low) + 1)}
    subprocess.run(["bash", script], env=env, check=True)
"""
# The pods of a job, one after the other: `kubectl apply -f FILE`.
KUBECTL = r"""#!/usr/bin/env python3
import os, subprocess, sys, yaml
with open(sys.argv[-1]) as file:
    made = yaml.safe_load(file)
spec = made["spec"]
for index in range(spec.get("completions", 1)) if made["kind"] == "Job" else []:
    env = {**os.environ, **({"JOB_COMPLETION_INDEX": str(index)} if spec.get("completionMode") == "Indexed" else {})}
    container, = spec["template"]["spec"]["containers"]
    subprocess.run(container["command"], env=env, check=True)
"""
PARALLEL = r"""#!/usr/bin/env python3
import subprocess, sys
for line in sys.stdin:
    subprocess.run(["sh", "-c", sys.argv[-1].replace("{}", line.strip())], check=True)
"""
# Each machine is a folder beside that of the test.
SSH = 'cd "../machines/$2" && exec sh -c "$3"'
RSYNC = r"""#!/usr/bin/env python3
import glob, os, re, shutil, sys
*sources, target = [re.sub(r"^(\w+):", r"../machines/\1/", word) for word in sys.argv[2:]]
os.makedirs(target, exist_ok=True)
for source in sources:
    for path in glob.glob(source):
        shutil.copy(path, target)
"""
VLLM = r"""#!/usr/bin/env python3
import os, sys
os.execvp("eddy", ["eddy", "mock", "--listen", "127.0.0.1:" + sys.argv[sys.argv.index("--port") + 1]])
"""
STUBS = {"sbatch": SBATCH, "squeue": "echo RUNNING", "scontrol": '[ "$1" = show ] && echo node',
         "kubectl": KUBECTL, "parallel": PARALLEL, "ssh": SSH, "rsync": RSYNC, "vllm": VLLM, "curl": "exit 0", "getent": "echo 127.0.0.1 STREAM vllm"}
RAY = r"""
class Task:
    def __init__(self, function):
        self.remote = function


def remote(**_):
    return Task


def init():
    pass


def get(results):
    return results
"""


def ids(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["custom_id"] for line in file]


def follow_section(eddy, heading, *edits):
    """Follow a section of the page, after the lines that start its server and make its requests.

    Edits are pairs of a text and its replacement, in which PORT is the server's.
    """
    text = text_of(PAGE)
    begin = [line if line.startswith(("eddy mock", "seq")) else ""
             for line in script_of(section_of(text, "Shards")).splitlines()]
    section = script_of(section_of(text, heading)).splitlines()
    check(any(begin) and any(section), heading)
    script = on_this_machine(eddy, "\n".join(one or other for one, other in zip(begin, section)) + "\n")
    port = re.search(r"--listen 127.0.0.1:(\d+)", script).group(1)
    for old, new in edits:
        check(old in script, old)
        script = script.replace(old, new.replace("PORT", port))
    return follow(eddy, PAGE, script, STUBS)


def each_answer_is_there(folder, path="all.jsonl"):
    equal(ids(f"{folder}/{path}"), [f"n{number}" for number in range(1, 801)])


@claim
def shards_on_one_machine_are_collected(eddy):
    folder = follow(eddy, PAGE, on_this_machine(eddy, script_of(section_of(text_of(PAGE), "Shards"))), STUBS)
    each_answer_is_there(folder)


@claim
def arrays_of_slurm_are_collected(eddy):
    folder = follow_section(eddy, "Slurm", ("3000", "6"), ("0 1000 2000", "0 2 4"), ("0-999", "0-1"))
    each_answer_is_there(folder)
    each_answer_is_there(folder, "part-all.jsonl")


@claim
def pods_of_kubernetes_are_collected(eddy):
    yaml_module()
    each_answer_is_there(follow_section(eddy, "Kubernetes"))


@claim
def jobs_of_parallel_are_collected(eddy):
    each_answer_is_there(follow_section(eddy, "GNU parallel"), "parallel-all.jsonl")


@claim
def answers_of_three_machines_are_collected(eddy):
    each_answer_is_there(follow_section(eddy, "Three machines and ssh"), "ssh-all.jsonl")
    for shard in range(3):
        equal(os.listdir(eddy.file(f"machines/host{shard}/job")).count(f"ssh.{shard}.jsonl"), 1)


@claim
def tasks_of_ray_are_collected(eddy):
    eddy.file("ray.py", RAY)
    each_answer_is_there(follow_section(eddy, "Ray", ('"/shared/job"', '"."'), (
        "import ray", f"import sys; sys.path.append('{eddy.folder}'); import ray")), "ray-all.jsonl")


@claim
def shards_with_a_server_beside_each_are_collected(eddy):
    ports = " ".join(str(e2e.free_port()) for _ in range(8))
    folder = follow_section(eddy, "vLLM beside each worker", (
        "port=$((8000 + SLURM_ARRAY_TASK_ID % 1000))", f"ports=({ports}); port=${{ports[SLURM_ARRAY_TASK_ID]}}"))
    each_answer_is_there(folder, "gpu-all.jsonl")


@claim
def servers_of_a_list_answer_to_one_machine(eddy):
    folder = follow_section(eddy, "Many servers for one machine", ("&:8000|", "127.0.0.1:PORT|"), (":8000", ":PORT"))
    for name in ("all.jsonl", "pods.jsonl"):
        equal(sorted(ids(f"{folder}/{name}")), sorted(f"n{number}" for number in range(1, 801)))


def yaml_module():
    try:
        import yaml
    except ImportError:
        raise e2e.Skip("no python3-yaml here") from None
    return yaml


def again_in_table():
    """The statuses that the table of the page repeats, those that fail an index, and those that end a job."""
    table = text_of(PAGE).split("| status | meaning | Slurm |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    numbers = {row[2] + ", " + row[3]: [] for row in rows}
    for row in rows:
        numbers[row[2] + ", " + row[3]] += [int(number) for number in row[0].split(", ")]
    return numbers


@claim
def statuses_of_the_files_are_those_of_the_table(_):
    numbers = again_in_table()
    patterns = re.findall(r"^([\d|]+)\)\n(?: .*\n)*? +scontrol requeue", text_of(PAGE), re.M)
    equal(len(patterns), 2)
    for pattern in patterns:
        equal([int(number) for number in pattern.split("|")], numbers["again, again"])
    rules = dict(re.findall(r"action: (Fail\w+), .*values: \[([\d, ]+)\]", text_of(PAGE)))
    equal({action: [int(number) for number in values.split(", ")] for action, values in rules.items()},
          {"FailIndex": numbers["the task fails, the index fails, the others continue"],
           "FailJob": numbers["the task fails, the job ends"]})
    manual = text_of("docs/man/eddy-batch.1").split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
    tags = re.findall(r"^\.TP\n(?:\.B(?:R)? )?(.*)$", manual, re.M)
    known = {int(number) for tag in tags for number in re.findall(r"\d+", tag)}
    # A scheduler sends neither SIGHUP nor SIGINT; 137 is the shell's.
    equal({number for group in numbers.values() for number in group}, known - {129, 130} | {137})


@claim
def files_of_kubernetes_have_the_members_that_they_need(_):
    yaml = yaml_module()
    text = text_of(PAGE)
    made = {name: yaml.safe_load(content) for name, content in
            re.findall(r"^cat >(\w+\.yaml) <<'END'\n(.*?)^END$", text, re.M | re.S)}
    equal(sorted(made), ["collect.yaml", "job.yaml", "volume.yaml"])
    job = made["job.yaml"]["spec"]
    container, = job["template"]["spec"]["containers"]
    equal(job["completionMode"], "Indexed")
    equal(job["template"]["spec"]["restartPolicy"], "Never")
    equal(container["command"][container["command"].index("--shard") + 1], f"auto/{job['completions']}")
    equal({rule["onExitCodes"]["containerName"] for rule in job["podFailurePolicy"]["rules"] if "onExitCodes" in rule},
          {container["name"]})
    equal(job["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"],
          made["volume.yaml"]["metadata"]["name"])
    block, = ["\n".join(lines) for language, _, lines in blocks(text) if language == "yaml"]
    equal(yaml.safe_load(block)["initContainers"][0]["restartPolicy"], "Always")


@claim
def commands_of_the_page_are_in_blocks_that_are_run(_):
    for language, first, lines in blocks(text_of(PAGE)):
        check(language in ("sh", "python", "dockerfile", "yaml"), f"{PAGE}:{first}: {language}")
        if language == "python":
            compile("\n".join(lines), f"{PAGE}:{first}", "exec")


if __name__ == "__main__":
    e2e.main()
