/*
 * io/dns.c - looking up names: names that need no query, cached answers, and one shared query for
 * all waiters of a name.
 */
#include "io/dns.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "io/dns_name.h"
#include "io/watch.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"

/* Maximum parallel queries: each has a socket and a channel of tens of kilobytes. Others queue. */
enum { QUESTIONS_MAX = 256 };

/* A loop's resolver. */
struct resolver {
        struct ed_loop_local local;
        struct ed_loop *loop;
        struct ed_question_opts opts;
        struct ed_dns_cache cache;
        struct ed_dns_table lookups; /* in progress, by name */
        struct ed_list queue;        /* lookups not yet started; first come, first served */
        size_t count, asking;
};

struct lookup {
        struct ed_dns_node node;
        struct resolver *resolver;
        struct ed_list link;    /* in the queue, or unlinked */
        struct ed_list waiters; /* never empty while other tasks run */
        bool asking;
        struct ed_question question;
        char name[EDDY_DNS_NAME_MAX + 2];
};

/* A task that waits for a lookup, on the task's stack. */
struct waiter {
        struct ed_list link;
        struct lookup *lookup;
        struct ed_task *task;
        struct eddy_address *ret_addresses;
        size_t max;
};

static const char resolver_key;

static void resolver_free(struct ed_loop_local *local)
{
        struct resolver *resolver = ed_container_of(local, struct resolver, local);

        ed_assert(resolver->count == 0, "a loop ends while a name is being looked up");
        ed_dns_cache_fini(&resolver->cache);
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
        loop->sys->ops->random(loop->sys, seeds, sizeof(seeds));
        resolver->loop = loop;
        ed_dns_cache_init(&resolver->cache, seeds[0]);
        ed_dns_table_init(&resolver->lookups, seeds[1]);
        ed_list_init(&resolver->queue);
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

static struct lookup *lookup_new(struct resolver *resolver, const char *name)
{
        struct lookup *lookup = ed_alloc(sizeof(*lookup));

        if (!lookup)
                return NULL;
        lookup->resolver = resolver;
        lookup->asking = false;
        memcpy(lookup->name, name, strlen(name) + 1);
        lookup->node.name = lookup->name;
        ed_list_init(&lookup->link);
        ed_list_init(&lookup->waiters);
        ed_dns_table_add(&resolver->lookups, &lookup->node);
        resolver->count++;
        return lookup;
}

static void lookup_free(struct lookup *lookup)
{
        struct resolver *resolver = lookup->resolver;

        if (lookup->asking) {
                resolver->asking--;
                ed_question_fini(&lookup->question);
        }
        ed_list_remove(&lookup->link);
        ed_dns_table_remove(&resolver->lookups, &lookup->node);
        resolver->count--;
        ed_free(lookup);
}

/* Give the answer to all waiters, and end the lookup. */
static void lookup_end(struct lookup *lookup, const struct ed_dns_answer *answer)
{
        struct resolver *resolver = lookup->resolver;
        struct ed_list *link;

        ed_dns_cache_put(&resolver->cache, lookup->name, ed_loop_now(resolver->loop), answer);
        while ((link = ed_list_pop_front(&lookup->waiters))) {
                struct waiter *waiter = ed_container_of(link, struct waiter, link);

                ed_suspend_wake(waiter->task, ed_dns_hand_out(answer->result, answer->addresses,
                                                              waiter->ret_addresses, waiter->max));
        }
        lookup_free(lookup);
}

static void ask_next(struct resolver *resolver);

static void on_done(struct ed_question *question)
{
        struct lookup *lookup = ed_container_of(question, struct lookup, question);
        struct resolver *resolver = lookup->resolver;

        lookup_end(lookup, &question->answer);
        ask_next(resolver);
}

/* Start the query. Errors: those of ed_question_ask(). */
static int lookup_ask(struct lookup *lookup)
{
        struct resolver *resolver = lookup->resolver;
        int err = ed_question_ask(&lookup->question, resolver->loop, lookup->name, &resolver->opts,
                                  on_done);

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
                struct lookup *lookup = ed_container_of(link, struct lookup, link);
                struct ed_dns_answer failed = { .result = lookup_ask(lookup) };

                if (failed.result < 0)
                        lookup_end(lookup, &failed);
                else if (lookup->question.done)
                        lookup_end(lookup, &lookup->question.answer);
        }
}

