/*
 * io/dns.c - looking up names: names that need no query, cached answers, and one shared query for
 * all waiters of a name.
 *
 * An answer may be delivered in two parts (RFC 8305, 3). The lookup then continues: its holders get
 * the rest, a new waiter gets the first part at once, and the whole answer is cached.
 */
#include "io/dns.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "eddy/time.h"
#include "io/dns_name.h"
#include "io/watch.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"

/* Maximum parallel queries: each has a socket and a channel of tens of kilobytes. Others queue. */
enum { QUESTIONS_MAX = 256 };

/* RFC 8305, 8: the recommended delay of IPv4 addresses while IPv6 addresses may come. */
#define RESOLUTION_DELAY_NS EDDY_MS(50)

/* How long a lookup that has delivered a part is used by new waiters, or goes on without any. */
#define SHARED_NS EDDY_SEC(1)

/* A loop's resolver. */
struct resolver {
        struct ed_loop_local local;
        struct ed_loop *loop;
        struct ed_question_opts opts;
        struct ed_dns_cache cache;
        struct ed_hash_table lookups; /* in progress, by name */
        uint64_t seed;                /* of their hashes */
        struct ed_list queue;         /* lookups not yet started; first come, first served */
        struct ed_list alone;         /* lookups that go on without a waiter, the oldest first */
        size_t count, asking;
};

struct ed_lookup {
        struct ed_hash_node node;
        struct resolver *resolver;
        struct ed_list link;    /* in 'queue' or 'alone', or unlinked */
        struct ed_list waiters; /* of struct ed_found; empty only in 'alone' */
        struct ed_timer timer;  /* quiet: the end of the delay, then of sharing */
        bool asking;
        bool is_late;   /* IPv6 addresses have not come within the delay */
        bool delivered; /* a part has been */
        bool listed;    /* in the table: new waiters share it */
        struct ed_question question;
        char name[EDDY_DNS_NAME_MAX + 2];
};

static const char resolver_key;

static void lookup_free(struct ed_lookup *lookup);

static void resolver_free(struct ed_loop_local *local)
{
        struct resolver *resolver = ed_container_of(local, struct resolver, local);

        while (!ed_list_is_empty(&resolver->alone))
                lookup_free(ed_container_of(resolver->alone.next, struct ed_lookup, link));
        ed_assert(resolver->count == 0, "a loop ends while a name is being looked up");
        ed_dns_cache_fini(&resolver->cache);
        ed_hash_table_fini(&resolver->lookups);
        ed_free(resolver);
}

static struct resolver *resolver_peek(struct ed_loop *loop)
{
        struct ed_loop_local *local = ed_loop_local_find(loop, &resolver_key);

        return local ? ed_container_of(local, struct resolver, local) : NULL;
}

/* Returns the loop's resolver, creating it if necessary, or NULL if there is no memory. */
static struct resolver *resolver_get(struct ed_loop *loop)
{
        struct resolver *resolver = resolver_peek(loop);
        uint64_t seeds[2];

        if (resolver)
                return resolver;
        resolver = ed_alloc_zero(sizeof(*resolver));
        if (!resolver)
                return NULL;
        loop->sys->poll->random(loop->sys, seeds, sizeof(seeds));
        resolver->loop = loop;
        ed_dns_cache_init(&resolver->cache, seeds[0]);
        resolver->seed = seeds[1];
        ed_list_init(&resolver->queue);
        ed_list_init(&resolver->alone);
        resolver->local.key = &resolver_key;
        resolver->local.free = resolver_free;
        ed_loop_local_add(loop, &resolver->local);
        return resolver;
}

int ed_dns_set_servers(struct ed_loop *loop, const struct ed_question_opts *opts)
{
        struct resolver *resolver = resolver_get(loop);

        if (!resolver)
                return -ENOMEM;
        resolver->opts = *opts;
        return 0;
}

size_t ed_dns_lookups(struct ed_loop *loop)
{
        struct resolver *resolver = resolver_peek(loop);

        return resolver ? resolver->count : 0;
}

size_t ed_dns_cached(struct ed_loop *loop)
{
        struct resolver *resolver = resolver_peek(loop);

        return resolver ? resolver->cache.count : 0;
}

/* -- lookups in progress ----------------------------------------------------- */

static void on_timer(struct ed_timer *timer);

static struct ed_lookup *lookup_new(struct resolver *resolver, const char *name)
{
        struct ed_lookup *lookup = ed_alloc(sizeof(*lookup));

