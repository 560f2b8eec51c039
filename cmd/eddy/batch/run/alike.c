/*
 * batch/run/alike.c - see alike.h.
 */
#include "batch/run/alike.h"

#include <stdio.h>

#include "common/outcome.h"

/* Returns true for a refusal that each request with the same mistake gets. Statuses about the
 * key, the quota, time and limits have rules of their own. */
static bool is_refusal(int status)
{
        static const int others[] = { 401, 402, 403, 408, 409, 425, 429 };

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                if (status == others[i])
                        return false;
        return status >= 400 && status < 500;
}

static bool is_mistake(int cause)
{
        return is_refusal(cause) || cause == ED_E_ANSWER_NOT_OK || cause == ED_E_ANSWER_NOT_SCHEMA;
}

bool ed_alike_begin(struct ed_alike *alike)
{
        if (alike->begun >= ED_ALIKE_MAX)
                return false;
        alike->begun++;
        return true;
}

void ed_alike_add(struct ed_alike *alike, bool is_first, int cause, const char *text)
{
        if (alike->has_ended)
                return;
        if (!is_mistake(cause) || (alike->count > 0 && cause != alike->cause)) {
                alike->has_ended = true;
                return;
        }
        if (alike->count++ == 0)
                snprintf(alike->text, sizeof(alike->text), "%s", text);
        alike->firsts += is_first;
        alike->cause = cause;
}

bool ed_alike_is_full(const struct ed_alike *alike, uint32_t in_flight_max)
{
        return !alike->has_ended && (alike->firsts >= ED_ALIKE_MAX ||
                                     alike->count >= ED_ALIKE_MAX + (int64_t) in_flight_max);
}
