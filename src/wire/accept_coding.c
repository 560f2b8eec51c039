/*
 * wire/accept_coding.c - see accept_coding.h.
 */
#include "wire/accept_coding.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Read "1", "0.5" or "1.000" at 'at'. Returns thousandths, or -1. */
static int weight_read(const char *at, size_t bytes)
{
        int weight, digit = 100;

        if (bytes == 0 || bytes > 5 || (at[0] != '0' && at[0] != '1') ||
            (bytes > 1 && at[1] != '.'))
                return -1;
        weight = (at[0] - '0') * 1000;
        for (size_t i = 2; i < bytes; i++, digit /= 10) {
                if (at[i] < '0' || at[i] > '9')
                        return -1;
                weight += (at[i] - '0') * digit;
        }
        return weight <= 1000 ? weight : -1;
}

/* Returns the weight of "gzip;q=0.5", of which 'name_bytes' are the name; -1: not valid. */
static int weight_of(const char *at, size_t bytes, size_t name_bytes)
{
        at += name_bytes;
        bytes -= name_bytes;
        while (bytes > 0 && (at[bytes - 1] == ' ' || at[bytes - 1] == '\t'))
                bytes--;
        while (bytes > 0 && strchr(" \t;", *at)) {
                at++;
                bytes--;
        }
        if (bytes == 0)
                return 1000;
        if (bytes < 2 || (*at | 0x20) != 'q' || at[1] != '=')
                return -1;
        return weight_read(at + 2, bytes - 2);
}

int ed_accept_coding_weight(const char *list, const char *coding)
{
        size_t coding_bytes = strlen(coding);
        int others = 0;

        for (list += strspn(list, " \t,"); *list; list += strspn(list, " \t,")) {
                size_t bytes = strcspn(list, ","), name_bytes = strcspn(list, " \t,;");
                int weight = weight_of(list, bytes, name_bytes);

                if (weight >= 0 && name_bytes == coding_bytes &&
                    strncasecmp(list, coding, coding_bytes) == 0)
                        return weight;
                if (weight >= 0 && name_bytes == 1 && *list == '*')
                        others = weight;
                list += bytes;
        }
        return others;
}
