/*
 * batch/run/endpoint.h - the servers to which requests are sent, each with its limits: the base
 * URLs, and the host of each absolute URL.
 *
 * All base URLs form one group. A request of this group goes to the base URL with the fewest
 * requests in flight that is neither paused nor at its limit; among equals, to the first. Base URLs
 * may come and go: one that is gone keeps its counts. Each host of absolute URLs is a
 * separate group. The requests of a group wait in a line; only the first request reserves capacity
 * from a limit. If there are several groups, a line rests while its first request cannot be sent
 * (engine/room.h).
 *
 * If the run has several API keys, each pair of a server and a key is an endpoint of its own, in the
 * same group: limits are those of a key.
 */
#ifndef ED_CMD_BATCH_RUN_ENDPOINT_H
#define ED_CMD_BATCH_RUN_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/request/base_url.h"
#include "batch/run/choice.h"
#include "batch/run/own_refusal.h"
#include "common/hash_map.h"
#include "eddy/def.h"
#include "eddy/http_response.h"
#include "eddy/http_text.h"
#include "eddy/limiter.h"
#include "eddy/semaphore.h"

enum {
        ED_ENDPOINTS_MAX = 4096,       /* of hosts of absolute URLs */
        ED_ENDPOINTS_BASES_MAX = 8192, /* of base URLs, together with those that are gone */
};

struct ed_room;

/* The requests of a group that are not sent yet. */
struct ed_endpoint_line {
        eddy_semaphore turn; /* of the first request */
        uint32_t waiting;
        uint64_t waiting_bytes;
        bool rests;
        struct ed_refusal_counts counts;
};

struct ed_endpoint {
        struct ed_hash_link link;
        struct ed_endpoint *next;          /* of all endpoints, and of the base URLs */
        char name[EDDY_HTTP_ORIGIN_BYTES]; /* "https://host:port" */
        char *shown;                       /* the name, and the key if there are several */
        char *base; /* the base URL, owned by the leader; NULL: a host of absolute URLs */
        struct ed_endpoints *all;
        bool is_main;                  /* requests to this origin have the API key */
        unsigned key;                  /* the number of this key; 0: none */
        struct ed_endpoint *leader;    /* the first of those that differ only in the key */
        unsigned span;                 /* of a leader: their number; they follow it in the list */
        struct ed_hash_link base_link; /* of a leader: by its base URL */
        struct ed_choice_place place;  /* of a base URL */
        uint32_t number;               /* of a base URL: its rank among equals */
        bool is_listed;                /* a file has this base URL, and may drop it */
        bool is_gone;                  /* the file has dropped it */
        struct ed_endpoint *gone_next, **gone_at; /* of a leader that is gone: the queue */
        struct ed_endpoint *same_next,
                *same_former; /* of a leader: a ring of those with its name */
        uint32_t seen;        /* of a leader: the last list that had it */
        eddy_limiter *limiter;
        struct ed_endpoint_line line; /* of absolute URLs */
        bool is_shut;                 /* it asked for a pause longer than the run accepts */
        bool waits_for_answer;        /* it was passed over, because its window is full */
        bool is_spent;                /* it was shut because the quota of its key is used up */
        uint32_t in_flight;
        uint32_t window;            /* most requests in flight; UINT32_MAX until a refusal */
        uint32_t credit;            /* answers since the window grew */
        uint32_t throttles;         /* refusals since the last answer */
        int64_t throttled_since_ns; /* the time of the first of these refusals */
        int64_t refused_ns;         /* the time of the last refusal; 0: none */
        uint32_t key_refusals;      /* 401 answers since this key, one of several, was accepted */
        uint32_t shut_generation;   /* of the key with which the endpoint was shut */
        uint32_t unreached;         /* attempts in a row that got no connection */
        int64_t unreached_since_ns; /* the first of them */
        bool was_reached;           /* it has answered at least once */
        bool lost_was_said;
        int64_t paused_until_ns;  /* the pause after refusals */
        int64_t learned_until_ns; /* its headers report that a limit is used up until then, for a
                                     second or more */
        uint64_t pauses;          /* of both kinds; pauses that overlap are one */
        int64_t paused_ns;        /* in total, to the end of the last pause */
        int64_t pause_end_ns;     /* the end of the last pause */
        uint64_t lost;            /* attempts without a connection */
        uint64_t sent, ok, failed;
        uint32_t rejected;        /* answers that were not accepted before one was */
        uint64_t accepted_before; /* answers of all base URLs, before the first of them */
};

