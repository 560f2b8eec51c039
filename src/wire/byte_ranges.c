/*
 * wire/byte_ranges.c - see byte_ranges.h.
 */
#include "wire/byte_ranges.h"

#include <stdbool.h>
#include <strings.h>

/* Read a number at '*at'; a larger one than INT64_MAX is INT64_MAX. Returns false without a digit. */
static bool number_read(const char **at, int64_t *ret_number)
{
        const char *begin = *at;
        int64_t number = 0;

        for (; **at >= '0' && **at <= '9'; (*at)++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, **at - '0', &number))
                        number = INT64_MAX;
        *ret_number = number;
        return *at > begin;
}

/* Read "5-9", "5-" or "-5". Stores an empty range if the content does not have it. */
static bool range_read(const char **at, int64_t bytes, struct ed_byte_range *ret_range)
{
        bool has_first = number_read(at, &ret_range->first), has_last;

        if (*(*at)++ != '-')
                return false;
        has_last = number_read(at, &ret_range->last);
        if (!has_first) {
                /* No Content-Range can describe the last bytes of an empty content. */
                if (bytes == 0 && ret_range->last > 0)
                        return false;
                ret_range->first = ret_range->last < bytes ? bytes - ret_range->last : 0;
                ret_range->last = bytes - 1;
                return has_last;
        }
        if (has_last && ret_range->last < ret_range->first)
                return false;
        if (!has_last || ret_range->last >= bytes)
                ret_range->last = bytes - 1;
        return true;
}

static void skip(const char **at, bool commas)
{
        while (**at == ' ' || **at == '\t' || (commas && **at == ','))
                (*at)++;
}

int ed_byte_ranges_read(const char *value, int64_t bytes,
                        struct ed_byte_range out[ED_BYTE_RANGES_MAX])
{
        int64_t left = bytes;
        int asked = 0, count = 0;

        if (strncasecmp(value, "bytes=", 6) != 0)
                return 0;
        value += 6;
        for (skip(&value, true); *value; skip(&value, true)) {
                struct ed_byte_range range;

                if (++asked > ED_BYTE_RANGES_MAX || !range_read(&value, bytes, &range))
                        return 0;
                skip(&value, false);
                if (*value && *value != ',')
                        return 0;
                if (range.first > range.last)
                        continue;
                left -= range.last - range.first + 1;
                if (left < 0)
                        return 0;
                out[count++] = range;
        }
        return asked == 0 ? 0 : count > 0 ? count : -1;
}
