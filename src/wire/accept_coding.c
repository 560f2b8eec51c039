/*
 * wire/accept_coding.c - see accept_coding.h.
 */
#include "wire/accept_coding.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "wire/http1_parts.h"

#define BLANKS " \t"

enum { ANY = ED_ACCEPT_CODINGS }; /* the place of "*" */

void ed_accept_coding_init(struct ed_accept_coding *accept)
{
        memset(accept, -1, sizeof(*accept));
}

/* Read "1", "0.5" or "1.000". Returns thousandths, or -1. */
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

/* Returns the weight in " ; q=0.5", or -1 if the text is not valid. */
static int weight_of(const char *at, size_t bytes)
{
        const char *end = at + bytes;

        if (bytes == 0)
                return 1000;
        at += strspn(at, BLANKS);
        if (at == end || *at++ != ';')
                return -1;
        at += strspn(at, BLANKS);
        if (end - at < 2 || strncasecmp(at, "q=", 2) != 0)
                return -1;
        at += 2;
        return weight_read(at, (size_t) (end - at));
}

/* Returns the place of a coding's weight, or -1. */
static int place_of(const char *name, size_t bytes)
{
        static const struct {
                const char *name;
                int place;
        } places[] = {
                { "br", ED_ACCEPT_BR },
                { "zstd", ED_ACCEPT_ZSTD },
                { "gzip", ED_ACCEPT_GZIP },
                { "x-gzip", ED_ACCEPT_GZIP },
                { "*", ANY },
                { "identity", ED_ACCEPT_IDENTITY },
        };

        for (size_t i = 0; i < ed_array_count(places); i++)
                if (strlen(places[i].name) == bytes &&
                    strncasecmp(places[i].name, name, bytes) == 0)
                        return places[i].place;
        return -1;
}

void ed_accept_coding_add(struct ed_accept_coding *accept, const char *value)
{
        const size_t value_bytes = strlen(value);
        struct eddy_slice member;
        size_t at = 0;

        while (ed_http1_list_next(value, value_bytes, &at, &member)) {
                const size_t name_bytes = strcspn(member.data, BLANKS ",;");
                const int place = place_of(member.data, name_bytes);
                const int weight = weight_of((const char *) member.data + name_bytes,
                                             member.bytes - name_bytes);

                if (place >= 0 && weight >= 0 && accept->weights[place] < 0)
                        accept->weights[place] = (int16_t) weight;
        }
}

int ed_accept_coding_weight(const struct ed_accept_coding *accept, enum ed_accept_coding_id coding)
{
        const int given = accept->weights[coding], any = accept->weights[ANY];

        if (given >= 0)
                return given;
        if (coding == ED_ACCEPT_IDENTITY)
                return any != 0;
        return any < 0 ? 0 : any;
}

enum ed_accept_coding_id ed_accept_coding_take(const struct ed_accept_coding *accept, unsigned *set)
{
        enum ed_accept_coding_id best = ED_ACCEPT_IDENTITY;
        int best_weight = 0;

        for (int coding = 0; coding < ED_ACCEPT_IDENTITY; coding++) {
                const int weight =
                        *set & 1U << coding ? ed_accept_coding_weight(accept, coding) : 0;

                if (weight > best_weight) {
                        best = coding;
                        best_weight = weight;
                }
        }
        if (best_weight < ed_accept_coding_weight(accept, ED_ACCEPT_IDENTITY))
                return ED_ACCEPT_IDENTITY;
        *set &= ~(1U << best);
        return best;
}