struct ed_endpoint_limits {
        uint64_t rpm, tpm; /* 0: none */
        int64_t burst_ns;  /* 0: a second */
        int64_t begin_ns;  /* nothing is granted before this time; 0: at once */
        unsigned keys;     /* API keys; 0: none */
        bool adapts;       /* the number of slots adapts to refusals, so an endpoint pauses only
                              if it states a time */
        bool changes;      /* base URLs may come and go */
};

struct ed_endpoints {
        struct ed_endpoint_limits limits;
        struct ed_room *room;
        struct ed_endpoint *first, **last, **last_base;
        size_t count, bases;                   /* with those that are gone */
        struct ed_endpoint_line line;          /* of the base URLs */
        struct ed_choice choice;               /* among the base URLs */
        uint32_t lists;                        /* that ed_endpoints_list() was given */
        uint32_t lost_said;                    /* servers out of reach that were reported */
        uint64_t accepted;                     /* answers of base URLs */
        size_t forgotten;                      /* base URLs whose places were taken by others */
        struct ed_endpoint *gone, **gone_last; /* leaders, in the order in which they went */
        struct ed_endpoint *gone_idle;         /* those before it have requests in flight */
        struct ed_hash_map map;      /* by name; of base URLs with equal names, the last */
        struct ed_hash_map base_map; /* of the leaders of base URLs */
};

/* 'room' is borrowed. Call inside eddy_run(). */
void ed_endpoints_init(struct ed_endpoints *endpoints, const struct ed_endpoint_limits *limits,
                       struct ed_room *room);
void ed_endpoints_fini(struct ed_endpoints *endpoints);

/* Add a base URL. Errors: those of eddy_http_url_origin(); ED_E_HOSTS, -ENOMEM */
EDDY_MUST_USE int ed_endpoints_add_base(struct ed_endpoints *endpoints, const char *base,
                                        struct ed_endpoint **ret_leader);

/* Send the API key to the origin of a URL. Errors: those of eddy_http_url_origin(); ED_E_HOSTS */
EDDY_MUST_USE int ed_endpoints_add_main(struct ed_endpoints *endpoints, const char *url);

/*
 * Wait for the turn of a request to 'url', an absolute URL or a path, choose its endpoint, reserve
 * its share of the endpoint's limits, and count it in 'in_flight'. The caller then has the turn of
 * the group, and returns it by ed_endpoint_pass() once it has a slot. 'bytes' is the memory of the
 * request.
 *
 * Suspends: yes.
 * Errors: -ECANCELED;  EDDY_E_LIMITER_AMOUNT  more tokens than the limit of a minute
 *         ED_E_NO_BASE, ED_E_HOSTS, ED_E_SHUT, ED_E_SPENT;  those of eddy_http_url_origin()
 */
EDDY_MUST_USE int ed_endpoint_take(struct ed_endpoints *endpoints, const char *url, uint64_t tokens,
                                   uint64_t bytes, struct ed_endpoint **ret_endpoint,
                                   struct eddy_reservation *ret_reservation);
void ed_endpoint_pass(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                      const char *url);

/* The changes of a list of base URLs. */
struct ed_endpoints_change {
        size_t more, fewer;
};

/*
 * Let the base URLs of a list come, and those go that an earlier list had and this one has not.
 *
 * Errors: those of ed_endpoints_add_base(): the others have changed
 */
EDDY_MUST_USE int ed_endpoints_list(struct ed_endpoints *endpoints, const struct ed_base_urls *list,
                                    struct ed_endpoints_change *ret_change);

/* Returns the number of base URLs that can get requests, each pair of one and a key. */
size_t ed_endpoints_usable(const struct ed_endpoints *endpoints);

