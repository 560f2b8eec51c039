/*
 * redis/reply.c - replies: trees that their callers own.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "redis/redis.h"

enum { NUMBER_MAX = 64 };

locale_t ed_redis_plain_locale(void)
{
        /* Neither allocates nor fails: it is the locale that every program begins with. */
        return newlocale(LC_ALL_MASK, "C", (locale_t) 0);
}

enum eddy_redis_type eddy_redis_reply_type(const eddy_redis_reply *reply)
{
        return reply ? reply->type : EDDY_REDIS_NIL;
}

static bool is_text(const eddy_redis_reply *reply)
{
        return reply && (reply->type == EDDY_REDIS_STRING || reply->type == EDDY_REDIS_STATUS ||
                         reply->type == EDDY_REDIS_ERROR);
}

const char *eddy_redis_reply_text(const eddy_redis_reply *reply, size_t *ret_bytes)
{
        if (!is_text(reply))
                return NULL;
        if (ret_bytes)
                *ret_bytes = (size_t) reply->integer;
        return reply->is.text;
}

/* Returns true if a text may be a number: strtoll() and strtod() would skip spaces before it. */
static bool may_be_number(const eddy_redis_reply *reply)
{
        return reply && reply->type == EDDY_REDIS_STRING && reply->integer > 0 &&
               reply->integer < NUMBER_MAX && (unsigned char) reply->is.text[0] > ' ';
}

int eddy_redis_reply_integer(const eddy_redis_reply *reply, int64_t *ret_value)
{
        long long value;
        char *end;
        int saved;
        bool is_number;

        if (reply && reply->type == EDDY_REDIS_INTEGER) {
                *ret_value = reply->integer;
                return 0;
        }
        if (!may_be_number(reply))
                return EDDY_E_REDIS_TYPE;
        saved = errno;
        errno = 0;
        value = strtoll(reply->is.text, &end, 10);
        is_number = errno == 0 && end == reply->is.text + reply->integer;
        errno = saved;
        if (!is_number)
                return EDDY_E_REDIS_TYPE;
        *ret_value = value;
        return 0;
}

int eddy_redis_reply_double(const eddy_redis_reply *reply, double *ret_value)
{
        double value;
        char *end;
        int saved = errno;

        if (reply && reply->type == EDDY_REDIS_INTEGER) {
                *ret_value = (double) reply->integer;
                return 0;
        }
        if (!may_be_number(reply))
                return EDDY_E_REDIS_TYPE;
        value = strtod_l(reply->is.text, &end, ed_redis_plain_locale());
        errno = saved;
        if (end != reply->is.text + reply->integer)
                return EDDY_E_REDIS_TYPE;
        *ret_value = value;
        return 0;
}

uint32_t eddy_redis_reply_count(const eddy_redis_reply *reply)
{
        return reply && reply->type == EDDY_REDIS_ARRAY ? reply->count : 0;
}

const eddy_redis_reply *eddy_redis_reply_at(const eddy_redis_reply *reply, uint32_t index)
{
        return index < eddy_redis_reply_count(reply) ? reply->is.elements[index] : NULL;
}

const eddy_redis_reply *eddy_redis_reply_find(const eddy_redis_reply *reply, const char *field)
{
        size_t bytes = strlen(field);

        for (uint32_t i = 0; i + 1 < eddy_redis_reply_count(reply); i += 2) {
                const eddy_redis_reply *name = reply->is.elements[i];

                if (is_text(name) && (size_t) name->integer == bytes &&
                    memcmp(name->is.text, field, bytes) == 0)
                        return reply->is.elements[i + 1];
        }
        return NULL;
}

/* The depth is at most EDDY_REDIS_DEPTH_MAX, because hiredis reads no more. */
void eddy_redis_reply_free(eddy_redis_reply *reply) /* NOLINT(misc-no-recursion) */
{
        for (uint32_t i = 0; i < eddy_redis_reply_count(reply); i++)
                eddy_redis_reply_free(reply->is.elements[i]);
        ed_free(reply);
}