        if (!lookup)
                return NULL;
        lookup->resolver = resolver;
        lookup->asking = lookup->is_late = lookup->delivered = false;
        memcpy(lookup->name, name, strlen(name) + 1);
        ed_timer_init(&lookup->timer, on_timer);
        ed_list_init(&lookup->link);
        ed_list_init(&lookup->waiters);
        ed_hash_table_add(&resolver->lookups, &lookup->node, ed_hash_text(resolver->seed, name));
        lookup->listed = true;
        resolver->count++;
        return lookup;
}

/* Returns the lookup of a name that new waiters share, or NULL. */
static struct ed_lookup *lookup_find(struct resolver *resolver, const char *name)
{
        uint64_t hash = ed_hash_text(resolver->seed, name);

        ed_hash_each (node, &resolver->lookups, hash) {
                struct ed_lookup *lookup = ed_container_of(node, struct ed_lookup, node);

                if (strcmp(lookup->name, name) == 0)
                        return lookup;
        }
        return NULL;
}

/* New waiters do not share the lookup any more. */
static void lookup_unlist(struct ed_lookup *lookup)
{
        if (lookup->listed)
                ed_hash_table_remove(&lookup->resolver->lookups, &lookup->node);
        lookup->listed = false;
}

static void lookup_free(struct ed_lookup *lookup)
{
        struct resolver *resolver = lookup->resolver;

        if (lookup->asking) {
                resolver->asking--;
                ed_question_fini(&lookup->question);
        }
        ed_quiet_timer_cancel(resolver->loop, &lookup->timer);
        ed_list_remove(&lookup->link);
        lookup_unlist(lookup);
        resolver->count--;
        ed_free(lookup);
}

static struct ed_found *found_of(struct ed_list *link)
{
        return ed_container_of(link, struct ed_found, link);
}

/* The lookup has nothing more for 'found'. */
static void found_detach(struct ed_found *found)
{
        ed_list_remove(&found->link);
        found->lookup = NULL;
}

/* Wake the task that waits for the addresses, if any. */
static void found_wake(struct ed_found *found, int result)
{
        struct ed_task *task = found->task;

        found->task = NULL;
        if (task)
                ed_suspend_wake(task, result);
}

/* Add the part that 'found' does not have. */
static void found_complete(struct ed_found *found, const struct ed_question *question)
{
        bool has_ipv6 = found->addresses[0].family == AF_INET6;
        const struct ed_dns_answer *rest =
                &question->parts[has_ipv6 ? ED_QUESTION_IPV4 : ED_QUESTION_IPV6];

        if (rest->result > 0)
                ed_found_join(found, rest->addresses, (size_t) rest->result);
        found_wake(found, 0);
        if (found->on_more)
                found->on_more(found->arg);
}

/* Give the answer to all waiters, and end the lookup. */
static void lookup_end(struct ed_lookup *lookup, const struct ed_dns_answer *answer)
{
        struct resolver *resolver = lookup->resolver;

        ed_dns_cache_put(&resolver->cache, lookup->name, ed_loop_now(resolver->loop), answer);
        while (!ed_list_is_empty(&lookup->waiters)) {
                struct ed_found *found = found_of(lookup->waiters.next);

                found_detach(found);
                if (found->n > 0) {
                        found_complete(found, &lookup->question);
                        continue;
                }
                if (answer->result > 0)
                        ed_found_put(found, answer->addresses, (size_t) answer->result);
                found_wake(found, answer->result);
        }
        lookup_free(lookup);
}

static void on_news(struct ed_question *question);

/* Start the query. Errors: those of ed_question_ask(). */
static int lookup_ask(struct ed_lookup *lookup)
{
        struct resolver *resolver = lookup->resolver;
        int err = ed_question_ask(&lookup->question, resolver->loop, lookup->name, &resolver->opts,
                                  on_news);

        if (err < 0)
                return err;
        lookup->asking = true;
        resolver->asking++;
        return 0;
}

/* Start queued lookups as far as the limit allows. */
static void ask_next(struct resolver *resolver)
{
        while (resolver->asking < QUESTIONS_MAX && !ed_list_is_empty(&resolver->queue)) {
                struct ed_list *link = ed_list_pop_front(&resolver->queue);
                struct ed_lookup *lookup = ed_container_of(link, struct ed_lookup, link);
                struct ed_dns_answer answer = { .result = lookup_ask(lookup) };

                if (answer.result == 0 && !ed_question_is_done(&lookup->question))
                        continue;
                if (answer.result == 0)
                        ed_question_answer(&lookup->question, &answer);
                lookup_end(lookup, &answer);
        }
}

/*
 * After the last waiter has left: end the lookup, or let a lookup that has delivered a part go on
 * for a while, unless others wait for its place.
 */