/* Returns true if a request to 'url' must not go to the endpoint, because its base URL is gone. */
bool ed_endpoint_is_left(const struct ed_endpoint *endpoint, const char *url);

/* Returns true if an endpoint has sent a response. */
bool ed_endpoints_are_reached(const struct ed_endpoints *endpoints);

/* Returns true if no request can be sent now, because the endpoint asked for a pause. */
bool ed_endpoint_is_paused(const struct ed_endpoint *endpoint);

/* Remove a request from 'in_flight': it has ended, or was not sent. */
void ed_endpoint_give(struct ed_endpoint *endpoint);

/*
 * Obey the limits that an answer reports. Returns the time until they allow a request, which is at
 * most 'wait_max_ns'.
 */
int64_t ed_endpoint_obey(struct ed_endpoint *endpoint, struct eddy_ratelimits seen,
                         int64_t wait_max_ns);

/*
 * Obey the limits in the headers of an answer. Times of day count from the answer's Date. Returns the
 * time until the limits allow a request, which is at most 'wait_max_ns': that of Retry-After, which
 * takes precedence.
 */
int64_t ed_endpoint_learn(struct ed_endpoint *endpoint, const eddy_http_response *response,
                          int64_t wait_max_ns);

/*
 * Pause an endpoint that refused a request, for 'wait_ns', or, if 'wait_ns' is negative, for a time
 * that doubles with each refusal. Returns the time since the first refusal, including this pause.
 */
int64_t ed_endpoint_throttle(const struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                             int64_t wait_ns, uint64_t random);

/*
 * Returns true if the number of slots follows refusals (-c auto). With several endpoints, pauses and
 * the number of requests in flight of each do so instead: a refusal of one says nothing about the others.
 */
bool ed_endpoints_adapt(const struct ed_endpoints *endpoints);

/* Returns the total time of the endpoint's pauses until now. */
int64_t ed_endpoint_paused(const struct ed_endpoint *endpoint);

/* Returns the time at which the first endpoint can take requests, or 0 if that is now. */
int64_t ed_endpoints_resume(const struct ed_endpoints *endpoints);

/*
 * An attempt got no connection. Returns true if that has happened so often that requests should
 * wait for the endpoint: then the endpoint is paused, and '*ret_for_ns' is the time since the first
 * of these attempts.
 */
bool ed_endpoint_lost(const struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                      uint64_t random, int64_t *ret_for_ns);

/* The endpoint sent a response. */
void ed_endpoint_reached(struct ed_endpoint *endpoint);

/* Returns true if there were attempts, and none of them got a connection. */
bool ed_endpoints_are_unreached(const struct ed_endpoints *endpoints);

/* Returns true if requests to 'url' can go to another endpoint than this one. */
bool ed_endpoint_has_other(const struct ed_endpoints *endpoints, const struct ed_endpoint *endpoint,
                           const char *url);

/* Returns true if all other endpoints that are known are shut. */
bool ed_endpoint_is_last(const struct ed_endpoints *endpoints, const struct ed_endpoint *endpoint);

/* Open an endpoint that was shut, because it has a new key. */
void ed_endpoint_reopen(struct ed_endpoint *endpoint);

/*
 * Send nothing more to an endpoint. Returns false if the run cannot continue, because no base URL
 * is left for paths, or no endpoint at all.
 */
bool ed_endpoint_shut(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint);

/* End the pause after refusals: they were about single requests. */
void ed_endpoint_resume(struct ed_endpoint *endpoint);

/*
 * The endpoint has refused a request to 'url'. Returns true if that is about the request, because
 * the endpoints of this URL answer others (batch/run/own_refusal.h).
 */
bool ed_endpoint_refuses_one(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                             const char *url, struct ed_own_refusal *own);

/*
 * Count an answer of the endpoint to a request to 'url' that was sent at 'start_ns'. Its window grows
 * by 1 for every 4 answers.
 */
void ed_endpoint_answered(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                          const char *url, int64_t start_ns);

#endif
