/*
 * batch/run/endpoint.c - endpoints, their limits, and the line in front of them.
 */
#include "batch/run/endpoint.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/duration.h"
#include "common/excerpt.h"
#include "common/outcome.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/http_date.h"
#include "eddy/time.h"
#include "engine/room.h"
#include "vendor/limits.h"

enum {
        ANSWERS_FOR_PLACE = 4, /* answers until a window grows by 1 */
        UNREACHED_MAX = 10,    /* attempts without a connection that count as failed; the first of a
                                  base URL that may go does not, because others have no requests */
        ENDPOINT_SHOWN_BYTES = EDDY_HTTP_ORIGIN_BYTES + 32,
};

#define THROTTLE_FIRST_NS EDDY_SEC(1)
#define THROTTLE_MOST_NS  EDDY_SEC(60)

/* A shorter wait for a limit is its pace, not a pause. */
#define PAUSE_LEAST_NS EDDY_SEC(1)

/* How often endpoints are checked, if none can be used. */
#define LOOK_NS EDDY_MS(5)

void ed_endpoints_init(struct ed_endpoints *endpoints, const struct ed_endpoint_limits *limits,
                       struct ed_room *room)
{
        *endpoints = (struct ed_endpoints){ .limits = *limits, .room = room };
        endpoints->last = endpoints->last_base = &endpoints->first;
        endpoints->gone_last = &endpoints->gone;
        eddy_semaphore_init(&endpoints->line.turn, 1, 0);
}

void ed_endpoints_fini(struct ed_endpoints *endpoints)
{
        struct ed_endpoint *endpoint = endpoints->first, *next;

        for (; endpoint; endpoint = next) {
                next = endpoint->next;
                eddy_limiter_close(endpoint->limiter);
                if (endpoint->leader == endpoint)
                        eddy_free(endpoint->base);
                eddy_free(endpoint);
        }
        ed_hash_map_fini(&endpoints->map);
        ed_hash_map_fini(&endpoints->base_map);
        ed_choice_fini(&endpoints->choice);
        *endpoints = (struct ed_endpoints){ 0 };
}

static int limiter_make(const struct ed_endpoint_limits *limits, eddy_limiter **ret_limiter)
{
        struct eddy_limiter_limit items[2];
        struct eddy_limiter_opts opts = { .limits = items, .burst_ns = limits->burst_ns };

        if (limits->rpm)
                items[opts.limits_count++] =
                        (struct eddy_limiter_limit){ EDDY_LIMITER_REQUESTS, limits->rpm,
                                                     EDDY_MIN(1) };
        if (limits->tpm)
                items[opts.limits_count++] =
                        (struct eddy_limiter_limit){ EDDY_LIMITER_TOKENS, limits->tpm,
                                                     EDDY_MIN(1) };
        return eddy_limiter_new(&opts, ret_limiter);
}

/* Name an endpoint, whose key is known. */
static void endpoint_name(struct ed_endpoint *endpoint, const char *name, unsigned keys)
{
        snprintf(endpoint->name, sizeof(endpoint->name), "%s", name);
        if (endpoint->shown != endpoint->name)
                snprintf(endpoint->shown, ENDPOINT_SHOWN_BYTES, "%s, key %u of %u", name,
                         endpoint->key, keys);
}

/*
 * Make one endpoint, which follows '*at' in the list. 'key' is the number of its API key, 0: none.
 */
static int endpoint_new(struct ed_endpoints *endpoints, const char *name, unsigned key,
                        struct ed_endpoint ***at, struct ed_endpoint **ret_endpoint)
{
        bool has_keys = key > 0 && endpoints->limits.keys > 1;
        struct ed_endpoint *endpoint =
                eddy_malloc(sizeof(*endpoint) + (has_keys ? ENDPOINT_SHOWN_BYTES : 0));
        int err;

        if (!endpoint)
                return -ENOMEM;
        *endpoint = (struct ed_endpoint){
                .window = UINT32_MAX, .key = key, .span = 1, .all = endpoints
        };
        endpoint->shown = has_keys ? (char *) (endpoint + 1) : endpoint->name;
        endpoint_name(endpoint, name, endpoints->limits.keys);
        endpoint->leader = endpoint;
        eddy_semaphore_init(&endpoint->line.turn, 1, 0);
        err = limiter_make(&endpoints->limits, &endpoint->limiter);
        if (err < 0) {
                eddy_free(endpoint);
                return err;
        }
        if (endpoints->limits.begin_ns > 0)
                eddy_limiter_pause(endpoint->limiter, endpoints->limits.begin_ns);
        endpoint->next = **at;
        **at = endpoint;
        if (endpoints->last == *at)
                endpoints->last = &endpoint->next;
        *at = &endpoint->next;
        endpoints->count++;
        *ret_endpoint = endpoint;
        return 0;
}

