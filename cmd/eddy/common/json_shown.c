/*
 * common/json_shown.c - see json_shown.h.
 */
#include "common/json_shown.h"

#include <stdlib.h>
#include <string.h>

/* Returns the bytes of the escape of a control character at 'at' in JSON text; 0: it begins otherwise. */
static size_t control_bytes(const char *at, size_t bytes)
{
        char digits[5] = "";
        unsigned long code;

        if (bytes < 2 || *at != '\\')
                return 0;
        if (strchr("bfnrt", at[1]))
                return 2;
        if (at[1] != 'u' || bytes < 6)
                return 0;
        memcpy(digits, at + 2, 4);
        code = strtoul(digits, NULL, 16);
        return code < 0x20 || (code >= 0x7f && code < 0xa0) ? 6 : 0;
}

size_t ed_json_shown(char *room, size_t room_bytes, const char *json, size_t bytes)
{
        size_t used = 0, taken;

        for (size_t at = 0; at < bytes && used + 1 < room_bytes; at += taken) {
                taken = control_bytes(json + at, bytes - at);
                room[used++] = taken > 0 ? '?' : json[at];
                if (taken == 0 && json[at] == '\\' && at + 1 < bytes)
                        room[used++] = json[++at];
                taken = taken > 0 ? taken : 1;
        }
        return used;
}
