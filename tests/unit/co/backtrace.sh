#!/bin/sh
# A debugger sees the calls of a task and a clean end at its entry frame.
# usage: backtrace.sh PROGRAM
echo 1..1
if [ "$EDDY_TEST_QEMU$MESON_EXE_WRAPPER" ]; then
        echo "ok 1 - a backtrace of a task ends at its entry # SKIP the program is for another processor"
        exit 0
fi
if ! command -v gdb >/dev/null 2>&1; then
        echo "ok 1 - a backtrace of a task ends at its entry # SKIP no gdb"
        exit 0
fi
out=$(ASAN_OPTIONS=detect_leaks=0 timeout 200 gdb -nx -batch -ex 'set debuginfod enabled off' \
        -ex 'break innermost' -ex run -ex bt -ex kill "$1" 2>&1)
if printf '%s\n' "$out" | grep -qiE "ptrace: (Operation not permitted|Permission denied|Function not implemented)|Cannot (create|insert|trace)"; then
        echo "ok 1 - a backtrace of a task ends at its entry # SKIP gdb cannot run it here"
        exit 0
fi
frames=$(printf '%s\n' "$out" | grep '^#')
last=$(printf '%s\n' "$frames" | tail -n 1)
bad=
printf '%s\n' "$frames" | grep -q '^#0 .*innermost' || bad="no innermost frame"
printf '%s\n' "$frames" | grep -q '^#1 .*middle' || bad="no middle frame"
printf '%s\n' "$frames" | grep -q ' body ' || bad="no body frame"
case $last in
*ed_co_entry_asm*) ;;
*) bad="the last frame is: $last" ;;
esac
printf '%s\n' "$out" | grep -qiE "corrupt|previous frame|Cannot access" && bad="gdb complains"
if [ -z "$bad" ]; then
        echo "ok 1 - a backtrace of a task ends at its entry"
        exit 0
fi
echo "not ok 1 - a backtrace of a task ends at its entry"
printf '%s\n' "$bad" "$out" | sed 's/^/# /'
exit 1