/*
 * Make the endpoints of a server that gets the API keys, one for each key. On failure, '*ret_leader'
 * is the first of those that were made, or NULL.
 */
static int main_new(struct ed_endpoints *endpoints, const char *name, struct ed_endpoint ***at,
                    struct ed_endpoint **ret_leader)
{
        unsigned keys = endpoints->limits.keys, number = keys > 0;
        struct ed_endpoint *leader = NULL;

        *ret_leader = NULL;
        do {
                struct ed_endpoint *endpoint;
                int err = endpoint_new(endpoints, name, number, at, &endpoint);

                if (err < 0)
                        return err;
                if (!leader)
                        leader = *ret_leader = endpoint;
                endpoint->leader = leader;
                endpoint->is_main = true;
                leader->span = number > 1 ? number : 1;
        } while (++number <= keys);
        return 0;
}

static uint64_t name_hash(const char *name)
{
        return ed_hash_map_hash(name, strlen(name));
}

static struct ed_endpoint *endpoint_find(const struct ed_endpoints *endpoints, const char *name)
{
        uint64_t hash = name_hash(name);

        ed_hash_map_each (link, &endpoints->map, hash) {
                struct ed_endpoint *endpoint = (struct ed_endpoint *) link;

                if (strcmp(endpoint->name, name) == 0)
                        return endpoint;
        }
        return NULL;
}

/* Find or make the endpoint of a host, the first one if it has several keys. */
static int host_find(struct ed_endpoints *endpoints, const char *url, bool is_main,
                     struct ed_endpoint **ret_endpoint)
{
        char name[EDDY_HTTP_ORIGIN_BYTES];
        struct ed_endpoint *endpoint;
        int err = eddy_http_url_origin(url, name);

        if (err < 0)
                return err;
        endpoint = endpoint_find(endpoints, name);
        if (!endpoint) {
                if (endpoints->count - endpoints->bases >= ED_ENDPOINTS_MAX)
                        return ED_E_HOSTS;
                err = is_main ? main_new(endpoints, name, &endpoints->last, &endpoint)
                              : endpoint_new(endpoints, name, 0, &endpoints->last, &endpoint);
                if (err < 0)
                        return err;
                ed_hash_map_add(&endpoints->map, &endpoint->link, name_hash(name));
        }
        *ret_endpoint = endpoint;
        return 0;
}

int ed_endpoints_add_main(struct ed_endpoints *endpoints, const char *url)
{
        struct ed_endpoint *endpoint;

        return host_find(endpoints, url, true, &endpoint);
}

/* Returns true if the endpoint may have another request in flight. */
static bool is_open(const struct ed_endpoint *endpoint)
{
        return endpoint->in_flight < endpoint->window;
}

/* The endpoints among which a request can choose: they follow 'first' in the list. */
struct group {
        struct ed_endpoint *first;
        size_t count;
        struct ed_endpoint_line *line;
};

/* Paths have one group for all base URLs, absolute URLs one for their host. */
static struct group group_of(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                             const char *url)
{
        if (*url == '/')
                return (struct group){ endpoints->first, endpoints->bases, &endpoints->line };
        return (struct group){ endpoint->leader, endpoint->leader->span, &endpoint->leader->line };
}

/* Returns true if the key was accepted, and has been refused since. */
static bool is_doubtful(const struct ed_endpoint *endpoint)
{
        return endpoint->leader->span > 1 && endpoint->key_refusals > 0 && endpoint->ok > 0;
}

/* Returns true if 'a' is a better choice than 'b', which may be NULL. */
static bool is_better(const struct ed_endpoint *a, const struct ed_endpoint *b)
{
        if (b && is_doubtful(a) != is_doubtful(b))
                return is_doubtful(b);
        return !b || a->in_flight < b->in_flight;
}

/* Returns the rank of a base URL in the choice, in which the least is the best. */
static uint64_t rank_of(const struct ed_endpoint *endpoint)
{
        return (uint64_t) is_doubtful(endpoint) << 63 |
               (uint64_t) (endpoint->in_flight & INT32_MAX) << 32 | endpoint->number;
}

/* Let a base URL be chosen, or be tried, at once. */
static void choice_put(struct ed_endpoint *endpoint)
{
        endpoint->waits_for_answer = false;
        if (endpoint->base && !endpoint->is_gone && !endpoint->is_shut)
                ed_choice_put(&endpoint->all->choice, &endpoint->place, rank_of(endpoint));
}

/* Returns when a base URL that cannot be used now is looked at again. */
static int64_t look_at(const struct ed_endpoint *endpoint)
{
        int64_t soon_ns = eddy_now() + LOOK_NS;

        return endpoint->paused_until_ns > soon_ns ? endpoint->paused_until_ns : soon_ns;
}

