"""test_completion - the files for bash, zsh and fish have each command, option and word of the usage."""
import os
import re
import shutil
import subprocess

import e2e
from e2e import check, claim, equal

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "completion")
AGAIN = "run tools/completion build/eddy"
OPTION = r"(?<![\w-])--?[A-Za-z][a-z0-9-]*"


def content(shell):
    with open(os.path.join(FOLDER, "eddy." + shell), encoding="utf-8") as file:
        return file.read()


def commands_of(eddy):
    return re.findall(r"^  ([a-z]+) {2,}", eddy.run("--help").out, re.M)


def options_of(eddy, command):
    """Options at the beginning of a line of the usage, before its description."""
    page = eddy.run(command, "--help").out
    if "[options of eddy batch]" in page:
        page += eddy.run("batch", "--help").out
    lines = re.findall(r"^ {2,4}(-.*)", page, re.M)
    found = {name for line in lines for name in re.findall(OPTION, re.split(r" {2,}", line)[0])}
    check({"--help", "--version"} <= found, command, found)
    return found


def part_of(text, shell, command):
    """The part of a file that is for a command."""
    if shell == "bash":
        match = re.search(rf'^ +{command}\) words="([^"]*)"', text, re.M)
    elif shell == "zsh":
        match = re.search(rf"^        {command}\)\n(.*?)^                ;;", text, re.M | re.S)
    else:
        lines = re.findall(rf"__fish_seen_subcommand_from {command}' (-.*)", text)
        return " ".join(re.sub(r"-l (\S+)", r"--\1", re.sub(r"-s (\S)(?= )", r"-\1", line)).split(" -d ")[0]
                        for line in lines)
    check(match, f"eddy.{shell} has no {command}; {AGAIN}")
    return re.sub(r"\[.*?\](?=[:'])", " ", match.group(1))


def completed(*words):
    """What bash offers for the last word."""
    script = f'source "{FOLDER}/eddy.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _eddy; ' \
        'printf "%s\\n" "${COMPREPLY[@]}"'
    result = subprocess.run(["bash", "-c", script, "bash", *words], check=True, capture_output=True,
                            text=True, timeout=60)
    equal(result.stderr, "")
    return result.stdout.split()


@claim
def each_option_of_each_command_is_in_the_files(eddy):
    commands = commands_of(eddy)
    check({"batch", "fetch", "mock", "help"} <= set(commands), commands)
    for command in set(commands) - {"help"}:
        options = options_of(eddy, command)
        for shell in ("bash", "zsh", "fish"):
            has = set(re.findall(OPTION, part_of(content(shell), shell, command)))
            # Options of the shells' own commands.
            has -= {"bash": set(), "zsh": {"-S"}, "fish": {"-r", "-x", "-F", "-a"}}[shell] - options
            equal(sorted(has), sorted(options), f"eddy.{shell}, {command}: {AGAIN}")


@claim
def each_command_is_offered(eddy):
    commands = commands_of(eddy)
    equal(completed("eddy", ""), commands + ["--help", "--version"], AGAIN)
    equal(completed("eddy", "help", ""), commands)
    for command in commands:
        check(f"'{command}:" in content("zsh"), f"zsh: {command}: {AGAIN}")
        check(f"-a {command} -d" in content("fish"), f"fish: {command}: {AGAIN}")


@claim
def bash_completes_options_and_their_words(_):
    equal(completed("eddy", "ba"), ["batch"])
    equal(completed("eddy", "batch", "--base"), ["--base-url"])
    equal(completed("eddy", "batch", "in.jsonl", "--summary", ""), ["text", "json"])
    equal(completed("eddy", "batch", "--summary", "=", "j"), ["json"])
    equal(completed("eddy", "batch", "--rpm", ""), [])
    equal(completed("eddy", "batch", "-o", ""), [])
    equal(completed("eddy", "nothing", "--"), [])


@claim
def shells_can_read_their_files(_):
    for shell in ("bash", "zsh", "fish"):
        if shutil.which(shell):
            path = os.path.join(FOLDER, "eddy." + shell)
            subprocess.run([shell, "-n", path], check=True, timeout=60, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    e2e.main()
