/*
 * eddy/redis_reply.h - replies from Redis: trees that their callers own.  In libeddy-redis.
 */
#ifndef EDDY_REDIS_REPLY_H
#define EDDY_REDIS_REPLY_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_REDIS_DEPTH_MAX = 7 }; /* of arrays in arrays */

typedef struct eddy_redis_reply eddy_redis_reply;

enum eddy_redis_type {
        EDDY_REDIS_NIL,
        EDDY_REDIS_STRING,
        EDDY_REDIS_STATUS, /* such as "OK" */
        EDDY_REDIS_ERROR,  /* inside an array, or in a batch */
        EDDY_REDIS_INTEGER,
        EDDY_REDIS_ARRAY,
};

/* Returns the type; EDDY_REDIS_NIL for NULL.  Suspends: no. */
EDDY_API enum eddy_redis_type eddy_redis_reply_type(const eddy_redis_reply *reply);

/*
 * Returns the bytes of a string, status or error, followed by a NUL, and stores their number in
 * '*ret_bytes', which may be NULL.  Returns NULL for other types.  Valid until the reply is freed.
 *
 * Suspends: no.
 */
EDDY_API const char *eddy_redis_reply_text(const eddy_redis_reply *reply, size_t *ret_bytes);

/*
 * Store the value of an integer, or of a string with a decimal number.
 *
 * Suspends: no.
 * Errors: EDDY_E_REDIS_TYPE  another type, or not a number in this range
 */
EDDY_API EDDY_MUST_USE int eddy_redis_reply_integer(const eddy_redis_reply *reply,
                                                    int64_t *ret_value);
EDDY_API EDDY_MUST_USE int eddy_redis_reply_double(const eddy_redis_reply *reply,
                                                   double *ret_value);

/* Returns the number of elements of an array; 0 for other types.  Suspends: no. */
EDDY_API uint32_t eddy_redis_reply_count(const eddy_redis_reply *reply);

/* Returns element 'index', or NULL.  Valid until the reply is freed.  Suspends: no. */
EDDY_API const eddy_redis_reply *eddy_redis_reply_at(const eddy_redis_reply *reply, uint32_t index);

/*
 * Returns the value after the text 'field' in an array of fields and values, such as the reply
 * to HGETALL or the fields of a stream's entry; NULL if there is none.  Valid until the reply is
 * freed.
 *
 * Suspends: no.
 */
EDDY_API const eddy_redis_reply *eddy_redis_reply_find(const eddy_redis_reply *reply,
                                                       const char *field);

/* Free a reply with all its elements.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_redis_reply_free(eddy_redis_reply *reply);

static inline void eddy_redis_reply_auto_release(eddy_redis_reply **reply)
{
        eddy_redis_reply_free(*reply);
}

EDDY_END_DECLS

#endif
