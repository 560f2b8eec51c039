/*
 * process_spawn.c - posix_spawn() and waitpid() in a loop, one child after another, without timers.
 *
 *     process_spawn COUNT
 */
#include <spawn.h>
#include <sys/wait.h>

#include "../bench.h"

extern char **environ;

int main(int argc, char **argv)
{
        static char program[] = "/bin/true";
        char *arguments[] = { program, NULL };
        struct bench_span span;
        long count;

        if (argc != 2)
                bench_die("usage", "process_spawn COUNT");
        count = bench_count(argv[1], 1000000);
        bench_span_begin(&span);
        for (long i = 0; i < count; i++) {
                int status, err;
                pid_t pid;

                err = posix_spawn(&pid, program, NULL, NULL, arguments, environ);
                if (err != 0)
                        bench_die("posix_spawn", strerror(err));
                if (waitpid(pid, &status, 0) != pid || status != 0)
                        bench_die("waitpid", "the child failed");
        }
        bench_span_end(&span);
        bench_core_print("posix_spawn", "process", count, &span, NULL);
        return 0;
}