/*
 * Reserve at the best of the base URLs that can be used now.
 *
 * Errors: -EAGAIN; EDDY_E_LIMITER_AMOUNT
 */
static int base_try(struct ed_endpoints *endpoints, uint64_t tokens,
                    struct ed_endpoint **ret_endpoint, struct eddy_reservation *reservation)
{
        struct ed_choice *choice = &endpoints->choice;
        struct ed_choice_place *place;

        while ((place = ed_choice_first(choice, eddy_now()))) {
                struct ed_endpoint *endpoint =
                        (void *) ((char *) place - offsetof(struct ed_endpoint, place));
                int err;

                if (endpoint->is_shut || endpoint->is_gone) {
                        ed_choice_drop(choice, place);
                } else if (place->rank != rank_of(endpoint)) {
                        choice_put(endpoint);
                } else if (!is_open(endpoint)) {
                        ed_choice_defer(choice, place, look_at(endpoint));
                        endpoint->waits_for_answer = true;
                } else {
                        err = eddy_limiter_try_reserve(endpoint->limiter, 1, tokens, reservation);
                        *ret_endpoint = endpoint;
                        if (err != -EAGAIN)
                                return err;
                        ed_choice_defer(choice, place, look_at(endpoint));
                }
        }
        return -EAGAIN;
}

/* Reserve at the best of several endpoints that can be used now. Errors: -EAGAIN; ED_E_SHUT */
static int group_try(struct ed_endpoints *endpoints, const struct group *group, uint64_t tokens,
                     struct ed_endpoint **ret_endpoint, struct eddy_reservation *reservation)
{
        struct ed_endpoint *endpoint = group->first, *best = NULL;
        int err = ED_E_SHUT;

        if (group->line == &endpoints->line)
                return base_try(endpoints, tokens, ret_endpoint, reservation);
        for (size_t i = 0; i < group->count; i++, endpoint = endpoint->next) {
                struct eddy_reservation got;
                int tried;

                if (!endpoint->is_shut && err == ED_E_SHUT)
                        err = -EAGAIN;
                if (!is_open(endpoint) || endpoint->is_shut || !is_better(endpoint, best))
                        continue;
                tried = eddy_limiter_try_reserve(endpoint->limiter, 1, tokens, &got);
                if (tried < 0) {
                        err = tried;
                        continue;
                }
                if (best)
                        eddy_limiter_release(best->limiter, reservation);
                best = endpoint;
                *reservation = got;
        }
        *ret_endpoint = best;
        return best ? 0 : err;
}

/* ---- base URLs ----------------------------------------------------------------------------- */

static struct ed_endpoint *leader_of(struct ed_hash_link *link)
{
        return (void *) ((char *) link - offsetof(struct ed_endpoint, base_link));
}

static struct ed_endpoint *base_find(const struct ed_endpoints *endpoints, const char *base)
{
        uint64_t hash = ed_base_url_hash(base);

        ed_hash_map_each (link, &endpoints->base_map, hash)
                if (ed_base_url_is_same(leader_of(link)->base, base))
                        return leader_of(link);
        return NULL;
}

static void gone_add(struct ed_endpoints *endpoints, struct ed_endpoint *leader)
{
        leader->gone_next = NULL;
        leader->gone_at = endpoints->gone_last;
        *endpoints->gone_last = leader;
        endpoints->gone_last = &leader->gone_next;
}

static void gone_remove(struct ed_endpoints *endpoints, struct ed_endpoint *leader)
{
        if (endpoints->gone_idle == leader)
                endpoints->gone_idle = leader->gone_next;
        *leader->gone_at = leader->gone_next;
        if (leader->gone_next)
                leader->gone_next->gone_at = leader->gone_at;
        else
                endpoints->gone_last = leader->gone_at;
}

static bool is_idle(const struct ed_endpoint *leader)
{
        const struct ed_endpoint *endpoint = leader;

        for (unsigned i = 0; i < leader->span; i++, endpoint = endpoint->next)
                if (endpoint->in_flight > 0)
                        return false;
        return leader->line.waiting == 0;
}

/* Returns the leader that has been gone for the longest time and has no request, or NULL. */
static struct ed_endpoint *oldest_gone(struct ed_endpoints *endpoints)
{
        while (endpoints->gone_idle && !is_idle(endpoints->gone_idle))
                endpoints->gone_idle = endpoints->gone_idle->gone_next;
        return endpoints->gone_idle;
}

/* End the pause of a limiter. That of the begin holds: nothing was sent that could have ended it. */
static void limiter_resume(const struct ed_endpoint *endpoint)
{
        if (endpoint->all->limits.begin_ns <= eddy_now())
                eddy_limiter_resume(endpoint->limiter);
}

