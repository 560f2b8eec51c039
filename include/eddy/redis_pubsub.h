/*
 * eddy/redis_pubsub.h - subscriptions to channels of Redis.  In libeddy-redis.
 *
 *     static const char *const channels[] = { "news", NULL };
 *     struct eddy_redis_subscriber_opts opts = { .channels = channels };
 *     err = eddy_redis_subscriber_new(redis, &opts, &subscriber);
 *     if (err == 0)
 *             err = eddy_redis_subscriber_start(subscriber);
 *     ...
 *     while ((err = eddy_redis_subscriber_next(subscriber, &message)) == 0)
 *             ...
 *
 * A subscriber has a connection of its own.  The server keeps messages that are not yet taken, up
 * to its client-output-buffer-limit, above which it ends the connection.  If the connection ends
 * for any reason, the subscriber connects and subscribes again, and reports a gap: messages may
 * have been lost.
 */
#ifndef EDDY_REDIS_PUBSUB_H
#define EDDY_REDIS_PUBSUB_H

#include "eddy/def.h"
#include "eddy/redis.h"

EDDY_BEGIN_DECLS

typedef struct eddy_redis_subscriber eddy_redis_subscriber;

enum { EDDY_REDIS_CHANNELS_MAX = 65536 };

/* All zero is the default. */
struct eddy_redis_subscriber_opts {
        const char *const *channels EDDY_UNSET; /* ends with NULL; copied */
        const char *const *patterns EDDY_UNSET; /* such as "news.*"; ends with NULL; copied */
        /*
         * Send a PING to a silent server after this time, and connect again if the server is silent
         * for this time again.  0: 15 s; below 0: never.
         */
        int64_t ping_after_ns EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

enum eddy_redis_message_kind {
        EDDY_REDIS_MESSAGE,
        EDDY_REDIS_GAP, /* the connection was lost and made again: messages may be missing */
};

/* Valid until the next call of eddy_redis_subscriber_next() or _close(). */
struct eddy_redis_message {
        enum eddy_redis_message_kind kind;
        const char *channel;
        const char *pattern; /* that the channel matches; NULL: subscribed by name */
        const char *data;    /* followed by a NUL */
        size_t bytes;
        uintptr_t reserved[4];
};

/*
 * Make a subscriber with the options of 'redis', which may be closed before the subscriber.
 * eddy_redis_subscriber_start() or _next() connects; earlier messages are not received.  'opts'
 * may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  more than EDDY_REDIS_CHANNELS_MAX channels and patterns
 *         EDDY_E_REDIS_CLOSED, -ENOMEM
 * Owns: returns (owned) '*ret_subscriber', to be closed by eddy_redis_subscriber_close().
 */
EDDY_API EDDY_MUST_USE int eddy_redis_subscriber_new(eddy_redis *redis,
                                                     const struct eddy_redis_subscriber_opts *opts,
                                                     eddy_redis_subscriber **ret_subscriber);

/*
 * Connect and subscribe, if this has not been done yet, and wait until the server has confirmed all
 * channels.  Later messages to these channels are not missed.
 *
 * Suspends: yes.
 * Errors: those of connecting, as eddy_redis_command(); EDDY_E_REDIS_ERROR  the server refused a
 *         channel; -EBUSY  another task uses the subscriber; -ECANCELED
 */
EDDY_API EDDY_MUST_USE int eddy_redis_subscriber_start(eddy_redis_subscriber *subscriber);

/*
 * Wait for the next message, or gap.  If the connection is lost, the call connects again, in
 * attempts 5 ms to 500 ms apart, until one succeeds or the caller is cancelled; only the first
 * connection may fail with an error.
 *
 * Suspends: yes.  No message is lost if the call is cancelled.
 * Errors: as eddy_redis_subscriber_start(), before the first connection
 *         EDDY_E_REDIS_AUTH, EDDY_E_REDIS_ERROR  the server refuses the subscriber now
 *         -EBUSY  another task uses the subscriber
 *         -ECANCELED, -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_redis_subscriber_next(eddy_redis_subscriber *subscriber,
                                                      struct eddy_redis_message *ret_message);

/*
 * Close the connection and free the subscriber, which no other task may be using.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_redis_subscriber_close(eddy_redis_subscriber *subscriber);

static inline void eddy_redis_subscriber_auto_release(eddy_redis_subscriber **subscriber)
{
        eddy_redis_subscriber_close(*subscriber);
}

EDDY_END_DECLS

#endif
