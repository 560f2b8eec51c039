/*
 * linear.h - whether the time that a parser takes grows with the bytes, not with their square.
 */
#ifndef ED_WIRE_LINEAR_H
#define ED_WIRE_LINEAR_H

#include <stdint.h>
#include <time.h>

#include "test.h"

static inline int64_t cpu_ns(void)
{
        struct timespec now;

        CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
        return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Four times the bytes may take up to nine times as long; squares would take
 * sixteen.  The best of five, since other work only adds; of many where there
 * is much other work.
 */
static inline void check_linear(void (*fn)(char *data, size_t n), char *data, size_t n)
{
        int64_t best[2] = { INT64_MAX, INT64_MAX };

        for (int i = 0; i < 5 || (i < 50 && best[1] > best[0] * 9); i++) {
                for (int j = 0; j < 2; j++) {
                        int64_t start = cpu_ns();

                        fn(data, j == 0 ? n : 4 * n);
                        start = cpu_ns() - start;
                        if (start < best[j])
                                best[j] = start;
                }
        }
        if (best[1] > best[0] * 9)
                test_fail(__FILE__, __LINE__, "%lld ns for a part, %lld ns for four times as much",
                          (long long) best[0], (long long) best[1]);
}

#endif
