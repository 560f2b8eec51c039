/*
 * undefined.c - a sum of lengths that a peer has chosen exceeds its type.  A sum of 64 bits does not.
 *
 * Environment: ASAN_OPTIONS=handle_sigill=1
 * Ends: failed
 * Says: .*AddressSanitizer: ILL .*
 * Says: .* in sum_of_lengths .*undefined.c.*
 */
#include "planted.h"

#if FAULT
typedef int length_sum;
#else
typedef int64_t length_sum;
#endif

length_sum sum_of_lengths(const int *lengths, int count);
length_sum sum_of_lengths(const int *lengths, int count)
{
        length_sum sum = 0;

        for (int i = 0; i < count; i++)
                sum += lengths[i];
        return sum;
}

int main(void)
{
        volatile int length = INT32_MAX;
        const int lengths[2] = { length, length };

        return sum_of_lengths(lengths, 2) != 0 ? 0 : 1;
}
