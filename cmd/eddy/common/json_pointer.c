/*
 * common/json_pointer.c - see json_pointer.h.
 */
#include "common/json_pointer.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { INDEX_DIGITS_MAX = 18 };

bool ed_json_pointer_is_valid(const char *pointer, size_t bytes)
{
        if (bytes > ED_JSON_POINTER_BYTES_MAX || (bytes > 0 && pointer[0] != '/'))
                return false;
        for (size_t i = 0; i < bytes; i++)
                if (pointer[i] == '~' &&
                    (i + 1 == bytes || (pointer[i + 1] != '0' && pointer[i + 1] != '1')))
                        return false;
        return true;
}

/* Write a part of a pointer without its escapes: "~1" is "/", and "~0" is "~". */
static void part_decode(const char *part, size_t bytes, char *out)
{
        size_t n = 0;

        for (size_t i = 0; i < bytes; i++)
                if (part[i] != '~')
                        out[n++] = part[i];
                else
                        out[n++] = part[++i] == '1' ? '/' : '~';
        out[n] = '\0';
}

/* Parse an index: digits without a zero before them. */
static bool index_parse(const char *part, size_t bytes, uint64_t *ret_index)
{
        uint64_t index = 0;

        if (bytes == 0 || bytes > INDEX_DIGITS_MAX || (bytes > 1 && part[0] == '0'))
                return false;
        for (size_t i = 0; i < bytes; i++) {
                if (part[i] < '0' || part[i] > '9')
                        return false;
                index = index * 10 + (uint64_t) (part[i] - '0');
        }
        *ret_index = index;
        return true;
}

/* Find a member or an item of 'value'. */
static int part_get(const struct eddy_json_value *value, const char *part, size_t bytes,
                    struct eddy_json_value *ret_value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value name, item;
        char wanted[ED_JSON_POINTER_BYTES_MAX + 1];
        uint64_t index = 0;

        if (eddy_json_walk(value, &cursor) < 0)
                return -ENOENT;
        part_decode(part, bytes, wanted);
        if (!cursor.is_object && !index_parse(part, bytes, &index))
                return -ENOENT;
        for (uint64_t i = 0; eddy_json_next(&cursor, &name, &item); i++)
                if (cursor.is_object ? eddy_json_is(&name, wanted) : i == index) {
                        *ret_value = item;
                        return 0;
                }
        return -ENOENT;
}

int ed_json_pointer_get(const struct eddy_json_value *value, const char *pointer, size_t bytes,
                        struct eddy_json_value *ret_value)
{
        struct eddy_json_value at = *value;
        const char *end = pointer + bytes;

        while (pointer < end) {
                const char *part = pointer + 1;
                const char *next = memchr(part, '/', (size_t) (end - part));
                int err;

                pointer = next ? next : end;
                err = part_get(&at, part, (size_t) (pointer - part), &at);
                if (err < 0)
                        return err;
        }
        *ret_value = at;
        return 0;
}