static void lookup_leave(struct ed_lookup *lookup)
{
        struct resolver *resolver = lookup->resolver;

        if (!ed_list_is_empty(&lookup->waiters))
                return;
        if (lookup->delivered && lookup->listed && ed_list_is_empty(&resolver->queue)) {
                ed_list_push_back(&resolver->alone, &lookup->link);
                return;
        }
        lookup_free(lookup);
        ask_next(resolver);
}

/* -- parts of an answer -------------------------------------------------------- */

/*
 * Returns the part to deliver before the other one is known, or NULL. Callers that try addresses
 * one after the other get IPv6 addresses at once; IPv4 addresses are delayed for IPv6 addresses.
 */
static const struct ed_dns_answer *part_of(const struct ed_lookup *lookup, bool in_parts)
{
        const struct ed_dns_answer *parts = lookup->question.parts;

        if (!lookup->asking)
                return NULL;
        if (in_parts && parts[ED_QUESTION_IPV6].result > 0)
                return &parts[ED_QUESTION_IPV6];
        if (lookup->is_late && parts[ED_QUESTION_IPV4].result > 0)
                return &parts[ED_QUESTION_IPV4];
        return NULL;
}

/* A part has been delivered. */
static void lookup_delivered(struct ed_lookup *lookup)
{
        struct ed_loop *loop = lookup->resolver->loop;

        if (lookup->delivered)
                return;
        lookup->delivered = true;
        ed_quiet_timer_arm(loop, &lookup->timer, ed_loop_now(loop) + SHARED_NS);
}

/* Give a part to the waiters that want it. */
static void lookup_deliver(struct ed_lookup *lookup)
{
        bool delivered = false;

        ed_list_each_safe (link, &lookup->waiters) {
                struct ed_found *found = found_of(link);
                const struct ed_dns_answer *part = part_of(lookup, found->in_parts);

                if (found->n > 0 || !part)
                        continue;
                ed_found_put(found, part->addresses, (size_t) part->result);
                if (!found->in_parts)
                        found_detach(found);
                found_wake(found, 0);
                delivered = true;
        }
        if (!delivered)
                return;
        lookup_delivered(lookup);
        lookup_leave(lookup);
}

static void on_news(struct ed_question *question)
{
        struct ed_lookup *lookup = ed_container_of(question, struct ed_lookup, question);
        struct resolver *resolver = lookup->resolver;
        struct ed_dns_answer answer;

        if (ed_question_is_done(question)) {
                ed_question_answer(question, &answer);
                lookup_end(lookup, &answer);
                ask_next(resolver);
                return;
        }
        if (question->parts[ED_QUESTION_IPV4].result > 0)
                ed_quiet_timer_arm(resolver->loop, &lookup->timer,
                                   ed_loop_now(resolver->loop) + RESOLUTION_DELAY_NS);
        lookup_deliver(lookup);
}

static void on_timer(struct ed_timer *timer)
{
        struct ed_lookup *lookup = ed_container_of(timer, struct ed_lookup, timer);

        ed_quiet_timer_fired(lookup->resolver->loop);
        if (!lookup->delivered) {
                lookup->is_late = true;
                lookup_deliver(lookup);
                return;
        }
        lookup_unlist(lookup);
        ed_list_remove(&lookup->link);
        lookup_leave(lookup);
}

/* -- the call -------------------------------------------------------------- */

/* The task was cancelled; the last waiter to leave ends the query. */
static bool take_back(void *arg)
{
        ed_found_end(arg);
        return true;
}

static int found_park(struct ed_found *found, struct ed_task *task)
{
        struct ed_loop *loop = task->loop;
        int result;

        found->task = task;
        loop->waits++;
        ed_debug_net(task);
        result = ed_suspend_park(task, "the addresses of a name", take_back, found);
        loop->waits--;
        return result < 0 ? result : 0;
}

static int lookup_wait(struct ed_lookup *lookup, struct ed_found *found, struct ed_task *task)
{
        found->lookup = lookup;
        ed_list_push_back(&lookup->waiters, &found->link);
        return found_park(found, task);
}

/* Share a lookup in progress, whose first part may be known. */
static int lookup_join(struct ed_lookup *lookup, struct ed_found *found, struct ed_task *task)
{
        const struct ed_dns_answer *part = part_of(lookup, found->in_parts);

        if (part && !found->in_parts) {
                ed_found_put(found, part->addresses, (size_t) part->result);
                ed_suspend_passed(task);
                return 0;
        }
        if (lookup->asking)
                ed_list_remove(&lookup->link); /* it is not alone any more */
        if (!part)
                return lookup_wait(lookup, found, task);
        ed_found_put(found, part->addresses, (size_t) part->result);
        found->lookup = lookup;
        ed_list_push_back(&lookup->waiters, &found->link);
        lookup_delivered(lookup);
        ed_suspend_passed(task);
        return 0;
}

