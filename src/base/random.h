/*
 * base/random.h - pseudo-random numbers from a seed, equal on every machine; not for secrets.
 * Unpredictable random bytes come from the table (sys/sys.h).
 */
#ifndef ED_BASE_RANDOM_H
#define ED_BASE_RANDOM_H

#include <stdint.h>

/* splitmix64: every state is a good seed, and similar seeds give unrelated numbers. */
static inline uint64_t ed_splitmix_next(uint64_t *state)
{
        uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        return z ^ z >> 31;
}

/* xoshiro256**: for long sequences. */
struct ed_xoshiro {
        uint64_t word[4];
};

static inline void ed_xoshiro_init(struct ed_xoshiro *random, uint64_t seed)
{
        for (int i = 0; i < 4; i++)
                random->word[i] = ed_splitmix_next(&seed);
}

static inline uint64_t ed_rotate_left(uint64_t word, int by)
{
        return word << by | word >> (64 - by);
}

static inline uint64_t ed_xoshiro_next(struct ed_xoshiro *random)
{
        uint64_t *word = random->word;
        uint64_t result = ed_rotate_left(word[1] * 5, 7) * 9, t = word[1] << 17;

        word[2] ^= word[0];
        word[3] ^= word[1];
        word[1] ^= word[2];
        word[0] ^= word[3];
        word[2] ^= t;
        word[3] = ed_rotate_left(word[3], 45);
        return result;
}

#endif
