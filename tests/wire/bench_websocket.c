/*
 * bench_websocket.c - masks and the check of UTF-8 beside memcpy(), in gigabytes a second of processor time:
 * the best of nine rounds over a mebibyte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire/utf8_check.h"
#include "wire/websocket.h"

enum { ROUNDS = 9, TIMES = 500, BYTES = 1 << 20 };

static unsigned char *from, *to;

static void copy(void)
{
        memcpy(to, from, BYTES);
}

static void mask_in_place(void)
{
        static const unsigned char mask[] = { 1, 2, 3, 4 };

        ed_websocket_mask(from, from, BYTES, mask, 0);
}

static void check_ascii(void)
{
        if (ed_utf8_check(to, BYTES) != BYTES)
                abort();
}

static double seconds(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void measure(const char *name, void (*fn)(void))
{
        double best = 1e9;

        for (int round = 0; round < ROUNDS; round++) {
                double before = seconds(), took;

                for (int i = 0; i < TIMES; i++) {
                        fn();
                        __asm__ volatile("" : : "r"(from), "r"(to) : "memory");
                }
                took = seconds() - before;
                best = took < best ? took : best;
        }
        printf("%-16s %6.1f GB/s\n", name, (double) TIMES * BYTES / best / 1e9);
}

int main(void)
{
        from = malloc(BYTES);
        to = malloc(BYTES);
        if (!from || !to)
                return 1;
        memset(from, 'a', BYTES);
        measure("memcpy", copy);
        measure("check of ASCII", check_ascii);
        measure("mask in place", mask_in_place);
        free(from);
        free(to);
        return 0;
}