/* The waiter's task was cancelled; the last waiter to leave cancels the query. */
static bool take_back(void *arg)
{
        struct waiter *waiter = arg;
        struct lookup *lookup = waiter->lookup;
        struct resolver *resolver = lookup->resolver;

        ed_list_remove(&waiter->link);
        if (ed_list_is_empty(&lookup->waiters)) {
                lookup_free(lookup);
                ask_next(resolver);
        }
        return true;
}

/* -- the call -------------------------------------------------------------- */

static int lookup_wait(struct lookup *lookup, struct ed_task *task,
                       struct eddy_address *ret_addresses, size_t max)
{
        struct ed_loop *loop = task->loop;
        struct waiter waiter = {
                .lookup = lookup, .task = task, .ret_addresses = ret_addresses, .max = max
        };
        int result;

        ed_list_push_back(&lookup->waiters, &waiter.link);
        loop->waits++;
        ed_debug_net(task);
        result = ed_suspend_park(task, "the addresses of a name", take_back, &waiter);
        loop->waits--;
        return result;
}

/* Start a lookup for a name without one; the answer may be available at once. */
static int lookup_begin(struct resolver *resolver, const char *name, struct ed_task *task,
                        struct eddy_address *ret_addresses, size_t max)
{
        struct lookup *lookup = lookup_new(resolver, name);
        int err;

        if (!lookup)
                return -ENOMEM;
        if (resolver->asking >= QUESTIONS_MAX) {
                ed_list_push_back(&resolver->queue, &lookup->link);
                return lookup_wait(lookup, task, ret_addresses, max);
        }
        err = lookup_ask(lookup);
        if (err < 0) {
                lookup_free(lookup);
                return err;
        }
        if (!lookup->question.done)
                return lookup_wait(lookup, task, ret_addresses, max);
        err = ed_dns_hand_out(lookup->question.answer.result, lookup->question.answer.addresses,
                              ret_addresses, max);
        lookup_end(lookup, &lookup->question.answer);
        ed_suspend_passed(task);
        return err;
}

static int look_up(const char *name, struct ed_task *task, struct eddy_address *ret_addresses,
                   size_t max)
{
        struct resolver *resolver = resolver_get(task->loop);
        struct ed_dns_node *node;
        int result;

        if (!resolver)
                return -ENOMEM;
        result = ed_dns_cache_get(&resolver->cache, name, ed_loop_now(task->loop), ret_addresses,
                                  max);
        if (result != -EAGAIN) {
                ed_suspend_passed(task);
                return result;
        }
        node = ed_dns_table_find(&resolver->lookups, name);
        if (node)
                return lookup_wait(ed_container_of(node, struct lookup, node), task, ret_addresses,
                                   max);
        return lookup_begin(resolver, name, task, ret_addresses, max);
}

/* Ask a table that resolves names itself. */
static int look_up_in_table(const char *name, struct ed_task *task,
                            struct eddy_address *ret_addresses, size_t max)
{
        struct eddy_address found[EDDY_DNS_ADDRESSES_MAX];
        struct ed_dns_answer answer;
        struct ed_sys *sys = task->loop->sys;

        answer.result = sys->ops->lookup(sys, name, found, EDDY_DNS_ADDRESSES_MAX);
        if (answer.result > 0)
                ed_dns_order(found, (size_t) answer.result, answer.addresses,
                             EDDY_DNS_ADDRESSES_MAX);
        return ed_dns_hand_out(ed_io_error(answer.result), answer.addresses, ret_addresses, max);
}

int eddy_dns_lookup(const char *host, struct eddy_address *ret_addresses, size_t max)
{
        struct eddy_address loopback[2];
        struct ed_task *task;
        struct ed_name name;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        err = ed_name_parse(host, &name);
        if (err == 0 && name.kind == ED_NAME_ASK && !task->loop->sys->ops->lookup)
                return look_up(name.text, task, ret_addresses, max);
        if (err < 0) {
                /* 'err' is set already. */
        } else if (name.kind == ED_NAME_ASK) {
                err = look_up_in_table(name.text, task, ret_addresses, max);
        } else if (name.kind == ED_NAME_ADDRESS) {
                err = ed_dns_hand_out(1, &name.address, ret_addresses, max);
        } else if (name.kind == ED_NAME_LOOPBACK) {
                ed_address_loopback(AF_INET6, &loopback[0]);
                ed_address_loopback(AF_INET, &loopback[1]);
                err = ed_dns_hand_out(2, loopback, ret_addresses, max);
        } else {
                err = EDDY_E_DNS_NOT_FOUND;
        }
        ed_suspend_passed(task);
        return err;
}
