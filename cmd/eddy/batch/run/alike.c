/*
 * batch/run/alike.c - see alike.h.
 */
#include "batch/run/alike.h"

#include <stdio.h>

#include "common/outcome.h"

/* Returns true for a status that has rules of its own: about the key, the quota, time and limits. */
static bool is_ruled(int status)
{
        static const int ruled[] = { 401, 402, 403, 408, 409, 425, 429 };

        for (size_t i = 0; i < sizeof(ruled) / sizeof(ruled[0]); i++)
                if (status == ruled[i])
                        return true;
        return false;
}

/* Returns true for a failure that each request with the same mistake gets. */
static bool is_mistake(int cause)
{
        return (cause >= 300 && cause < 500 && !is_ruled(cause)) || cause == ED_E_ANSWER_NOT_OK ||
               cause == ED_E_ANSWER_NOT_SCHEMA;
}

/* Returns true for a failure that the same request need not get again. */
static bool is_silent(int cause)
{
        return cause >= 500 || is_ruled(cause) ||
               (cause < 0 && !is_mistake(cause) && cause != ED_E_ANSWER_NOT_ROWS);
}

unsigned ed_alike_begin(struct ed_alike *alike, size_t count)
{
        unsigned place = alike->begun, room = ED_ALIKE_PLACES - place;

        alike->begun += count < room ? (unsigned) count : room;
        return place;
}

void ed_alike_pass(struct ed_alike *alike, size_t place)
{
        if (place < ED_ALIKE_PLACES && alike->places[place] == ED_ALIKE_OPEN)
                alike->places[place] = ED_ALIKE_SILENT;
}

void ed_alike_add(struct ed_alike *alike, size_t place, int cause, const char *text)
{
        if (alike->has_ended)
                return;
        if (is_silent(cause)) {
                ed_alike_pass(alike, place);
                return;
        }
        if (!is_mistake(cause) || (alike->count > 0 && cause != alike->cause)) {
                alike->has_ended = true;
                return;
        }
        if (alike->count++ == 0)
                snprintf(alike->text, sizeof(alike->text), "%s", text);
        if (place < ED_ALIKE_PLACES)
                alike->places[place] = ED_ALIKE_FAILED;
        alike->cause = cause;
}

/* Returns the mistakes before the first request that has no result yet. */
static int firsts_of(const struct ed_alike *alike)
{
        int firsts = 0;

        for (unsigned i = 0; i < alike->begun && alike->places[i] != ED_ALIKE_OPEN; i++)
                firsts += alike->places[i] == ED_ALIKE_FAILED;
        return firsts;
}

bool ed_alike_is_full(const struct ed_alike *alike, uint32_t in_flight_max)
{
        return !alike->has_ended && alike->count >= ED_ALIKE_MAX &&
               (firsts_of(alike) >= ED_ALIKE_MAX ||
                alike->count >= ED_ALIKE_MAX + (int64_t) in_flight_max);
}