/* Let the limiter forget what the server has reported. */
static void reports_forget(struct ed_endpoint *endpoint)
{
        static const struct eddy_ratelimit none = { .limit = -1,
                                                    .remaining = INT64_MAX,
                                                    .window_ns = -1 };

        eddy_limiter_learn(endpoint->limiter, EDDY_LIMITER_REQUESTS, &none);
        eddy_limiter_learn(endpoint->limiter, EDDY_LIMITER_TOKENS, &none);
        limiter_resume(endpoint);
}

/* Forget what was known about an endpoint whose place another one takes. */
static void endpoint_clear(struct ed_endpoint *endpoint, const char *name)
{
        ed_choice_drop(&endpoint->all->choice, &endpoint->place);
        *endpoint = (struct ed_endpoint){ .next = endpoint->next,
                                          .shown = endpoint->shown,
                                          .all = endpoint->all,
                                          .is_main = true,
                                          .key = endpoint->key,
                                          .leader = endpoint->leader,
                                          .span = endpoint->span,
                                          .number = endpoint->number,
                                          .limiter = endpoint->limiter,
                                          .window = UINT32_MAX };
        eddy_semaphore_init(&endpoint->line.turn, 1, 0);
        reports_forget(endpoint);
        endpoint_name(endpoint, name, endpoint->all->limits.keys);
}

/* Put a leader into the map of names, in the place of another one with the same name. */
static void name_enter(struct ed_endpoints *endpoints, struct ed_endpoint *leader)
{
        struct ed_endpoint *former = endpoint_find(endpoints, leader->name);

        leader->same_next = leader->same_former = leader;
        if (former)
                ed_hash_map_remove(&endpoints->map, &former->link);
        if (former && former->base) {
                leader->same_former = former;
                leader->same_next = former->same_next;
                former->same_next->same_former = leader;
                former->same_next = leader;
        }
        ed_hash_map_add(&endpoints->map, &leader->link, name_hash(leader->name));
}

/* A leader leaves the map of names: another base URL with the same name takes its place there. */
static void name_leave(struct ed_endpoints *endpoints, struct ed_endpoint *leader)
{
        struct ed_endpoint *other = leader->same_former;

        other->same_next = leader->same_next;
        leader->same_next->same_former = other;
        if (endpoint_find(endpoints, leader->name) != leader)
                return;
        ed_hash_map_remove(&endpoints->map, &leader->link);
        if (other != leader)
                ed_hash_map_add(&endpoints->map, &other->link, name_hash(other->name));
}

/* Give the place of a leader that is gone to another base URL. */
static void leader_clear(struct ed_endpoints *endpoints, struct ed_endpoint *leader,
                         const char *name)
{
        struct ed_endpoint *endpoint = leader;
        unsigned span = leader->span;

        gone_remove(endpoints, leader);
        if (leader->base) {
                name_leave(endpoints, leader);
                ed_hash_map_remove(&endpoints->base_map, &leader->base_link);
                eddy_free(leader->base);
        }
        for (unsigned i = 0; i < span; i++, endpoint = endpoint->next)
                endpoint_clear(endpoint, name);
        endpoints->forgotten++;
}

/* Find or make the place of another base URL. */
static int base_place(struct ed_endpoints *endpoints, const char *name,
                      struct ed_endpoint **ret_leader)
{
        unsigned span = endpoints->limits.keys > 0 ? endpoints->limits.keys : 1;
        struct ed_endpoint *leader, *endpoint;
        int err;

        if (endpoints->bases + span > ED_ENDPOINTS_BASES_MAX) {
                leader = *ret_leader = oldest_gone(endpoints);
                if (!leader)
                        return ED_E_HOSTS;
                leader_clear(endpoints, leader, name);
                return 0;
        }
        err = ed_choice_reserve(&endpoints->choice, (uint32_t) endpoints->bases + span);
        if (err < 0)
                return err;
        err = main_new(endpoints, name, &endpoints->last_base, &leader);
        endpoint = leader;
        for (unsigned i = 0; endpoint && i < leader->span; i++, endpoint = endpoint->next) {
                endpoint->number = (uint32_t) endpoints->bases++;
                endpoint->is_gone = err < 0;
        }
        if (leader && err < 0)
                gone_add(endpoints, leader);
        *ret_leader = leader;
        return err;
}

int ed_endpoints_add_base(struct ed_endpoints *endpoints, const char *base,
                          struct ed_endpoint **ret_leader)
{
        char name[EDDY_HTTP_ORIGIN_BYTES];
        struct ed_endpoint *leader, *endpoint;
        int err = eddy_http_url_origin(base, name);
        char *copy;

