#!/bin/sh
# perf walks the stacks of tasks by their frame pointers.
# usage: perf.sh PROGRAM
claims="
samples_have_the_calls_of_their_task
"
claim=samples_have_the_calls_of_their_task

skip() {
        echo "ok 1 - $claim # SKIP $1"
        exit 0
}

echo 1..1
[ "$EDDY_TEST_QEMU$MESON_EXE_WRAPPER" ] && skip "the program is for another processor"
command -v perf >/dev/null 2>&1 || skip "no perf"
data=$(mktemp) || exit 1
trap 'rm -f "$data" "$data.old"' EXIT
ASAN_OPTIONS=detect_leaks=0 timeout 200 perf record -q -e cpu-clock -F 2000 --call-graph fp -o "$data" \
        "$1" >/dev/null 2>&1 || skip "perf cannot record here"
out=$(perf report -i "$data" --stdio -G --no-children --percent-limit 5 2>/dev/null)
# Outermost first, as a caller graph has them; nothing lies outside of the entry.
calls=$(printf '%s\n' "$out" | sed 's/\.\(isra\|constprop\)\.[0-9]*$//' | grep -oE '(ed_co_entry_asm|task_main|works|handles|computes)$' |
        tail -n 5 | tr '\n' ' ')
if [ "$calls" = "ed_co_entry_asm task_main works handles computes " ]; then
        echo "ok 1 - $claim"
        exit 0
fi
echo "not ok 1 - $claim"
printf '%s\n' "$out" | sed 's/^/# /'
exit 1
