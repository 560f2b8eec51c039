/*
 * without_uring.c - run a program as in a container that forbids io_uring:
 *
 *     EDDY_POLLER=uring tools/run-tests build-check --wrap build-check/tests/without_uring
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "refuse.h"

int main(int argc, char **argv)
{
        if (argc < 2) {
                fprintf(stderr, "usage: without_uring PROGRAM [ARGUMENT ...]\n");
                return 2;
        }
        if (!refuse(SYS_io_uring_setup, EPERM)) {
                fprintf(stderr, "without_uring: no filter of system calls can be installed here\n");
                return 77;
        }
        execvp(argv[1], argv + 1);
        fprintf(stderr, "without_uring: %s: %s\n", argv[1], strerror(errno));
        return 127;
}