        if (err < 0)
                return err;
        copy = ed_text_copy(base);
        if (!copy)
                return -ENOMEM;
        err = base_place(endpoints, name, &leader);
        if (err < 0) {
                eddy_free(copy);
                return err;
        }
        endpoint = leader;
        for (unsigned i = 0; i < leader->span; i++, endpoint = endpoint->next) {
                endpoint->base = copy;
                choice_put(endpoint);
        }
        ed_hash_map_add(&endpoints->base_map, &leader->base_link, ed_base_url_hash(copy));
        name_enter(endpoints, leader); /* absolute URLs of this origin share its limits */
        *ret_leader = leader;
        return 0;
}

static void base_leave(struct ed_endpoint *leader)
{
        struct ed_endpoint *endpoint = leader;

        gone_add(leader->all, leader);
        for (unsigned i = 0; i < leader->span; i++, endpoint = endpoint->next)
                endpoint->is_gone = true;
}

/* A base URL that was gone is back. If it got no connection before, that is over. */
static void base_return(struct ed_endpoint *leader)
{
        struct ed_endpoint *endpoint = leader;

        gone_remove(leader->all, leader);
        for (unsigned i = 0; i < leader->span; i++, endpoint = endpoint->next) {
                endpoint->is_gone = false;
                if (endpoint->unreached > 0) {
                        endpoint->window = UINT32_MAX;
                        ed_endpoint_resume(endpoint);
                }
                endpoint->unreached = 0;
                endpoint->lost_was_said = false;
                ed_endpoint_reopen(endpoint);
        }
}

int ed_endpoints_list(struct ed_endpoints *endpoints, const struct ed_base_urls *list,
                      struct ed_endpoints_change *ret_change)
{
        struct ed_endpoint *endpoint;
        int err = 0;

        *ret_change = (struct ed_endpoints_change){ 0 };
        endpoints->lists++;
        endpoints->gone_idle = endpoints->gone;
        for (size_t i = 0; i < list->count; i++) {
                struct ed_endpoint *leader = base_find(endpoints, list->items[i]->text);
                int added = 0;

                ret_change->more += !leader || leader->is_gone;
                if (!leader)
                        added = ed_endpoints_add_base(endpoints, list->items[i]->text, &leader);
                else if (leader->is_gone)
                        base_return(leader);
                if (added < 0) {
                        err = added;
                        ret_change->more--;
                        continue;
                }
                leader->is_listed = true;
                leader->seen = endpoints->lists;
        }
        endpoint = endpoints->first;
        for (size_t i = 0; i < endpoints->bases; i++, endpoint = endpoint->next) {
                if (!endpoint->is_listed || endpoint->is_gone || endpoint->seen == endpoints->lists)
                        continue;
                base_leave(endpoint);
                ret_change->fewer++;
        }
        return err;
}

size_t ed_endpoints_usable(const struct ed_endpoints *endpoints)
{
        const struct ed_endpoint *endpoint = endpoints->first;
        size_t usable = 0;

        for (size_t i = 0; i < endpoints->bases; i++, endpoint = endpoint->next)
                usable += !endpoint->is_gone && !endpoint->is_shut;
        return usable;
}

bool ed_endpoint_is_left(const struct ed_endpoint *endpoint, const char *url)
{
        return endpoint->is_gone && *url == '/';
}

/* ---- the line ------------------------------------------------------------------------------ */

static void line_enter(struct ed_endpoints *endpoints, struct ed_endpoint_line *line,
                       uint64_t bytes)
{
        line->waiting++;
        line->waiting_bytes += bytes;
        if (line->rests)
                ed_room_rest(endpoints->room, 1, bytes);
}

static void line_leave(struct ed_endpoints *endpoints, struct ed_endpoint_line *line,
                       uint64_t bytes)
{
        line->waiting--;
        line->waiting_bytes -= bytes;
        if (line->rests)
                ed_room_wake(endpoints->room, 1, bytes);
}

/*
 * The first request in the line must wait: let requests of other groups be read meanwhile. Without
 * other groups, only a pause is worth the memory.
 */
static void line_rest(struct ed_endpoints *endpoints, struct ed_endpoint_line *line, bool is_paused)
{
        bool is_only = line == &endpoints->line && endpoints->count == endpoints->bases;

        if (line->rests || (is_only && !is_paused))
                return;
        line->rests = true;
        ed_room_rest(endpoints->room, line->waiting, line->waiting_bytes);
}

static void line_wake(struct ed_endpoints *endpoints, struct ed_endpoint_line *line)
{
        if (!line->rests)
                return;
        line->rests = false;
        ed_room_wake(endpoints->room, line->waiting, line->waiting_bytes);
}

