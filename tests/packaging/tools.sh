#!/bin/sh
# tools.sh - programs of users with what was installed: linked into one file,
# under Valgrind, and with AddressSanitizer.
# usage: tools.sh BUILD [SANITIZED_BUILD]
#
# SANITIZED_BUILD is one with -Db_sanitize=address or address,undefined.
claims="
a_program_is_linked_statically_by_pkg_config
a_program_has_no_error_under_valgrind
a_mistake_in_a_task_is_an_error_under_valgrind
a_program_with_address_sanitizer_runs
a_mistake_in_a_task_is_found_by_address_sanitizer
"
set -u

build=${1:?usage: tests/packaging/tools.sh BUILD [SANITIZED_BUILD]}
sanitized=${2-}
here=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
number=0
failed=0

# result CLAIM FILE: whether the last command held; FILE is shown if not.
result() {
        status=$?
        number=$((number + 1))
        [ $status -eq 0 ] && echo "ok $number - $1" && return
        echo "not ok $number - $1"
        sed 's/^/# /' "$2"
        failed=1
}

skip() {
        number=$((number + 1))
        echo "ok $number - $1 # SKIP $2"
}

# installed BUILD NAME: installs it below $folder/NAME, and lets pkg-config find it there.
installed() {
        DESTDIR=$folder/$2 meson install -C "$1" --no-rebuild --quiet >"$folder/log" 2>&1 || {
                cat "$folder/log" >&2
                exit 1
        }
        PKG_CONFIG_PATH=$(dirname "$(find "$folder/$2" -name eddy.pc)")
        PKG_CONFIG_SYSROOT_DIR=$folder/$2
        LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
        export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
}

cat >"$folder/mistake.c" <<'END'
/* Reads memory that it has not written, or writes where it has none. */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

static int makes_a_mistake(void *arg)
{
        int *numbers = malloc(4 * sizeof(*numbers)), local[4];
        int err = eddy_sleep(1), n = *(int *) arg;

        for (int i = 0; i < n; i++)
                local[i] = i;
        if (numbers[local[3]])
                puts("that is chance");
        free(numbers);
        return err;
}

static int starts_it(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, makes_a_mistake, arg);
        return eddy_scope_end(&scope);
}

int main(int argc, char **argv)
{
        int n = 3 + argc;

        (void) argv;
        return eddy_run(starts_it, &n, NULL) == 0 ? 0 : 1;
}
END

under_valgrind() {
        for name in 01-hello 04-gather 24-to-thread 34-fibonacci; do
                gcc -g "$here/examples/$name.c" -o "$folder/$name" $(pkg-config --cflags --libs eddy) &&
                        valgrind --quiet --error-exitcode=99 --leak-check=full \
                                --errors-for-leak-kinds=definite "$folder/$name" || return 1
        done
}

echo 1..5
installed "$build" plain
gcc "$here/examples/01-hello.c" -o "$folder/static" -static $(pkg-config --static --cflags --libs eddy) \
        >"$folder/log" 2>&1 && env -u LD_LIBRARY_PATH "$folder/static" >>"$folder/log" 2>&1
result a_program_is_linked_statically_by_pkg_config "$folder/log"

if ! command -v valgrind >/dev/null; then
        skip a_program_has_no_error_under_valgrind "no valgrind"
        skip a_mistake_in_a_task_is_an_error_under_valgrind "no valgrind"
else
        under_valgrind >"$folder/log" 2>&1
        result a_program_has_no_error_under_valgrind "$folder/log"

        gcc -g "$folder/mistake.c" -o "$folder/mistake" $(pkg-config --cflags --libs eddy) &&
                valgrind --quiet --error-exitcode=99 "$folder/mistake" >"$folder/log" 2>&1
        [ $? -eq 99 ] && grep -q 'by .*: makes_a_mistake\|at .*: makes_a_mistake' "$folder/log"
        result a_mistake_in_a_task_is_an_error_under_valgrind "$folder/log"
fi

if [ ! -d "$sanitized" ]; then
        skip a_program_with_address_sanitizer_runs "no build with it was given"
        skip a_mistake_in_a_task_is_found_by_address_sanitizer "no build with it was given"
else
        installed "$sanitized" sanitized
        gcc -g -fsanitize=address "$here/examples/01-hello.c" -o "$folder/hello" \
                $(pkg-config --cflags --libs eddy) >"$folder/log" 2>&1 &&
                "$folder/hello" >>"$folder/log" 2>&1 && ! grep -q Sanitizer "$folder/log"
        result a_program_with_address_sanitizer_runs "$folder/log"

        gcc -g -fsanitize=address "$folder/mistake.c" -o "$folder/mistake" \
                $(pkg-config --cflags --libs eddy) >"$folder/log" 2>&1 &&
                ! "$folder/mistake" 1 >>"$folder/log" 2>&1 &&
                grep -q 'stack-buffer-overflow' "$folder/log" &&
                grep -q 'in makes_a_mistake' "$folder/log"
        result a_mistake_in_a_task_is_found_by_address_sanitizer "$folder/log"
fi
exit $failed
