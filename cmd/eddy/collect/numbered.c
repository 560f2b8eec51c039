/*
 * collect/numbered.c - see numbered.h.
 */
#include "collect/numbered.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

bool ed_numbered_is_form(const char *name)
{
        return strstr(name, ED_NUMBERED_PLACE) != NULL;
}

bool ed_numbered_find(const char *name, struct ed_numbered *form)
{
        const char *slash = strrchr(name, '/');
        size_t first = slash ? (size_t) (slash + 1 - name) : 0;
        size_t end = form->name ? form->at : strlen(name), at;

        while (end > first && !is_digit(name[end - 1]))
                end--;
        for (at = end; at > first && is_digit(name[at - 1]); at--)
                continue;
        *form = (struct ed_numbered){ .name = name, .at = at, .end = end };
        return end > first;
}

int64_t ed_numbered_read(const struct ed_numbered *form, const char *name)
{
        size_t bytes = strlen(name), tail = strlen(form->name + form->end), digits;
        int64_t number = 0;

        if (bytes <= form->at + tail || strncmp(name, form->name, form->at) != 0 ||
            strcmp(name + bytes - tail, form->name + form->end) != 0)
                return -1;
        digits = bytes - tail - form->at;
        name += form->at;
        if (digits > DIGITS_MAX || (digits > 1 && *name == '0'))
                return -1;
        for (size_t i = 0; i < digits; i++) {
                if (!is_digit(name[i]))
                        return -1;
                number = number * 10 + (name[i] - '0');
        }
        return number;
}

bool ed_numbered_write(const char *form, uint32_t index, char *room, size_t room_bytes)
{
        size_t used = 0;

        while (used < room_bytes) {
                const char *place = strstr(form, ED_NUMBERED_PLACE);
                size_t bytes = place ? (size_t) (place - form) : strlen(form);
                int n = place ? snprintf(room + used, room_bytes - used, "%.*s%u", (int) bytes,
                                         form, index)
                              : snprintf(room + used, room_bytes - used, "%s", form);

                if (n < 0 || (size_t) n >= room_bytes - used)
                        return false;
                used += (size_t) n;
                if (!place)
                        return true;
                form = place + strlen(ED_NUMBERED_PLACE);
        }
        return false;
}

bool ed_numbered_show(const struct ed_numbered *form, char *room, size_t room_bytes)
{
        int n = snprintf(room, room_bytes, "%.*s%s%s", (int) form->at, form->name,
                         ED_NUMBERED_PLACE, form->name + form->end);

        return n >= 0 && (size_t) n < room_bytes;
}