/* Reserve at one of several endpoints. The caller has the turn, so no other task waits for them. */
static int group_reserve(struct ed_endpoints *endpoints, const struct group *group, uint64_t tokens,
                         struct ed_endpoint **ret_endpoint, struct eddy_reservation *reservation)
{
        int err = group_try(endpoints, group, tokens, ret_endpoint, reservation);

        /* The run ends if no base URL is left: its requests wait for that, or for another one. */
        while (err == -EAGAIN) {
                line_rest(endpoints, group->line, false);
                err = eddy_sleep(LOOK_NS);
                if (err == 0)
                        err = group_try(endpoints, group, tokens, ret_endpoint, reservation);
        }
        return err;
}

/* Reserve at an endpoint. The caller has the turn of its line. */
static int endpoint_reserve(struct ed_endpoints *endpoints, struct ed_endpoint_line *line,
                            struct ed_endpoint *endpoint, uint64_t tokens,
                            struct eddy_reservation *reservation)
{
        int err = eddy_limiter_try_reserve(endpoint->limiter, 1, tokens, reservation);

        if (err == -EAGAIN) {
                line_rest(endpoints, line, ed_endpoint_is_paused(endpoint));
                err = eddy_limiter_reserve(endpoint->limiter, 1, tokens, reservation);
        }
        while (err == 0 && !is_open(endpoint)) {
                eddy_limiter_release(endpoint->limiter, reservation);
                line_rest(endpoints, line, ed_endpoint_is_paused(endpoint));
                err = eddy_sleep(LOOK_NS);
                if (err == 0)
                        err = eddy_limiter_reserve(endpoint->limiter, 1, tokens, reservation);
        }
        if (err == 0 && endpoint->is_shut && line != &endpoints->line) {
                eddy_limiter_release(endpoint->limiter, reservation);
                err = endpoint->is_spent ? ED_E_SPENT : ED_E_SHUT;
        }
        return err;
}

int ed_endpoint_take(struct ed_endpoints *endpoints, const char *url, uint64_t tokens,
                     uint64_t bytes, struct ed_endpoint **ret_endpoint,
                     struct eddy_reservation *ret_reservation)
{
        struct ed_endpoint *endpoint = endpoints->first;
        struct ed_endpoint_line *line;
        bool is_base = *url == '/';
        struct group group;
        int err = 0;

        if (is_base)
                err = endpoints->bases == 0 ? ED_E_NO_BASE : 0;
        else
                err = host_find(endpoints, url, false, &endpoint);
        if (err < 0)
                return err;
        group = group_of(endpoints, endpoint, url);
        line = group.line;
        line_enter(endpoints, line, bytes);
        err = eddy_semaphore_acquire(&line->turn);
        if (err == 0 && (group.count > 1 || (is_base && endpoints->limits.changes)))
                err = group_reserve(endpoints, &group, tokens, &endpoint, ret_reservation);
        else if (err == 0)
                err = endpoint_reserve(endpoints, line, endpoint, tokens, ret_reservation);
        else
                goto fail_line;
        line_wake(endpoints, line);
        if (err < 0) {
                eddy_semaphore_release(&line->turn);
                goto fail_line;
        }
        line_leave(endpoints, line, bytes);
        endpoint->in_flight++;
        *ret_endpoint = endpoint;
        return 0;

fail_line:
        line_leave(endpoints, line, bytes);
        return err;
}

void ed_endpoint_pass(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint, const char *url)
{
        eddy_semaphore_release(&group_of(endpoints, endpoint, url).line->turn);
}

bool ed_endpoint_is_paused(const struct ed_endpoint *endpoint)
{
        return endpoint->is_shut || endpoint->paused_until_ns > eddy_now();
}

void ed_endpoint_give(struct ed_endpoint *endpoint)
{
        endpoint->in_flight--;
        if (endpoint->place.state == ED_CHOICE_OPEN || endpoint->waits_for_answer)
                choice_put(endpoint);
}

/* A pause has changed: count it, for the progress and the summary. */
static void pause_note(struct ed_endpoint *endpoint)
{
        int64_t now_ns = eddy_now(), end_ns = endpoint->paused_until_ns;

        if (endpoint->learned_until_ns > end_ns)
                end_ns = endpoint->learned_until_ns;
        if (end_ns < now_ns)
                end_ns = now_ns;
        if (endpoint->pause_end_ns <= now_ns) {
                endpoint->pause_end_ns = now_ns;
                endpoint->pauses += end_ns > now_ns;
        }
        endpoint->paused_ns += end_ns - endpoint->pause_end_ns;
        endpoint->pause_end_ns = end_ns;
}

int64_t ed_endpoint_paused(const struct ed_endpoint *endpoint)
{
        int64_t rest_ns = endpoint->pause_end_ns - eddy_now();

        return endpoint->paused_ns - (rest_ns > 0 ? rest_ns : 0);
}

