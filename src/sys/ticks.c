/*
 * sys/ticks.c - whether the processors' counters are what the kernel's clock is
 * made of.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/def.h"
#include "sys/sys.h"

/* The counters as such: the other clocks correct them for each processor, or have none. */
static const char *const even[] = { "tsc\n", "arch_sys_counter\n" };

static bool ask_kernel(void)
{
        char name[32] = "";
        ssize_t n;
        int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return false;
        n = read(fd, name, sizeof(name) - 1);
        close(fd);
        for (size_t i = 0; n > 0 && i < ed_array_count(even); i++)
                if (strcmp(name, even[i]) == 0)
                        return true;
        return false;
}

bool ed_sys_ticks_are_even(void)
{
        enum { UNKNOWN, NO, YES };
        static _Atomic int known;
        int answer = atomic_load_explicit(&known, memory_order_relaxed);

        if (answer == UNKNOWN) {
                answer = ask_kernel() ? YES : NO;
                atomic_store_explicit(&known, answer, memory_order_relaxed);
        }
        return answer == YES;
}
