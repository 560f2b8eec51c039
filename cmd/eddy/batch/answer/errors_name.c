/*
 * batch/answer/errors_name.c - see errors_name.h.
 */
#include "batch/answer/errors_name.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/pack.h"

#define LINES_END ".jsonl"

/* Write the name for an output whose name has 'bytes' bytes, and 'end' after it. */
static bool name_write(const char *output, size_t bytes, const char *end, char *room,
                       size_t room_bytes)
{
        size_t end_bytes = strlen(LINES_END);
        int n;

        if (bytes >= end_bytes && memcmp(output + bytes - end_bytes, LINES_END, end_bytes) == 0)
                bytes -= end_bytes;
        if (bytes >= room_bytes)
                return false;
        n = snprintf(room, room_bytes, "%.*s.errors.jsonl%s", (int) bytes, output, end);
        return n >= 0 && (size_t) n < room_bytes;
}

bool ed_errors_name(const char *output, char *room, size_t room_bytes)
{
        return name_write(output, strlen(output), "", room, room_bytes);
}

bool ed_errors_name_of_packed(const char *output, char *room, size_t room_bytes)
{
        size_t bytes = ed_pack_stem_bytes(output);

        return name_write(output, bytes, output + bytes, room, room_bytes);
}

bool ed_errors_find(const char *output, char *room, size_t room_bytes)
{
        size_t bytes = ed_pack_stem_bytes(output);
        struct stat st;

        if (output[bytes] && name_write(output, bytes, output + bytes, room, room_bytes) &&
            stat(room, &st) == 0)
                return true;
        return name_write(output, bytes, "", room, room_bytes) && stat(room, &st) == 0;
}
