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
# A line for each sample with computes(): its calls, the innermost first.  The first instructions of a call have no
# frame yet, so a few samples lack a caller.
calls=$(perf script -i "$data" -F ip,sym 2>/dev/null | awk -v RS= '
        { line = ""; for (i = 2; i <= NF; i += 2) { sub(/\.(isra|constprop)\.[0-9]+$/, "", $i); line = line $i " " } }
        / computes/ { print line }')
all=$(printf '%s\n' "$calls" | grep -c .)
whole=$(printf '%s\n' "$calls" | grep -c '^computes handles works task_main ed_co_entry_asm $')
if [ "$whole" -gt 0 ] && [ $((2 * whole)) -gt "$all" ]; then
        echo "ok 1 - $claim"
        exit 0
fi
echo "not ok 1 - $claim"
printf '%s of %s samples\n%s\n' "$whole" "$all" "$calls" | head -n 40 | sed 's/^/# /'
exit 1
