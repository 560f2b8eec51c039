/*
 * common/random.c - a counter with a mixing function, seeded once.
 */
#include "common/random.h"

#include <sys/random.h>
#include <unistd.h>

#include "eddy/time.h"

void ed_random_init(struct ed_random *random)
{
        if (getrandom(&random->state, sizeof(random->state), 0) == sizeof(random->state))
                return;
        /* Without entropy, a seed that differs between processes is enough for jitter. */
        random->state = (uint64_t) eddy_time_of_day() ^ ((uint64_t) getpid() << 40);
}

/* splitmix64: steps of an odd constant, each mixed separately. */
uint64_t ed_random_next(struct ed_random *random)
{
        uint64_t z = random->state += 0x9e3779b97f4a7c15;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
}

double ed_random_fraction(struct ed_random *random)
{
        return (double) (ed_random_next(random) >> 11) * 0x1p-53;
}
