"""test_explore - `eddy explore`: outcomes of whole programs that know nothing of it."""
import os
import re
import shutil
import signal
import subprocess

import e2e
from e2e import check, claim, equal
from timeline import Timeline

PROGRAM = os.environ["EDDY_EXPLORED"]
OUTCOME = re.compile(r"outcome (\d+) of (\d+), in (\d+) of (\d+) runs:\n((?:    .*\n|  \w.*\n)*?)"
                     r"  again: EDDY_TEST_REPLAY='(.*)' (.*)\n\n")


def explore(eddy, *args, code=None, env=None, stdin=None):
    result = eddy.run("explore", *args, env={**os.environ, **(env or {})}, stdin=stdin)
    if code is not None:
        equal(result.code, code, result)
    return result


def outcomes(result):
    """{text of an outcome: its replay string}; the counts must add up."""
    found = OUTCOME.findall(result.out)
    check(found, result)
    equal([int(number) for number, *_ in found], list(range(1, len(found) + 1)), result)
    equal(sum(int(count) for _, _, count, *_ in found), int(found[0][3]), result)
    return {text: replay for *_, text, replay, _ in found}


def texts(eddy, *args, code=1):
    return sorted(outcomes(explore(eddy, *args, code=code)))


def fields_of(process):
    """The fields of /proc/PID/stat from the state on, or None."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def hanging_copy_of(process):
    """The copy that has computed for some time, or None."""
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            copies = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    for copy in copies:
        fields = fields_of(copy)  # other copies end at any time
        if fields and int(fields[11]) > 50:
            return copy
    return None


def explore_until_it_hangs(eddy):
    """An exploration whose second copy hangs, and this copy."""
    child = eddy.start("explore", PROGRAM, "hang", start_new_session=True)
    found = []
    e2e.wait_until(lambda: found.append(hanging_copy_of(child.pid)) or found[-1], "a copy that hangs")
    return child, found[-1]


def has_ended(process):
    fields = fields_of(process)
    return not fields or fields[0] == "Z"


@claim
def a_race_has_both_outcomes(eddy):
    result = explore(eddy, PROGRAM, "race", code=1)
    equal(outcomes(result), {"    run 1: seats -1\n": "sell:order=0", "    run 1: seats 0\n": "sell:order=2/2"})
    equal(result.out.splitlines()[-1], "2 outcomes in 6 runs: all orders")
    if "thread" not in os.environ.get("EDDY_TEST_SANITIZE", ""):  # it has a thread of its own
        equal(result.err, "")


@claim
def the_order_of_a_replay_string_gives_its_outcome_in_the_program_itself(eddy):
    for text, replay in outcomes(explore(eddy, PROGRAM, "race")).items():
        result = explore(eddy, PROGRAM, "race", code=0, env={"EDDY_TEST_REPLAY": replay})
        equal((result.out, result.err), (text.removeprefix("    "), "the program's own words\n"))


@claim
def a_replay_writes_a_timeline_that_is_always_the_same(eddy):
    files = [os.path.join(eddy.folder, name) for name in ("a.json", "b.json")]
    for file in files:
        explore(eddy, PROGRAM, "race", code=0,
                env={"EDDY_TEST_REPLAY": "sell:order=2/2", "EDDY_TRACE": file})
    line = Timeline(files[0])
    equal((line.other["clock"], len(line.named("buy"))), ("simulated", 2))
    first, second = (open(file, "rb").read() for file in files)
    equal(first, second)


@claim
def an_exploration_writes_no_timeline(eddy):
    file = os.path.join(eddy.folder, "a.json")
    explore(eddy, PROGRAM, "race", code=1, env={"EDDY_TRACE": file})
    check(not os.path.exists(file))


@claim
def a_failed_assertion_is_an_outcome_and_does_not_end_the_exploration(eddy):
    found = texts(eddy, PROGRAM, "abort")
    equal(len(found), 3, found)
    check(re.fullmatch(r"    b\n  found:\n    ended by signal 6 \(Aborted\) in the run: "
                       r".*explored.c:\d+: .*buy.*: Assertion `!is\(\"abort\"\)' failed\.\n", found[2]), found)


@claim
def an_exit_in_the_run_is_an_outcome(eddy):
    check("  found:\n    ended with exit status 3 in the run\n" in texts(eddy, PROGRAM, "exit"))


@claim
def a_leak_is_an_outcome(eddy):
    check(any("not freed" in text or "left" in text for text in texts(eddy, PROGRAM, "leak")))


@claim
def the_exit_status_belongs_to_the_outcome(eddy):
    found = texts(eddy, PROGRAM, "end")
    equal([re.search(r"exit status (\d)", text)[1] for text in found], ["4", "5"], found)


@claim
def a_run_that_does_not_end_is_an_outcome(eddy):
    for mode in ("hang", "deaf"):
        found = texts(eddy, "--timeout", "1s", PROGRAM, mode)
        check("  found:\n    the program did not end within 1 s (--timeout)\n" in found, found)


@claim
def each_run_begins_with_the_state_of_the_program_before_it(eddy):
    check(all("run 1:" in text for text in texts(eddy, PROGRAM, "race")))


@claim
def further_runs_of_the_program_follow_in_each_copy(eddy):
    found = outcomes(explore(eddy, PROGRAM, "twice", code=1))
    equal(sorted(found), ["    run 1: seats -1\n    run 2: seats -1\n", "    run 1: seats 0\n    run 2: seats -1\n"])
    trace = os.path.join(eddy.folder, "run.json")
    for text, replay in found.items():
        result = explore(eddy, PROGRAM, "twice", code=0, env={"EDDY_TEST_REPLAY": replay, "EDDY_TRACE": trace})
        equal(result.out, text.replace("    ", ""))
        equal([len(Timeline(file).named("buy")) for file in (trace, trace + ".2")], [2, 2])


@claim
def the_command_below_an_outcome_repeats_it(eddy):
    result = explore(eddy, PROGRAM, "--it's a \"word\"", "", code=1)
    for *_, text, replay, command in OUTCOME.findall(result.out):
        again = subprocess.run(["sh", "-c", f"EDDY_TEST_REPLAY='{replay}' {command}"], check=False, text=True,
                               capture_output=True, timeout=60,
                               env={**os.environ, "PATH": os.path.dirname(eddy.path) + ":" + os.environ["PATH"]})
        check(text.removeprefix("    ") in again.stdout, again, text)
        check("argument --it's a \"word\"\nargument \n" in again.stdout, again)


@claim
def several_loops_are_refused_before_they_begin(eddy):
    for mode in ("many", "loop"):
        result = explore(eddy, PROGRAM, mode, code=3)
        check("cannot be explored" in result.err and not result.out, result)


@claim
def a_program_that_is_not_deterministic_is_named_after_the_outcomes_so_far(eddy):
    result = explore(eddy, PROGRAM, "file", eddy.file("count", "0"), code=3)
    check("the program did something else in the same order" in result.err, result)
    check(len(outcomes(result)) >= 1, result)
    equal(len([line for line in result.err.splitlines() if "other threads" not in line]), 1, result)


@claim
def a_timeline_of_an_exploration_is_refused_with_a_reason(eddy):
    result = explore(eddy, PROGRAM, "race", code=1, env={"EDDY_TRACE": os.path.join(eddy.folder, "t")})
    check("EDDY_TRACE has an effect only with EDDY_TEST_REPLAY" in result.err, result)


@claim
def a_program_that_ignores_its_children_is_explored(eddy):
    result = explore(eddy, PROGRAM, "race", code=1, env={"IGNORE_CHILDREN": "1"})
    equal(len(outcomes(result)), 2)


@claim
def a_finding_in_each_order_is_a_failure(eddy):
    explore(eddy, PROGRAM, "fail", code=1)


@claim
def the_arguments_are_those_of_the_program_also_if_they_look_like_options(eddy):
    result = explore(eddy, PROGRAM, "--help", "--runs", code=1)
    check("    argument --help\n    argument --runs\n" in result.out
          or result.out.startswith("argument --help\nargument --runs\n"), result)


@claim
def standard_input_of_a_run_is_empty(eddy):
    result = explore(eddy, PROGRAM, "input", code=0, stdin=b"x")
    equal(list(outcomes(result)), ["    input: -1\n"])


@claim
def programs_that_the_program_starts_are_not_explored(eddy):
    equal(texts(eddy, PROGRAM, "preload", code=0), ["    preload: none\n"])
    own = os.path.join(eddy.folder, "none.so")
    result = explore(eddy, PROGRAM, "preload", code=0, env={"LD_PRELOAD": own})
    check(f"    preload: {own}\n" in result.out, result)


@claim
def limits_are_kept_and_named(eddy):
    result = explore(eddy, "--runs", "2", PROGRAM, "race", code=0)
    equal(result.out.splitlines()[-1], "1 outcome in 2 runs: more runs than 2 (--runs) would be needed")
    result = explore(eddy, "--deviations", "1", PROGRAM, "race", code=1)
    check("runs: all orders with at most 1 deviation; --deviations 2 tries more\n" in result.out, result)
    result = explore(eddy, "--runs", "1", "--seeds", "20", PROGRAM, "race", code=1)
    equal(len(outcomes(result)), 2)


@claim
def a_program_that_cannot_be_explored_is_refused_and_not_run(eddy):
    script = eddy.file("script", "#!/bin/sh\necho it has run\n")
    os.chmod(script, 0o755)
    plain = eddy.file("plain", "it has run")
    for program, words in ((script, "is a script"), (plain, "is not an executable file"),
                           (eddy.path, "not linked with libeddy.so"), ("/bin/echo", "not linked with libeddy.so"),
                           ("/none", "no such program"), ("no-such-program", "no such program"),
                           (eddy.folder, "no such program")):
        result = explore(eddy, program, code=3)
        equal(result.out, "")
        e2e.one_line(result, 3, words)


@claim
def a_broken_program_is_refused(eddy):
    # A program that no library makes longer: with the folder of the libraries it can be explored.
    with open(PROGRAM, "rb") as file:
        whole = file.read()
    path = os.path.join(eddy.folder, "broken")
    libraries = {"LD_LIBRARY_PATH": os.path.join(os.path.dirname(PROGRAM), "..", "..", "src")}
    for change in (None, slice(0, 3), slice(32, 40), slice(54, 58), slice(64, 4096)):
        for byte in (0, 0xff):
            broken = bytearray(whole)
            if change:
                broken[change] = bytes([byte]) * len(broken[change])
            # Not written here: children that are being started would still have it open.
            subprocess.run(["sh", "-c", 'cat >"$0" && chmod 755 "$0"', path], input=broken, check=True)
            result = explore(eddy, path, "race", code=3 if change else 1, env=libraries)
            equal(bool(result.out), not change, change)


@claim
def a_program_whose_libraries_are_not_found_gets_the_words_of_the_loader(eddy):
    path = shutil.copy(PROGRAM, os.path.join(eddy.folder, "moved"))
    e2e.one_line(explore(eddy, path, env={"LD_LIBRARY_PATH": "/none"}), 3, "libeddy.so.0.3: cannot open shared object file")


@claim
def a_privileged_program_is_refused(eddy):
    path = shutil.copy(PROGRAM, os.path.join(eddy.folder, "privileged"))
    try:
        os.chmod(path, 0o4755)
    except PermissionError as error:
        raise e2e.Skip(str(error)) from error
    e2e.one_line(explore(eddy, path), 3, "set-user-ID")


@claim
def files_that_are_open_have_the_same_offset_in_each_copy(eddy):
    path = eddy.file("words", ">" + 20000 * " " + "one" + 20000 * " " + "two" + 20000 * " " + "three")
    equal(texts(eddy, PROGRAM, "open", path), ["    read one\n    run 1: seats -1\n", "    read one\n    run 1: seats 0\n"])


@claim
def outcomes_are_printed_where_the_program_began_to_print(eddy):
    result = explore(eddy, PROGRAM, "reopen", code=1)
    equal(sorted(outcomes(result)), ["    run 1: seats -1\n", "    run 1: seats 0\n"])


@claim
def all_of_a_large_output_is_compared_and_its_ends_are_shown(eddy):
    found = texts(eddy, PROGRAM, "large")
    equal(len(found), 2, found)
    check(all(text.startswith("    line 0\n") and "more lines)\n" in text and "checksum" in text for text in found), found)


@claim
def the_summary_of_a_sanitizer_belongs_to_the_outcome(eddy):
    if "address" not in os.environ.get("EDDY_TEST_SANITIZE", ""):
        raise e2e.Skip("the program has no sanitizer")
    found = texts(eddy, PROGRAM, "memory")
    equal(len(found), 2, found)
    check("SUMMARY: AddressSanitizer: heap-buffer-overflow" in found[0], found)
    check("SUMMARY: AddressSanitizer: heap-use-after-free" in found[1], found)


@claim
def a_program_with_other_threads_gets_a_warning(eddy):
    result = explore(eddy, PROGRAM, "beside", code=1)
    check("copies of the process do not have them" in result.err, result)
    check("other threads" not in explore(eddy, PROGRAM, "race").err or "thread" in os.environ.get("EDDY_TEST_SANITIZE", ""))


@claim
def a_run_in_a_child_is_refused(eddy):
    result = explore(eddy, PROGRAM, "fork", code=3)
    check("in a child of fork()" in result.err and not result.out, result)


@claim
def a_program_in_this_folder_is_suggested(eddy):
    shutil.copy(PROGRAM, os.path.join(eddy.folder, "here"))
    result = eddy.run("explore", "here", cwd=eddy.folder)
    e2e.one_line(result, 3, "did you mean ./here?")


@claim
def a_program_is_found_in_the_path(eddy):
    path = os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]
    explore(eddy, os.path.basename(PROGRAM), "race", code=1, env={"PATH": path})


@claim
def a_program_without_a_run_is_named(eddy):
    result = explore(eddy, PROGRAM, "none", code=3)
    check("without a call of eddy_run()" in result.err, result)


@claim
def a_program_that_logs_to_standard_error_can_be_explored(eddy):
    equal(texts(eddy, PROGRAM, "log", code=0), [""])


@claim
def a_run_on_another_thread_is_refused(eddy):
    result = explore(eddy, PROGRAM, "thread", code=3)
    check("another thread than the main thread" in result.err, result)


@claim
def a_full_output_is_reported(eddy):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([eddy.path, "explore", PROGRAM, "race"], stdout=full,
                                stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    equal(result.returncode, 3, result)
    check("standard output" in result.stderr, result)


@claim
def a_wrong_command_line_gets_one_sentence(eddy):
    for args, words in (([], "name a program"), (["--deviations", "0", PROGRAM], "from 1 to 32"),
                        (["--timeout", "0s", PROGRAM], "duration above 0"),
                        (["--timeout", "25h", PROGRAM], "the maximum is one day"), (["--order", "1", PROGRAM], "unknown option")):
        result = explore(eddy, *args, code=2)
        check(words in result.err and result.out == "", result)


@claim
def a_wrong_replay_string_is_refused(eddy):
    result = explore(eddy, PROGRAM, "race", code=3, env={"EDDY_TEST_REPLAY": "sell"})
    check("is not a replay string" in result.err and not result.out, result)
    result = explore(eddy, PROGRAM, "race", code=3, env={"EDDY_TEST_REPLAY": "buy:order=0"})
    check("does not name the first run of the program, which is sell" in result.err and not result.out, result)


@claim
def a_signal_ends_the_exploration_with_the_outcomes_so_far(eddy):
    child, copy = explore_until_it_hangs(eddy)
    os.kill(child.pid, signal.SIGTERM)
    out, err = child.communicate(timeout=e2e.SOON)
    equal(child.returncode, 3)
    check(b"stopped by a signal; not all orders were tried" in err, err)
    check(b"outcome 1 of" in out and b"ended by signal" not in out, out)
    check(has_ended(copy))


@claim
def a_copy_does_not_outlive_an_exploration_that_is_killed(eddy):
    child, copy = explore_until_it_hangs(eddy)
    child.kill()
    child.communicate(timeout=e2e.SOON)
    e2e.wait_until(lambda: has_ended(copy), "the end of the copy")


@claim
def the_examples_of_a_race_and_of_its_lock_have_the_outcomes_that_they_say(eddy):
    examples = os.path.join(os.path.dirname(eddy.path), "..", "..", "examples")
    seats = [re.findall(r"Available seats: (-?\d+)", text)
             for text in texts(eddy, os.path.join(examples, "40-race"))]
    equal(seats, [["-2"], ["-2"]])
    seats = [re.findall(r"Available seats: (-?\d+)", text)
             for text in texts(eddy, os.path.join(examples, "41-lock"))]
    equal(seats, [["0"], ["0"]])
    found = texts(eddy, os.path.join(examples, "45-lock-cycle"), code=1)
    check("salary waits for a lock, held by rent" in found[0], found)


@claim
def the_readme_has_the_outcomes_of_the_example(eddy):
    here = os.path.dirname(os.path.abspath(__file__))
    example = os.path.join(os.path.dirname(eddy.path), "..", "..", "examples", "40-race")
    said = explore(eddy, example).out.replace(example, "./race")
    with open(os.path.join(here, "..", "..", "README.md"), encoding="utf-8") as readme:
        check(f"```\n{said}```\n" in readme.read(), said)


if __name__ == "__main__":
    e2e.main()
