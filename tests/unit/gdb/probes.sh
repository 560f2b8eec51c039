#!/bin/sh
# The probes are in the program, where they say, with their arguments.
# usage: probes.sh PROGRAM HAS-PROBES
program=$1
claims="
start_switch_and_end_are_in_the_notes_of_the_program
a_probe_stops_where_its_task_is_with_its_arguments
"
number=0
bad=0

skip_rest() {
        printf '%s' "$claims" | tail -n +$((number + 2)) | while read -r claim; do
                number=$((number + 1))
                echo "ok $number - $claim # SKIP $1"
        done
        exit $bad
}

claim() { # claim CLAIM PATTERN...: whether each is in $out
        number=$((number + 1))
        name=$1
        shift
        for pattern; do
                printf '%s\n' "$out" | grep -qE "$pattern" && continue
                bad=1
                echo "not ok $number - $name"
                printf '%s\n' "no $pattern in:" "$out" | sed 's/^/# /'
                return
        done
        echo "ok $number - $name"
}

echo 1..2
[ "$2" = true ] || skip_rest "built without sys/sdt.h"
command -v readelf >/dev/null 2>&1 || skip_rest "no readelf"
# One line for each: the name, and how many arguments there are.
out=$(readelf -n "$program" | awk '/Provider:/ { provider = $2 } /Name:/ { name = $2 }
        /Arguments:/ { print provider ":" name, NF - 1 }')
claim start_switch_and_end_are_in_the_notes_of_the_program '^eddy:start 3$' '^eddy:switch 1$' \
        '^eddy:end 4$'

[ "$EDDY_TEST_QEMU$MESON_EXE_WRAPPER" ] && skip_rest "the program is for another processor"
command -v gdb >/dev/null 2>&1 || skip_rest "no gdb"
# The first task of a run is its supervisor.
out=$(ASAN_OPTIONS=detect_leaks=0 timeout 200 gdb -nx -batch -ex 'set debuginfod enabled off' \
        -ex 'break -probe-stap eddy:start' -ex 'condition $bpnum $_probe_arg2 == stops' -ex run \
        -ex 'printf "started %d\n", (int) $_probe_arg1' -ex 'info symbol $_probe_arg2' \
        -ex 'set $second = (long) $_probe_arg0' -ex 'delete' \
        -ex 'break -probe-stap eddy:switch' -ex 'condition $bpnum (long) $_probe_arg0 == $second' -ex continue \
        -ex 'printf "switched %d\n", (long) $_probe_arg0 == $second' -ex 'delete' \
        -ex 'break -probe-stap eddy:end' -ex continue \
        -ex 'printf "ended %d with %d\n", (int) $_probe_arg1, (int) $_probe_arg3' -ex kill "$program" 2>&1)
if printf '%s\n' "$out" | grep -qE "ptrace: (Operation not permitted|Permission denied|Function not implemented)|Cannot (create|insert|trace)"; then
        skip_rest "gdb cannot run it here"
fi
claim a_probe_stops_where_its_task_is_with_its_arguments '^started 2$' '^stops in section' \
        '^switched 1$' '^ended 5 with 0$'
exit $bad
