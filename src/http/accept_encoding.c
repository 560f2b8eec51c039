/*
 * http/accept_encoding.c - see accept_encoding.h.
 */
#include "http/accept_encoding.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t"

void ed_accept_encoding_init(struct ed_accept_encoding *accept)
{
        *accept = (struct ed_accept_encoding){ -1, -1, -1, -1 };
}

/* Returns the thousandths of a qvalue such as "0.25" up to the end of its item, or -1. */
static int quality_of(const char *text)
{
        int value = text[0] - '0', unit = 100;

        if (value != 0 && value != 1)
                return -1;
        value *= 1000;
        text++;
        if (*text == '.')
                for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
                        value += (*text - '0') * unit;
        text += strspn(text, BLANKS);
        return value <= 1000 && (*text == ',' || *text == '\0') ? value : -1;
}

/* Returns the quality of an item after its name, or -1 if it is not well-formed. */
static int weight_of(const char *text)
{
        text += strspn(text, BLANKS);
        if (*text == ',' || *text == '\0')
                return 1000;
        if (*text++ != ';')
                return -1;
        text += strspn(text, BLANKS);
        return strncasecmp(text, "q=", 2) == 0 ? quality_of(text + 2) : -1;
}

static int16_t *place_of(struct ed_accept_encoding *accept, const char *name, size_t bytes)
{
        const struct {
                const char *name;
                int16_t *place;
        } places[] = {
                { "gzip", &accept->gzip }, { "x-gzip", &accept->gzip },
                { "zstd", &accept->zstd }, { "identity", &accept->identity },
                { "*", &accept->any },
        };

        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
                if (strlen(places[i].name) == bytes &&
                    strncasecmp(places[i].name, name, bytes) == 0)
                        return places[i].place;
        return NULL;
}

void ed_accept_encoding_add(struct ed_accept_encoding *accept, const char *value)
{
        for (;;) {
                size_t bytes;
                int16_t *place;
                int weight;

                value += strspn(value, BLANKS ",");
                if (!*value)
                        return;
                bytes = strcspn(value, BLANKS ",;");
                place = place_of(accept, value, bytes);
                weight = weight_of(value + bytes);
                if (place && weight >= 0 && *place < 0)
                        *place = (int16_t) weight;
                value += strcspn(value, ",");
        }
}

/* A coding that is not in the list has the quality of "*". */
static int16_t given(const struct ed_accept_encoding *accept, int16_t quality)
{
        return quality < 0 ? accept->any : quality;
}

bool ed_accept_encoding_needs_coding(const struct ed_accept_encoding *accept)
{
        return given(accept, accept->identity) == 0;
}

const struct ed_encoder *ed_accept_encoding_choose(const struct ed_accept_encoding *accept,
                                                   unsigned codings)
{
        const struct {
                unsigned flag;
                int16_t quality;
                const struct ed_encoder *encoder;
        } choices[] = {
                { ED_ACCEPT_ZSTD, given(accept, accept->zstd), &ed_encoder_zstd },
                { ED_ACCEPT_GZIP, given(accept, accept->gzip), &ed_encoder_gzip },
        };
        const struct ed_encoder *chosen = NULL;
        int best = 0;

        for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
                if (codings & choices[i].flag && choices[i].quality > best) {
                        best = choices[i].quality;
                        chosen = choices[i].encoder;
                }
        return best >= accept->identity ? chosen : NULL;
}
