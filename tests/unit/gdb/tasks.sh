#!/bin/sh
# gdb sees all tasks, and the calls of those that do not run.
# usage: tasks.sh PROGRAM SCRIPT
program=$1
script=$2
claims="
the_tasks_of_a_process_are_listed
the_calls_of_a_parked_task_are_shown
a_function_that_was_left_for_its_last_call_is_named
tasks_that_run_and_that_have_not_run_are_reported
no_register_is_changed
what_is_selected_stays_selected
options_are_passed_on
what_is_asked_wrongly_is_refused
several_runs_are_kept_apart
a_core_file_shows_the_same
"
number=0
bad=0

result() { # result OK-OR-NOT CLAIM OUTPUT
        number=$((number + 1))
        [ "$1" = ok ] || bad=1
        echo "$1 $number - $2"
        [ "$1" = ok ] || printf '%s\n' "$3" | sed 's/^/# /'
}

skip_rest() {
        printf '%s' "$claims" | tail -n +$((number + 2)) | while read -r claim; do
                number=$((number + 1))
                echo "ok $number - $claim # SKIP $1"
        done
        exit $bad
}

has() { # has PATTERN...: whether each is in $out; after a '=', word for word
        for pattern; do
                case $pattern in
                =*) printf '%s\n' "$out" | grep -qF -- "${pattern#=}" || return 1 ;;
                *) printf '%s\n' "$out" | grep -qE -- "$pattern" || return 1 ;;
                esac
        done
}

claim() { # claim CLAIM PATTERN...
        name=$1
        shift
        if has "$@"; then result ok "$name"; else result "not ok" "$name" "$out"; fi
}

look() { # look 'GDB OPTIONS' PROGRAM [ARGUMENT]: stopped in stop_here(), with 'commands' after that
        out=$(timeout 200 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set style enabled off' -ex 'set print entry-values no' \
                -ex 'break stop_here' -ex run -ex "source $script" -x "$commands" --args "$@" 2>&1)
}

echo 1..10
[ "$EDDY_TEST_QEMU$MESON_EXE_WRAPPER" ] && skip_rest "the program is for another processor"
command -v gdb >/dev/null 2>&1 || skip_rest "no gdb"
gdb -nx -batch -ex 'python import gdb.unwinder' 2>&1 | grep -q . && skip_rest "gdb has no Python"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
commands=$folder/commands
export ASAN_OPTIONS=detect_leaks=0:disable_coredump=0 EDDY_DEBUG=1

cat >"$commands" <<'EOF'
printf "at %lx %lx\n", $pc, $sp
eddy tasks
eddy bt all
printf "at %lx %lx\n", $pc, $sp
up
eddy bt all
echo selected\n
frame
echo options\n
eddy bt 3 -3
kill
EOF
look "$program"
if has "ptrace: (Operation not permitted|Permission denied|Function not implemented)|Cannot (create|insert|trace)"; then
        skip_rest "gdb cannot run it here"
fi
claim the_tasks_of_a_process_are_listed '=run 1 (epoll, debug mode):' '=2  main runs' \
        '=3  sleeps waits for time to pass; parked ' '=4  rent waits for a lock, held by main (task 2); parked ' \
        '=6  takes_and_waits_in_vain waits for a lock, left locked by a task that has ended; parked ' \
        '; parked [0-9]+ ms$' '=8  never_ran is ready' '=9  a name that is cut where it is '
whole=$out
out=$(printf '%s\n' "$whole" | sed -n '/^task 3:/,/^task 4:/p;/^task 4:/q')
claim the_calls_of_a_parked_task_are_shown '=task 3: sleeps waits for time to pass; parked ' \
        '^#0 +(0x[0-9a-f]+ in )?ed_' '=in eddy_sleep (duration_ns=' '=in innermost (depth=42) at ' \
        '^#[0-9]+ .* in middle \(' '^#[0-9]+ .* in ed_co_entry_asm \('
third=$out
out=$(printf '%s\n' "$whole" | sed -n '/^task 7:/,/^task 8:/p;/^task 8:/q')
# The compiler need not do it, and the sanitizers keep some from it.
if has ' in dozes '; then
        result ok "a_function_that_was_left_for_its_last_call_is_named # SKIP it was not left"
elif has '=task 7: dozes ' '=dozes, in which it began, is not among them: it was left for its last call' &&
        ! printf '%s\n' "$third" | grep 'not among them'; then
        result ok a_function_that_was_left_for_its_last_call_is_named
else
        result "not ok" a_function_that_was_left_for_its_last_call_is_named "$out"
fi
out=$whole
claim tasks_that_run_and_that_have_not_run_are_reported '^#0 +stop_here \(\)' '^#1 .* in stops \(' \
        '=it has not run yet; it begins in never_ran'
before=$(printf '%s\n' "$whole" | grep '^at ' | head -n 1)
after=$(printf '%s\n' "$whole" | grep '^at ' | tail -n 1)
if [ "$before" ] && [ "$before" = "$after" ] && ! has 'corrupt|inner to this frame'; then
        result ok no_register_is_changed
else
        result "not ok" no_register_is_changed "$whole"
fi
out=$(printf '%s\n' "$whole" | sed -n '/^selected/,/^options/p')
claim what_is_selected_stays_selected '^#1 .* in stops \('
out=$(printf '%s\n' "$whole" | sed -n '/^options/,$p')
if has '^#[0-9]+ .* ed_co_entry_asm \(' && ! has ' innermost '; then
        result ok options_are_passed_on
else
        result "not ok" options_are_passed_on "$out"
fi

printf 'eddy bt 77\nkill\n' >"$commands"
look "$program"
first=$out
printf 'eddy bt\nkill\n' >"$commands"
look "$program"
first="$first
$out"
printf 'eddy bt 3 -wrong\nkill\n' >"$commands"
look "$program"
out="$first
$out"
claim what_is_asked_wrongly_is_refused 'eddy bt: there is no task 77' "eddy bt: a task's number" \
        'eddy bt: .*wrong'

printf 'eddy tasks\neddy bt 1.2\neddy bt 2.3\nkill\n' >"$commands"
look "$program" two
claim several_runs_are_kept_apart '^run 2 \(epoll, debug mode\):$' '^ +1\.2  main waits for time' \
        '^ +2\.2  main runs$' ' in innermost \(depth=8\) ' ' in innermost \(depth=42\) '

case $(cat /proc/sys/kernel/core_pattern 2>/dev/null) in
'' | */* | '|'*) skip_rest "core files go elsewhere here" ;;
esac
ulimit -c unlimited 2>/dev/null || skip_rest "no core files are allowed here"
echo 'signal SIGABRT' >"$commands"
program=$(realpath "$program")
script=$(realpath "$script")
cd "$folder" || exit 1
look "$program" two
set -- core*
[ -f "$1" ] || skip_rest "no core file was written"
out=$(timeout 200 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set style enabled off' -ex 'set print entry-values no' \
        -ex "source $script" -ex 'eddy tasks' -ex 'eddy bt 1.2' -ex 'eddy bt 2.2' -ex 'eddy bt 2.3' \
        "$program" "$1" 2>&1)
claim a_core_file_shows_the_same '=1.2  main waits for time to pass; parked at least ' \
        '^ +2\.8  never_ran is ready$' \
        '=2.4  rent waits for a lock, held by main (task 2.2); parked ' ' in innermost \(depth=8\) ' ' in innermost \(depth=42\) ' \
        '^#[0-9]+ .* in ed_co_entry_asm \(' '^#0 +stop_here \(\)'
exit $bad
