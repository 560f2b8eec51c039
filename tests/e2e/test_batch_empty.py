"""test_batch_empty - inputs of `eddy batch` and `eddy check` that have nothing to send, and rows that have nothing in
them.
"""
import os

import e2e
from batch_api import Api, ids_of, requests
from e2e import check, claim, equal

ROWS = "custom_id,text\na,x\n,no id\n,,\nb,y\n,\n\"\",\"\"\n,q\n"


class Table:
    """A table whose rows are sent to an API."""

    def __init__(self, eddy, content, name="in.csv"):
        self.eddy, self.api = eddy, Api(eddy, lambda call: (200, {}, {}))
        self.path, self.out = eddy.file(name, content), eddy.file("out.jsonl")
        self.args = ("--base-url", self.api.url, "--url", "/x?q={{text}}", "--format", "csv")

    def run(self, *args, command="batch"):
        self.api.calls.clear()
        more = () if command == "check" else ("--progress", "off")
        return self.eddy.run(command, self.path, "-o", self.out, *self.args, *more, *args)

    def pipe(self, *args):
        self.api.calls.clear()
        with open(self.path, "rb") as file:
            return self.eddy.run("batch", "-", "-o", self.out, *self.args, "--progress", "off", *args, stdin=file.read())


@claim
def row_of_empty_fields_is_skipped_and_an_empty_id_is_counted(eddy):
    table = Table(eddy, ROWS)
    result = table.run(command="check")
    equal(result.code, 0, result)
    check("requests        4\n" in result.out and
          "empty ids       2, which become line-N, the number of the row\n" in result.out, result)
    said = "custom_id is empty in 2 rows: their ids are line-N, the number of the row, which changes if rows are added"
    for run in (table.run, table.pipe):
        for sent in (4, 0):
            result = run()
            equal((result.code, len(table.api.calls), sorted(ids_of(table.out)), result.err.count(said)),
                  (0, sent, ["a", "b", "line-3", "line-8"], 1), result)
        os.remove(table.out)
    table = Table(eddy, ROWS.replace("custom_id", "key"))
    for id_args, word, count in ((("--id-column", "key"), "key is empty in 2 rows", 1), ((), " is empty in ", 0)):
        result = table.run(*id_args)
        equal((result.code, len(table.api.calls), result.err.count(word)), (0, 4, count), result)
        os.remove(table.out)
    result = Table(eddy, "custom_id,text\na,x\n,y\n").run()
    check("custom_id is empty in 1 row: its id is line-N" in result.err, result)


@claim
def rows_of_empty_fields_are_left_out_and_counted_with_skip_empty(eddy):
    result = Table(eddy, ROWS.replace(",,", ",")).run("--skip-empty")
    equal(result.code, 0, result)
    check("\n3 skipped: empty; " in result.err, result)


@claim
def table_without_rows_ends_with_0_and_an_empty_file_with_3(eddy):
    for content, code, word in (("custom_id,text\n", 0, "no rows: nothing to send"),
                                ("custom_id,text", 0, "no rows: nothing to send"),
                                ("custom_id,text\r\n,\r\n,,\r\n", 0, "no rows: nothing to send"),
                                ("", 3, "the input has no request"), ("\n\r\n", 3, "the input has no request")):
        for _ in range(2):
            table = Table(eddy, content)
            for result in (table.run(), table.pipe(), table.run(command="check")):
                equal((result.code, table.api.calls), (code, []), content, result)
                check(word in result.err and " done in " not in result.err, content, result)
            # The same with answers of another day.
            table = Table(eddy, "custom_id,text\na,x\n", "yesterday.csv")
            equal(table.run().code, 0)
    result = Table(eddy, "custom_id,text\n\"a,x\n").run(command="check")
    check(result.code == 3 and "no rows" not in result.err, result)


@claim
def blank_rows_before_the_names_of_the_columns_are_skipped(eddy):
    table = Table(eddy, "\n\r\ncustom_id,text\na,x\n,y\n")
    for sent in (2, 0):
        result = table.run()
        equal((result.code, len(table.api.calls), sorted(ids_of(table.out))), (0, sent, ["a", "line-5"]), result)
    equal(eddy.run("collect", table.out, "--by", table.path).code, 0)
    result = eddy.run("select", table.out, "--by", table.path, "--select", "/n", "--keep", "text")
    check(result.code == 0 and "2 rows: 2 answered" in result.err, result)


@claim
def empty_file_of_json_lines_ends_with_3_whether_there_are_answers_or_not(eddy):
    api = Api(eddy, lambda call: (200, {}, {}))
    args = ["-o", eddy.file("out.jsonl"), "--base-url", api.url]
    for name, content in (("none.jsonl", ""), ("blank.jsonl", "\n \n")):
        for _ in range(2):  # the second time with the answers of another day
            for command in ("batch", "check"):
                result = eddy.run(command, eddy.file(name, content), *args)
                check(result.code == 3 and "the input has no request" in result.err, name, result)
            equal(eddy.run("batch", eddy.file("yesterday.jsonl", requests(2)), *args).code, 0)
    # An input that a run has done is done when it is repeated.
    for _ in range(2):
        equal(eddy.run("batch", eddy.file("yesterday.jsonl"), *args).code, 0)
    equal(len(api.calls), 2)


@claim
def run_that_has_nothing_to_send_says_so_in_place_of_zeros(eddy):
    api = Api(eddy, lambda call: (400 if call.id == "r1" else 200, {}, {}))
    args = ["batch", eddy.file("in.jsonl", requests(3)), "-o", eddy.file("out.jsonl"), "--base-url", api.url,
            "--accept-failed", "--progress", "off"]
    result = eddy.run(*args)
    check(result.code == 0 and "3 done in " in result.err and "nothing to send" not in result.err, result)
    result = eddy.run(*args)
    equal((result.code, len(api.calls)), (0, 3), result)
    check("\nnothing to send: 2 requests have an answer, and 1 failure is accepted\nanswers in" in result.err, result)
    for content, text in ((requests(3).replace("r1", "r3"), "all 3 requests have an answer"),
                          (requests(1), "1 request has an answer")):
        args[1] = eddy.file("in.jsonl", content)
        eddy.run(*args)
        result = eddy.run(*args)
        equal(result.code, 0, result)
        check(f"\nnothing to send: {text}\n" in result.err and "done" not in result.err, result)


if __name__ == "__main__":
    e2e.main()