int64_t ed_endpoints_resume(const struct ed_endpoints *endpoints)
{
        int64_t resume_ns = INT64_MAX;

        for (const struct ed_endpoint *endpoint = endpoints->first; endpoint;
             endpoint = endpoint->next)
                if (!endpoint->is_shut && endpoint->pause_end_ns < resume_ns)
                        resume_ns = endpoint->pause_end_ns;
        return resume_ns < INT64_MAX && resume_ns > eddy_now() ? resume_ns : 0;
}

/* Make the wait for a limit shorter. */
static void wait_limit(struct eddy_ratelimit *seen, int64_t wait_max_ns)
{
        if (ed_limit_wait(seen) > wait_max_ns)
                seen->reset_ns =
                        seen->refills && seen->limit > 0 && wait_max_ns < INT64_MAX / seen->limit
                                ? wait_max_ns * seen->limit
                                : wait_max_ns;
}

/* Returns the time of an answer by the server's clock, or the time of day. */
static int64_t date_of(const eddy_http_response *response)
{
        const char *date = eddy_http_response_header(response, "Date");
        int64_t now_s = eddy_time_of_day() / 1000000000;

        if (date)
                (void) !eddy_http_date_parse(date, strlen(date), now_s, &now_s);
        return now_s;
}

int64_t ed_endpoint_obey(struct ed_endpoint *endpoint, struct eddy_ratelimits seen,
                         int64_t wait_max_ns)
{
        int64_t requests_ns, tokens_ns, wait_ns;

        if (wait_max_ns > ED_DURATION_MAX_NS)
                wait_max_ns = ED_DURATION_MAX_NS;
        wait_limit(&seen.requests, wait_max_ns);
        wait_limit(&seen.tokens, wait_max_ns);
        eddy_limiter_learn(endpoint->limiter, EDDY_LIMITER_REQUESTS, &seen.requests);
        eddy_limiter_learn(endpoint->limiter, EDDY_LIMITER_TOKENS, &seen.tokens);
        requests_ns = ed_limit_wait(&seen.requests);
        tokens_ns = ed_limit_wait(&seen.tokens);
        wait_ns = requests_ns > tokens_ns ? requests_ns : tokens_ns;
        endpoint->learned_until_ns = wait_ns >= PAUSE_LEAST_NS ? eddy_now() + wait_ns : 0;
        pause_note(endpoint);
        return wait_ns;
}

int64_t ed_endpoint_learn(struct ed_endpoint *endpoint, const eddy_http_response *response,
                          int64_t wait_max_ns)
{
        struct ed_limits_seen seen;
        struct eddy_http_header header;
        int64_t date_s = -1; /* not read yet: most answers have no limits */

        ed_limits_init(&seen);
        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++) {
                if (!ed_limits_is_name(header.name))
                        continue;
                if (date_s < 0)
                        date_s = date_of(response);
                ed_limits_read(&seen, header.name, header.value, date_s);
        }
        return seen.any ? ed_endpoint_obey(endpoint, ed_limits_least(&seen), wait_max_ns) : 0;
}

/* Returns the pause after a refusal that gives no time: it doubles with each one. */
static int64_t own_pause(const struct ed_endpoint *endpoint, uint64_t random)
{
        int64_t pause_ns = THROTTLE_FIRST_NS << (endpoint->throttles < 6 ? endpoint->throttles : 6);

        if (pause_ns > THROTTLE_MOST_NS)
                pause_ns = THROTTLE_MOST_NS;
        /* From half of it to all of it, so that many clients do not return together. */
        return pause_ns / 2 + (int64_t) (random % (uint64_t) (pause_ns / 2 + 1));
}

bool ed_endpoints_adapt(const struct ed_endpoints *endpoints)
{
        return endpoints->limits.adapts && endpoints->count == 1 && !endpoints->limits.changes;
}

int64_t ed_endpoint_throttle(const struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                             int64_t wait_ns, uint64_t random)
{
        int64_t now_ns = eddy_now();
        /* Requests that were in flight together count as a single refusal. */
        bool is_first = endpoint->paused_until_ns <= now_ns;

        if (endpoint->throttles == 0)
                endpoint->throttled_since_ns = now_ns;
        if (ed_endpoints_adapt(endpoints) && wait_ns < 0) {
                endpoint->throttles++;
                return now_ns - endpoint->throttled_since_ns;
        }
        /* A server that refuses again gave too short a time, such as 0. */
        if (is_first && (wait_ns < 0 || endpoint->throttles > 0)) {
                int64_t own_ns = own_pause(endpoint, random);

                wait_ns = wait_ns > own_ns ? wait_ns : own_ns;
        }
        if (is_first) {
                endpoint->throttles++;
                if (!ed_endpoints_adapt(endpoints))
                        endpoint->window = endpoint->in_flight > 2 ? endpoint->in_flight / 2 : 1;
                endpoint->credit = 0;
        }
        if (now_ns + wait_ns > endpoint->paused_until_ns) {
                endpoint->paused_until_ns = now_ns + wait_ns;
                pause_note(endpoint);
                eddy_limiter_pause(endpoint->limiter, endpoint->paused_until_ns);
        }
        return endpoint->paused_until_ns - endpoint->throttled_since_ns;
}

