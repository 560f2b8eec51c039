/*
 * common/random.h - random numbers for jitter and for the mock's behaviour; not for secrets.
 */
#ifndef ED_CMD_COMMON_RANDOM_H
#define ED_CMD_COMMON_RANDOM_H

#include <stdint.h>

struct ed_random {
        uint64_t state;
};

/* Seed the numbers from the system. */
void ed_random_init(struct ed_random *random);

uint64_t ed_random_next(struct ed_random *random);

/* Returns a number from 0 to below 1. */
double ed_random_fraction(struct ed_random *random);

#endif
