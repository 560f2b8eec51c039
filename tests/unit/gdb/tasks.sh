#!/bin/sh
# gdb sees all tasks, and the calls of those that do not run.
# usage: tasks.sh PROGRAM SCRIPT
program=$1
script=$2
claims="the tasks of a process are listed
the calls of a parked task are shown
tasks that run and that have not run are told
no register is changed
options are passed on
what is asked wrongly is refused
several runs are told apart
a core file shows the same"
number=0
bad=0

result() { # result OK-OR-NOT CLAIM OUTPUT
        number=$((number + 1))
        [ "$1" = ok ] || bad=1
        echo "$1 $number - $2"
        [ "$1" = ok ] || printf '%s\n' "$3" | sed 's/^/# /'
}

skip_rest() {
        printf '%s\n' "$claims" | tail -n +$((number + 1)) | while read -r claim; do
                number=$((number + 1))
                echo "ok $number - $claim # SKIP $1"
        done
        exit $bad
}

has() { # has PATTERN...: whether each is in $out
        for pattern; do
                printf '%s\n' "$out" | grep -qE "$pattern" || return 1
        done
}

claim() { # claim CLAIM PATTERN...
        name=$1
        shift
        if has "$@"; then result ok "$name"; else result "not ok" "$name" "$out"; fi
}

look() { # look 'GDB OPTIONS' PROGRAM [ARGUMENT]: stopped in stop_here(), with 'commands' after that
        out=$(timeout 50 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set style enabled off' \
                -ex 'break stop_here' -ex run -ex "source $script" -x "$commands" --args "$@" 2>&1)
}

echo 1..8
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
echo options\n
eddy bt 3 -3
kill
EOF
look "$program"
if has "ptrace: Operation not permitted|Cannot (create|insert|trace)"; then
        skip_rest "gdb cannot run it here"
fi
claim "the tasks of a process are listed" '^run 1 \(epoll, debug mode\):$' '^ +2  main runs$' \
        '^ +3  sleeps waits for time to pass; parked [0-9]+ ms$' \
        '^ +4  rent waits for a lock; parked [0-9]+ ms$' '^ +5  never_ran is ready$'
whole=$out
out=$(printf '%s\n' "$whole" | sed -n '/^task 3:/,/^task 4:/p')
claim "the calls of a parked task are shown" '^#0 +(0x[0-9a-f]+ in )?ed_' \
        '^#[0-9]+ .* in innermost \(depth=42\) at .*tasks\.c:[0-9]+$' '^#[0-9]+ .* in middle \(' \
        '^#[0-9]+ .* in ed_co_entry_asm \('
out=$whole
claim "tasks that run and that have not run are told" '^#0 +stop_here \(\)' '^#1 .* in stops \(' \
        '^it has not run yet; it begins in never_ran$'
before=$(printf '%s\n' "$whole" | grep '^at ' | head -n 1)
after=$(printf '%s\n' "$whole" | grep '^at ' | tail -n 1)
if [ "$before" ] && [ "$before" = "$after" ] && ! has 'corrupt|inner to this frame'; then
        result ok "no register is changed"
else
        result "not ok" "no register is changed" "$whole"
fi
out=$(printf '%s\n' "$whole" | sed -n '/^options/,$p')
if has '^#[0-9]+ .* ed_co_entry_asm \(' && ! has ' innermost '; then
        result ok "options are passed on"
else
        result "not ok" "options are passed on" "$out"
fi

printf 'eddy bt 77\nkill\n' >"$commands"
look "$program"
first=$out
printf 'eddy bt\nkill\n' >"$commands"
look "$program"
out="$first
$out"
claim "what is asked wrongly is refused" 'eddy bt: there is no task 77' "eddy bt: a task's number"

printf 'eddy tasks\neddy bt 1.2\neddy bt 2.3\nkill\n' >"$commands"
look "$program" two
claim "several runs are told apart" '^run 2 \(epoll, debug mode\):$' '^ +1\.2  main waits for time' \
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
out=$(timeout 50 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set style enabled off' \
        -ex "source $script" -ex 'eddy tasks' -ex 'eddy bt 1.2' -ex 'eddy bt 2.2' -ex 'eddy bt 2.3' \
        "$program" "$1" 2>&1)
claim "a core file shows the same" '^ +1\.2  main waits for time to pass; parked at least [0-9]+ ms$' \
        '^ +2\.5  never_ran is ready$' ' in innermost \(depth=8\) ' ' in innermost \(depth=42\) ' \
        '^#[0-9]+ .* in ed_co_entry_asm \(' '^#0 +stop_here \(\)'
exit $bad