/* Start a lookup for a name without one; the answer may be available at once. */
static int lookup_begin(struct resolver *resolver, const char *name, struct ed_found *found,
                        struct ed_task *task)
{
        struct ed_lookup *lookup = lookup_new(resolver, name);
        struct ed_dns_answer answer;
        int err;

        if (!lookup)
                return -ENOMEM;
        if (resolver->asking >= QUESTIONS_MAX && !ed_list_is_empty(&resolver->alone))
                lookup_free(ed_container_of(resolver->alone.next, struct ed_lookup, link));
        if (resolver->asking >= QUESTIONS_MAX) {
                ed_list_push_back(&resolver->queue, &lookup->link);
                return lookup_wait(lookup, found, task);
        }
        err = lookup_ask(lookup);
        if (err < 0) {
                lookup_free(lookup);
                return err;
        }
        if (!ed_question_is_done(&lookup->question))
                return lookup_wait(lookup, found, task);
        ed_question_answer(&lookup->question, &answer);
        lookup_end(lookup, &answer);
        if (answer.result > 0)
                ed_found_put(found, answer.addresses, (size_t) answer.result);
        ed_suspend_passed(task);
        return answer.result < 0 ? answer.result : 0;
}

static int ask(const char *name, struct ed_found *found, struct ed_task *task)
{
        struct resolver *resolver = resolver_get(task->loop);
        struct ed_lookup *lookup;
        int result;

        if (!resolver)
                return -ENOMEM;
        result = ed_dns_cache_get(&resolver->cache, name, ed_loop_now(task->loop), found->addresses,
                                  EDDY_DNS_ADDRESSES_MAX);
        if (result != -EAGAIN) {
                found->n = result > 0 ? (size_t) result : 0;
                ed_suspend_passed(task);
                return result < 0 ? result : 0;
        }
        lookup = lookup_find(resolver, name);
        if (lookup)
                return lookup_join(lookup, found, task);
        return lookup_begin(resolver, name, found, task);
}

/* Ask a table that resolves names itself. */
static int ask_table(const char *name, struct ed_found *found, struct ed_task *task)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];
        struct ed_sys *sys = task->loop->sys;
        int n = sys->lookup(sys, name, list, EDDY_DNS_ADDRESSES_MAX);

        if (n < 0)
                return ed_io_error(n);
        found->n =
                ed_dns_order(list, (size_t) n, AF_INET6, found->addresses, EDDY_DNS_ADDRESSES_MAX);
        return 0;
}

static void put_loopback(struct ed_found *found)
{
        ed_address_loopback(AF_INET6, &found->addresses[0]);
        ed_address_loopback(AF_INET, &found->addresses[1]);
        found->n = 2;
}

static int look_up(const char *host, struct ed_found *found)
{
        struct ed_task *task;
        struct ed_name name;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        err = ed_name_parse(host, &name);
        if (err == 0 && name.kind == ED_NAME_ASK && !task->loop->sys->lookup)
                return ask(name.text, found, task);
        if (err < 0) {
                /* 'err' is set already. */
        } else if (name.kind == ED_NAME_ASK) {
                err = ask_table(name.text, found, task);
        } else if (name.kind == ED_NAME_ADDRESS) {
                ed_found_put(found, &name.address, 1);
        } else if (name.kind == ED_NAME_LOOPBACK) {
                put_loopback(found);
        } else {
                err = EDDY_E_DNS_NOT_FOUND;
        }
        ed_suspend_passed(task);
        return err;
}

int ed_found_look_up(const char *host, struct ed_found *found)
{
        ed_found_init(found);
        found->in_parts = true;
        return look_up(host, found);
}

int ed_found_wait(struct ed_found *found)
{
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        return err < 0 ? err : found_park(found, task);
}

void ed_found_end(struct ed_found *found)
{
        struct ed_lookup *lookup = found->lookup;

        if (!lookup)
                return;
        found->task = NULL;
        found_detach(found);
        lookup_leave(lookup);
}

int eddy_dns_lookup(const char *host, struct eddy_address *ret_addresses, size_t max)
{
        struct ed_found found;
        int err;

        ed_found_init(&found);
        err = look_up(host, &found);
        return err < 0 ? err : ed_dns_hand_out((int) found.n, found.addresses, ret_addresses, max);
}
