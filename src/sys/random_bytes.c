/*
 * sys/random_bytes.c - see random_bytes.h.
 */
#include "sys/random_bytes.h"

#include <errno.h>
#include <sys/random.h>

void ed_random_bytes(struct ed_sys *sys, void *buf, size_t bytes)
{
        char *at = buf;

        (void) sys;
        while (bytes > 0) {
                ssize_t n = getrandom(at, bytes, 0);

                if (n < 0) {
                        ed_assert(errno == EINTR, "the kernel gives no random bytes");
                        continue;
                }
                at += n;
                bytes -= (size_t) n;
        }
}