bool ed_endpoint_lost(const struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                      uint64_t random, int64_t *ret_for_ns)
{
        int64_t now_ns = eddy_now();

        uint32_t most = endpoints->limits.changes && endpoint->base ? 1 : UNREACHED_MAX;

        endpoint->lost++;
        if (endpoint->unreached++ == 0)
                endpoint->unreached_since_ns = now_ns;
        if (endpoint->unreached < most)
                return false;
        ed_endpoint_throttle(endpoints, endpoint, THROTTLE_FIRST_NS, random);
        *ret_for_ns = now_ns - endpoint->unreached_since_ns;
        return true;
}

void ed_endpoint_reached(struct ed_endpoint *endpoint)
{
        endpoint->unreached = 0;
        endpoint->was_reached = true;
}

bool ed_endpoints_are_unreached(const struct ed_endpoints *endpoints)
{
        uint64_t sent = 0;

        for (const struct ed_endpoint *endpoint = endpoints->first; endpoint;
             endpoint = endpoint->next) {
                if (endpoint->lost < endpoint->sent)
                        return false;
                sent += endpoint->sent;
        }
        return sent > 0;
}

bool ed_endpoints_are_reached(const struct ed_endpoints *endpoints)
{
        for (const struct ed_endpoint *endpoint = endpoints->first; endpoint;
             endpoint = endpoint->next)
                if (endpoint->was_reached)
                        return true;
        return false;
}

bool ed_endpoint_shut(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint)
{
        endpoint->is_shut = true;
        reports_forget(endpoint); /* for the requests that wait for it */
        if (!endpoint->is_main || endpoint->is_gone)
                return true;
        return (endpoint->base && ed_endpoint_has_other(endpoints, endpoint, "/")) ||
               (!endpoint->base && ed_endpoint_has_other(endpoints, endpoint, endpoint->name));
}

bool ed_endpoint_has_other(const struct ed_endpoints *endpoints, const struct ed_endpoint *endpoint,
                           const char *url)
{
        bool is_base = *url == '/';
        const struct ed_endpoint *other = is_base ? endpoints->first : endpoint->leader;
        size_t count = is_base ? endpoints->bases : endpoint->leader->span;

        for (size_t i = 0; i < count; i++, other = other->next)
                if (!other->is_shut && other != endpoint && !(is_base && other->is_gone))
                        return true;
        return false;
}

bool ed_endpoint_is_last(const struct ed_endpoints *endpoints, const struct ed_endpoint *endpoint)
{
        for (const struct ed_endpoint *other = endpoints->first; other; other = other->next)
                if (!other->is_shut && !other->is_gone && other != endpoint)
                        return false;
        return true;
}

void ed_endpoint_reopen(struct ed_endpoint *endpoint)
{
        endpoint->is_shut = false;
        endpoint->key_refusals = 0;
        endpoint->rejected = 0;
        endpoint->throttles = 0;
        choice_put(endpoint);
}

void ed_endpoint_resume(struct ed_endpoint *endpoint)
{
        endpoint->throttles = 0;
        endpoint->paused_until_ns = eddy_now();
        pause_note(endpoint);
        limiter_resume(endpoint);
        if (endpoint->place.state == ED_CHOICE_LATER)
                choice_put(endpoint);
}

bool ed_endpoint_refuses_one(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                             const char *url, struct ed_own_refusal *own)
{
        int64_t now_ns = eddy_now();

        if (ed_own_refusal_add(own, &group_of(endpoints, endpoint, url).line->counts, now_ns))
                return true;
        endpoint->refused_ns = now_ns;
        return false;
}

void ed_endpoint_answered(struct ed_endpoints *endpoints, struct ed_endpoint *endpoint,
                          const char *url, int64_t start_ns)
{
        /* An answer to a request that was sent before the refusal shows nothing about it. */
        if (start_ns > endpoint->refused_ns)
                group_of(endpoints, endpoint, url).line->counts.answered++;
        endpoint->throttles = 0;
        if (endpoint->window == UINT32_MAX || ++endpoint->credit < ANSWERS_FOR_PLACE)
                return;
        endpoint->credit = 0;
        endpoint->window++;
}
