/*
 * pool/pool.c - a pool: places for items, a line of tasks that wait, and tasks that tend items.
 *
 * A place is free, or holds an item that is opened, lent, idle, or tended (reset or closed) by a task
 * of the pool; only places that are not free count against the limits, and no other counter exists.
 * serve() gives idle items and free places to the line; everything that can help a waiter calls it.
 * A waiter gets the index of a place: with an item, or empty, so that the waiter opens one.
 *
 * A borrower that finds its item broken gives up the place and goes to the head of the line, since
 * the new item has to obey the limits of openings too.
 */
#include "eddy/pool.h"

#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "pool/lent.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/run.h"
#include "scope/vars.h"
#include "scope/waiters.h"

enum { SIZE_DEFAULT = 10, OPENING_DEFAULT = 8 };

/* A result of refresh(), which no operation of the program can return: the item was closed. */
enum { TRY_ANOTHER = 1 };

#define OPEN_TIMEOUT_NS EDDY_SEC(30)
#define TIMEOUT_NS      EDDY_SEC(5)
#define PING_AFTER_NS   EDDY_SEC(30)
#define IDLE_MAX_NS     EDDY_MIN(5)
#define LIMIT_MAX_NS    (INT64_MAX / 4) /* added to a time of the clock, it does not overflow */

enum place_state { FREE, LENT, BACK, IDLE, TENDED }; /* BACK: until the end of give_back() */

/* The work of a task of the pool on an item. */
enum plan { RESET, CLOSE, CLOSE_NOW };

struct place {
        struct ed_list link; /* of the pool's free places, or of its idle items */
        eddy_pool *pool;
        void *item;
        bool is_open;    /* there is an item */
        bool is_checked; /* when it came back; a waiter gets it in the same turn of the loop */
        enum place_state state;
        enum plan plan;
        eddy_scope *opening;           /* of 'open' or 'ping', while it runs */
        struct eddy_pool_fault *fault; /* of the loan that opens the item, or NULL */
        uint64_t number;               /* of the loan; 0: none */
        uint64_t loans;
        uint64_t generation; /* of the pool when the item was opened */
        int64_t opened_ns;
        int64_t idle_ns; /* since */
        int64_t lent_ns; /* since */
        const char *text;
};

/* Debug mode's notes. */
struct notes {
        char waits_for[ED_POOL_LENT_BYTES]; /* of the task in eddy_pool_close() */
        char names[][ED_TASK_CALLED_BYTES]; /* of the borrowers, by place */
};

struct eddy_pool {
        struct ed_member member;
        struct eddy_pool_opts opts;
        void *line[2];
        struct ed_timer idle_timer; /* of the item that is idle longest */
        struct ed_timer gap_timer;  /* of the next opening */
        struct ed_list free;
        struct ed_list idle; /* the last one used first */
        uint64_t generation;
        uint64_t number; /* of the last loan */
        int64_t next_open_ns;
        struct ed_task *closer; /* waits in eddy_pool_close() */
        bool is_closing;        /* a task is in eddy_pool_close() */
        uint32_t resetting;
        bool is_closed;
        struct notes *notes; /* NULL: not in debug mode */
        struct eddy_pool_stats stats;
        uint32_t places_count;
        struct place places[];
};

/* --- options --- */

/* Returns INT64_MAX for no limit. */
static int64_t limit_of(int64_t value_ns, int64_t default_ns)
{
        if (value_ns == 0)
                return default_ns;
        return value_ns < 0 || value_ns > LIMIT_MAX_NS ? INT64_MAX : value_ns;
}

static int fill_in(struct eddy_pool_opts *opts)
{
        if (!opts->ops || !opts->ops->open || !opts->ops->close || opts->opening_gap_ns < 0 ||
            opts->opening_gap_ns > LIMIT_MAX_NS || opts->age_max_ns < 0 ||
            opts->reset_timeout_ns < 0 || opts->close_timeout_ns < 0)
                return -EINVAL;
        opts->size = opts->size ? opts->size : SIZE_DEFAULT;
        if (opts->size > EDDY_POOL_ITEMS_MAX || opts->overflow > EDDY_POOL_ITEMS_MAX - opts->size ||
            opts->waiters_max > EDDY_POOL_WAITERS_MAX)
                return -EINVAL;
        if (opts->waiters_max == 0)
                opts->waiters_max = EDDY_POOL_WAITERS_MAX;
        if (opts->opening_max == 0)
                opts->opening_max = OPENING_DEFAULT;
        if (opts->open_timeout_ns == 0)
                opts->open_timeout_ns = OPEN_TIMEOUT_NS;
        if (opts->reset_timeout_ns == 0)
                opts->reset_timeout_ns = TIMEOUT_NS;
        if (opts->close_timeout_ns == 0)
                opts->close_timeout_ns = TIMEOUT_NS;
        opts->ping_after_ns =
                opts->ping_after_ns < 0 ? -1 : limit_of(opts->ping_after_ns, PING_AFTER_NS);
        opts->idle_max_ns = limit_of(opts->idle_max_ns, IDLE_MAX_NS);
        opts->age_max_ns = limit_of(opts->age_max_ns, INT64_MAX);
        return 0;
}

/* --- places --- */

static bool is_in_loop(const eddy_pool *pool)
{
        return pool->member.loop && pool->member.loop == ed_loop_current;
}

static uint32_t index_of(const struct place *place)
{
        return (uint32_t) (place - place->pool->places);
}

static void place_free(struct place *place)
{
        place->state = FREE;
        place->is_open = false;
        ed_list_push_front(&place->pool->free, &place->link);
        place->pool->stats.open--;
}

static bool is_expired(const struct place *place)
{
        const eddy_pool *pool = place->pool;

        return place->generation != pool->generation ||
               (pool->opts.loans_max > 0 && place->loans >= pool->opts.loans_max) ||
               ed_loop_now(pool->member.loop) - place->opened_ns > pool->opts.age_max_ns;
}

static int check(const struct place *place, int otherwise)
{
        const struct eddy_pool_opts *opts = &place->pool->opts;

        return opts->ops->check ? opts->ops->check(opts->arg, place->item) : otherwise;
}

/*
 * Call 'open' or another one of the operations with a limit of time (below 0: none). eddy_pool_close()
 * cancels it, if 'is_stoppable'.
 */
static int timed(struct place *place, int (*op)(struct place *place), int64_t timeout_ns,
                 bool is_stoppable)
{
        struct eddy_scope_opts limit = { .timeout_ns = timeout_ns < 0 ? 0 : timeout_ns };
        eddy_pool *pool = place->pool;
        struct ed_task *task = ed_task_running();
        struct ed_vars *vars = ed_vars_begin(task);
        eddy_scope scope;
        bool is_late;
        int err;

        eddy_scope_begin(&scope, &limit);
        if (is_stoppable)
                place->opening = &scope;
        err = op(place);
        place->opening = NULL;
        ed_vars_end(task, vars);
        is_late = eddy_scope_expired(&scope);
        (void) eddy_scope_end(&scope);
        if (err != -ECANCELED || task->inner->flags & ED_NODE_CANCELLED)
                return err;
        if (pool->is_closed && is_stoppable)
                return EDDY_E_POOL_CLOSED;
        return is_late ? -ETIMEDOUT : err;
}

static int open_item(struct place *place)
{
        const struct eddy_pool_opts *opts = &place->pool->opts;
        int err = opts->ops->open(opts->arg, &place->item);

        if (err < 0 && place->fault && opts->ops->fault && !place->pool->is_closed)
                opts->ops->fault(opts->arg, place->fault);
        return err;
}

static int ping_item(struct place *place)
{
        return place->pool->opts.ops->ping(place->pool->opts.arg, place->item);
}

static int reset_item(struct place *place)
{
        return place->pool->opts.ops->reset(place->pool->opts.arg, place->item);
}

/* The place remains taken. */
static void close_item(struct place *place, bool now)
{
        eddy_pool *pool = place->pool;
        struct eddy_scope_opts limit = { .timeout_ns = now ? -1 : pool->opts.close_timeout_ns };
        struct ed_task *task = ed_task_running();
        struct ed_vars *vars;
        eddy_scope scope;

        pool->stats.closed++;
        place->is_open = false;
        if (!task) {
                pool->opts.ops->close(pool->opts.arg, place->item);
                return;
        }
        vars = ed_vars_begin(task);
        eddy_scope_begin(&scope, &limit);
        pool->opts.ops->close(pool->opts.arg, place->item);
        ed_vars_end(task, vars);
        (void) eddy_scope_end(&scope);
}

/* --- the line --- */

/* A task that waits; on its stack. */
struct turn {
        struct ed_waiter waiter;
        const char *text; /* of its call */
};

static bool may_open(eddy_pool *pool)
{
        int64_t now_ns;

        if (ed_list_is_empty(&pool->free) || pool->stats.opening >= pool->opts.opening_max)
                return false;
        if (pool->opts.opening_gap_ns == 0)
                return true;
        now_ns = ed_loop_now(pool->member.loop);
        if (now_ns < pool->next_open_ns) {
                ed_timer_arm(&pool->member.loop->timers, &pool->gap_timer, pool->next_open_ns);
                return false;
        }
        pool->next_open_ns = now_ns + pool->opts.opening_gap_ns;
        return true;
}

static void note_borrower(const struct place *place, const struct ed_task *task)
{
        char *name = place->pool->notes->names[index_of(place)], buf[ED_TASK_CALLED_BYTES];

        snprintf(name, ED_TASK_CALLED_BYTES, "%s", ed_task_name(task, buf, sizeof(buf)));
}

/*
 * Take an idle item, or a free place to open one, for the call of 'task' at 'text'.  Returns NULL if
 * there is neither.
 */
static struct place *take(eddy_pool *pool, const struct ed_task *task, const char *text)
{
        struct place *place;

        if (!ed_list_is_empty(&pool->idle)) {
                struct ed_list *link = pool->opts.fifo ? pool->idle.prev : pool->idle.next;

                place = ed_container_of(link, struct place, link);
                ed_list_remove(link);
                pool->stats.idle--;
        } else if (may_open(pool)) {
                place = ed_container_of(ed_list_pop_front(&pool->free), struct place, link);
                pool->stats.open++;
                pool->stats.opening++;
        } else {
                return NULL;
        }
        place->state = LENT;
        place->text = text;
        place->lent_ns = ed_loop_now(pool->member.loop);
        pool->stats.lent++;
        if (pool->notes)
                note_borrower(place, task);
        return place;
}

static void serve(eddy_pool *pool)
{
        while (!pool->is_closed && pool->stats.waiting > 0) {
                struct ed_waiter *first = ed_waiters_first(pool->line);
                const struct turn *turn = ed_container_of(first, struct turn, waiter);
                struct place *place = take(pool, first->task, turn->text);

                if (!place)
                        return;
                pool->stats.waiting--;
                (void) ed_waiters_wake(pool->line, (int) index_of(place));
        }
}

static void pool_free(eddy_pool *pool)
{
        if (pool->opts.ops->release)
                pool->opts.ops->release(pool->opts.arg);
        ed_member_leave(&pool->member);
        ed_free(pool->notes);
        ed_free(pool);
}

/* After place_free(): the last step of a call or a task, since a closed pool may be gone after it. */
static void settle(eddy_pool *pool)
{
        if (!pool->is_closed) {
                serve(pool);
        } else if (pool->stats.open == 0) {
                if (!pool->is_closing)
                        pool_free(pool);
                else if (pool->closer)
                        ed_suspend_wake(pool->closer, 0);
        }
}

static void on_gap(struct ed_timer *timer)
{
        serve(ed_container_of(timer, eddy_pool, gap_timer));
}

static bool leave_line(void *arg)
{
        struct ed_waiter *waiter = arg;

        ((eddy_pool *) waiter->item)->stats.waiting--;
        ed_waiters_remove(waiter);
        return true;
}

static void push_first(eddy_pool *pool, struct ed_waiter *waiter)
{
        struct ed_list *head = ed_waiters_head(pool->line);

        if (head->next)
                ed_list_push_front(head, &waiter->link);
        else
                ed_waiters_push(pool->line, waiter);
}

/* Take a place, or wait for one.  'again': the caller has had a place already. */
static int wait_turn(eddy_pool *pool, struct ed_task *task, const char *text, bool again,
                     struct place **ret_place)
{
        struct place *place = again || pool->stats.waiting == 0 ? take(pool, task, text) : NULL;
        struct turn turn = { .text = text };
        int64_t began_ns, waited_ns;
        int index;

        if (place) {
                *ret_place = place;
                return 0;
        }
        if (pool->stats.waiting >= pool->opts.waiters_max && !again)
                return EDDY_E_POOL_FULL;
        ed_waiter_init(&turn.waiter, task, pool);
        if (again)
                push_first(pool, &turn.waiter);
        else
                ed_waiters_push(pool->line, &turn.waiter);
        pool->stats.waiting++;
        began_ns = ed_loop_now(pool->member.loop);
        index = ed_suspend_park(task, "an item of a pool", leave_line, &turn.waiter);
        if (index < 0)
                return index;
        waited_ns = ed_loop_now(pool->member.loop) - began_ns;
        pool->stats.waits++;
        pool->stats.waited_ns += waited_ns;
        if (waited_ns > pool->stats.waited_max_ns)
                pool->stats.waited_max_ns = waited_ns;
        *ret_place = &pool->places[index];
        return 0;
}

/* --- tasks that tend items --- */

static void make_idle(struct place *place);

/* The task. */
static int tend_run(void *arg)
{
        struct place *place = arg;
        eddy_pool *pool = place->pool;

        if (place->plan == RESET) {
                int err = timed(place, reset_item, pool->opts.reset_timeout_ns, false);

                pool->resetting--;
                if (err >= 0 && check(place, EDDY_POOL_READY) == EDDY_POOL_READY) {
                        make_idle(place);
                        return 0;
                }
                pool->stats.broken++;
                place->plan = CLOSE_NOW;
        }
        close_item(place, place->plan == CLOSE_NOW);
        place_free(place);
        settle(pool);
        return 0;
}

static void tend(struct place *place, enum plan plan)
{
        eddy_pool *pool = place->pool;
        struct ed_task *task;

        place->state = TENDED;
        place->plan = plan;
        pool->resetting += plan == RESET;
        if (is_in_loop(pool) &&
            ed_background_start(pool->member.loop, tend_run, place, "pool_item", NULL, &task) == 0)
                return;
        /* The run is ending, or there is no memory for a task. */
        if (plan == RESET) {
                pool->resetting--;
                pool->stats.broken++;
        }
        close_item(place, true);
        place_free(place);
        settle(pool);
}

/* Close the items that have been idle for too long. */
static void on_idle(struct ed_timer *timer)
{
        eddy_pool *pool = ed_container_of(timer, eddy_pool, idle_timer);
        int64_t now_ns = ed_loop_now(pool->member.loop);

        while (!ed_list_is_empty(&pool->idle)) {
                struct place *place = ed_container_of(pool->idle.prev, struct place, link);

                if (now_ns - place->idle_ns < pool->opts.idle_max_ns) {
                        ed_timer_arm(&pool->member.loop->timers, timer,
                                     place->idle_ns + pool->opts.idle_max_ns);
                        return;
                }
                ed_list_remove(&place->link);
                pool->stats.idle--;
                pool->stats.expired++;
                tend(place, CLOSE);
        }
}

/* The item may be lent.  A surplus one, or one that is too old, is closed instead. */
static void make_idle(struct place *place)
{
        eddy_pool *pool = place->pool;
        uint32_t others = pool->stats.lent + pool->stats.idle + pool->resetting;
        bool is_surplus = others >= pool->opts.size && pool->stats.waiting == 0;

        if (pool->is_closed || is_surplus || is_expired(place)) {
                pool->stats.expired += !pool->is_closed && !is_surplus;
                if (place->state == TENDED) {
                        place->plan = CLOSE;
                        (void) tend_run(place);
                } else {
                        tend(place, CLOSE);
                }
                return;
        }
        place->state = IDLE;
        place->idle_ns = ed_loop_now(pool->member.loop);
        ed_list_push_front(&pool->idle, &place->link);
        pool->stats.idle++;
        if (pool->opts.idle_max_ns != INT64_MAX && !pool->idle_timer.armed)
                ed_timer_arm(&pool->member.loop->timers, &pool->idle_timer,
                             place->idle_ns + pool->opts.idle_max_ns);
        serve(pool);
}

/* --- borrowing --- */

/* An opening has returned -ETIMEDOUT: its own error, or because of the pool's limit. */
static void explain_late(const struct place *place, struct eddy_pool_fault *fault)
{
        const eddy_pool *pool = place->pool;
        int64_t limit_ns = pool->opts.open_timeout_ns;

        if (limit_ns > 0 && !fault->text[0] &&
            ed_loop_now(pool->member.loop) - place->opened_ns >= limit_ns)
                snprintf(fault->text, sizeof(fault->text),
                         "the opening took longer than %lld ms (open_timeout_ns)",
                         (long long) (limit_ns / EDDY_MS(1)));
}

/* Open an item in an empty place that take() has counted as an opening. 'fault' may be NULL. */
static int open_place(struct place *place, struct eddy_pool_fault *fault)
{
        eddy_pool *pool = place->pool;
        int err;

        place->generation = pool->generation;
        place->opened_ns = ed_loop_now(pool->member.loop);
        place->loans = 0;
        place->item = NULL;
        place->fault = fault;
        err = timed(place, open_item, pool->opts.open_timeout_ns, true);
        place->fault = NULL;
        pool->stats.opening--;
        if (err < 0) {
                pool->stats.failed++;
                if (err == -ETIMEDOUT && fault)
                        explain_late(place, fault);
                return err;
        }
        place->is_open = true;
        pool->stats.opened++;
        if (pool->is_closed) {
                close_item(place, true);
                return EDDY_E_POOL_CLOSED;
        }
        serve(pool);
        return 0;
}

/* Returns 0 if an item that was idle may be lent. Otherwise the item was closed. */
static int refresh(struct place *place)
{
        eddy_pool *pool = place->pool;
        int64_t idle_ns = ed_loop_now(pool->member.loop) - place->idle_ns;
        bool is_ready = place->is_checked || check(place, EDDY_POOL_READY) == EDDY_POOL_READY;
        int err = is_ready ? 0 : TRY_ANOTHER;

        place->is_checked = false;
        if (is_expired(place)) {
                pool->stats.expired++;
                close_item(place, err != 0);
                return TRY_ANOTHER;
        }
        if (err == 0 && pool->opts.ops->ping && idle_ns > pool->opts.ping_after_ns) {
                err = timed(place, ping_item, pool->opts.reset_timeout_ns, true);
                if (err >= 0) {
                        err = 0;
                } else if (err != -ECANCELED && err != EDDY_E_POOL_CLOSED) {
                        pool->generation++;
                        err = TRY_ANOTHER;
                }
        }
        if (err == 0)
                return 0;
        pool->stats.broken++;
        close_item(place, true);
        return err;
}

/* The pool was closed after a waiter had got the place, and before the waiter ran. */
static int drop_turn(struct place *place)
{
        if (place->is_open)
                close_item(place, true);
        else
                place->pool->stats.opening--;
        return EDDY_E_POOL_CLOSED;
}

/* Get a place with an item that may be lent. */
static int borrow(eddy_pool *pool, struct ed_task *task, const char *text,
                  struct eddy_pool_fault *fault, struct place **ret_place)
{
        struct place *place;
        bool again = false;
        int err;

        for (;;) {
                err = pool->is_closed ? EDDY_E_POOL_CLOSED
                                      : wait_turn(pool, task, text, again, &place);
                if (err < 0)
                        return err;
                if (pool->is_closed)
                        err = drop_turn(place);
                else
                        err = place->is_open ? refresh(place) : open_place(place, fault);
                if (err == 0) {
                        *ret_place = place;
                        return 0;
                }
                pool->stats.lent--;
                place_free(place);
                if (err != TRY_ANOTHER || pool->is_closed) {
                        settle(pool);
                        return err == TRY_ANOTHER ? EDDY_E_POOL_CLOSED : err;
                }
                again = true;
        }
}

int eddy_pool_acquire_at(eddy_pool *pool, eddy_pool_loan *loan, const char *text)
{
        struct ed_task *task;
        struct place *place;
        int err;

        if (!pool || !loan)
                return -EINVAL;
        if (loan->pool)
                return -EBUSY;
        if (loan->ret_fault)
                *loan->ret_fault = (struct eddy_pool_fault){ .text = "" };
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (task->loop != pool->member.loop)
                return EDDY_E_RUN_OTHER_LOOP;
        err = borrow(pool, task, text, loan->ret_fault, &place);
        if (err < 0)
                return err;
        place->number = ++pool->number;
        place->loans++;
        pool->stats.loans++;
        *loan = (eddy_pool_loan){ .item = place->item,
                                  .pool = pool,
                                  .number = place->number,
                                  .index = index_of(place),
                                  .ret_fault = loan->ret_fault };
        ed_suspend_passed(task);
        return 0;
}

/* Returns the text of the wait in eddy_pool_close(). In debug mode it changes with the loans. */
static const char *closer_waits_for(eddy_pool *pool)
{
        if (!pool->notes)
                return "the end of a pool";
        ed_pool_lent_text(pool, pool->notes->waits_for);
        return pool->notes->waits_for;
}

static int give_back(eddy_pool_loan *loan, bool is_broken)
{
        eddy_pool *pool = loan ? loan->pool : NULL;
        bool is_closed = pool && pool->is_closed;
        struct place *place;
        int state;

        if (!pool)
                return 0;
        if (pool->member.loop && !is_in_loop(pool))
                return EDDY_E_RUN_OTHER_LOOP;
        is_broken |= !pool->member.loop; /* only closed */
        place = loan->index < pool->places_count ? &pool->places[loan->index] : NULL;
        if (!place || place->state != LENT || place->number != loan->number)
                return -EINVAL;
        *loan = (eddy_pool_loan){ .ret_fault = loan->ret_fault };
        place->number = 0;
        place->state = BACK;
        pool->stats.lent--;
        if (pool->closer)
                (void) closer_waits_for(pool);
        state = is_broken ? EDDY_POOL_BROKEN : check(place, EDDY_POOL_USED);
        if (state == EDDY_POOL_USED && !pool->opts.ops->reset)
                state = pool->opts.ops->check ? EDDY_POOL_BROKEN : EDDY_POOL_READY;
        if (state < 0) {
                pool->stats.broken++;
                tend(place, CLOSE_NOW);
        } else if (state != EDDY_POOL_READY && !pool->is_closed) {
                tend(place, RESET);
        } else {
                place->is_checked = true;
                make_idle(place);
                /* A closed pool may be gone. */
                if (!is_closed && place->state == IDLE)
                        place->is_checked = false;
        }
        return 0;
}

int eddy_pool_release(eddy_pool_loan *loan)
{
        return give_back(loan, false);
}

int eddy_pool_discard(eddy_pool_loan *loan)
{
        return give_back(loan, true);
}

/* --- the pool --- */

int eddy_pool_new(const struct eddy_pool_opts *opts, eddy_pool **ret_pool)
{
        struct eddy_pool_opts filled;
        eddy_pool *pool;
        uint32_t count;

        if (!opts || !ret_pool)
                return -EINVAL;
        filled = *opts;
        if (fill_in(&filled) < 0)
                return -EINVAL;
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        count = filled.size + filled.overflow;
        pool = ed_alloc_zero(sizeof(*pool) + count * sizeof(pool->places[0]));
        if (!pool)
                return -ENOMEM;
        ed_member_join(&pool->member, ed_loop_current, NULL);
        pool->opts = filled;
        pool->places_count = count;
        ed_timer_init(&pool->idle_timer, on_idle);
        ed_timer_init(&pool->gap_timer, on_gap);
        ed_list_init(&pool->free);
        ed_list_init(&pool->idle);
        for (uint32_t i = 0; i < count; i++) {
                pool->places[i].pool = pool;
                ed_list_push_back(&pool->free, &pool->places[i].link);
        }
        if (ed_loop_current->debug)
                pool->notes = ed_alloc_debug(sizeof(*pool->notes) +
                                             count * sizeof(pool->notes->names[0]));
        ed_debug_made(pool, ED_DEBUG_ITEMS);
        *ret_pool = pool;
        return 0;
}

static void close_idle(eddy_pool *pool)
{
        struct ed_list *link;

        while (!ed_list_is_empty(&pool->idle)) {
                link = ed_list_pop_front(&pool->idle);
                pool->stats.idle--;
                tend(ed_container_of(link, struct place, link), CLOSE);
        }
}

void eddy_pool_expire(eddy_pool *pool)
{
        if (!pool || ed_member_check(&pool->member) < 0)
                return;
        pool->generation++;
        pool->stats.expired += pool->stats.idle;
        close_idle(pool);
}

static bool stop_closing(void *arg)
{
        ((eddy_pool *) arg)->closer = NULL;
        return true;
}

void eddy_pool_close(eddy_pool *pool)
{
        struct ed_task *task;

        ed_task_check_stack_here();
        if (!pool || pool->is_closed || !ed_misuse_may_close(&pool->member, "a pool"))
                return;
        ed_debug_gone(pool);
        if (is_in_loop(pool)) {
                ed_timer_cancel(&pool->member.loop->timers, &pool->idle_timer);
                ed_timer_cancel(&pool->member.loop->timers, &pool->gap_timer);
        }
        pool->is_closed = true;
        pool->is_closing = true;
        while (ed_waiters_wake(pool->line, EDDY_E_POOL_CLOSED))
                pool->stats.waiting--;
        for (uint32_t i = 0; i < pool->places_count; i++)
                if (pool->places[i].opening)
                        eddy_scope_cancel(pool->places[i].opening);
        close_idle(pool);
        /* Items that are lent when the run ends never come back in it. */
        if (pool->stats.open > 0 && pool->member.loop && ed_suspend_enter(&task) == 0) {
                pool->closer = task;
                ed_debug_net(task); /* reported if it takes long */
                (void) ed_suspend_park(task, closer_waits_for(pool), stop_closing, pool);
        }
        pool->is_closing = false;
        if (pool->stats.open == 0)
                pool_free(pool); /* otherwise the last item that comes back does that */
}

void eddy_pool_stats(const eddy_pool *pool, struct eddy_pool_stats *ret_stats)
{
        static const struct eddy_pool_stats none;

        *ret_stats = pool ? pool->stats : none;
}

uint32_t eddy_pool_borrowers(const eddy_pool *pool, struct eddy_pool_borrower *borrowers,
                             uint32_t max)
{
        uint32_t count = 0;

        for (uint32_t i = 0; pool && i < pool->places_count; i++) {
                const struct place *place = &pool->places[i];

                if (place->state != LENT)
                        continue;
                if (count < max)
                        borrowers[count] =
                                (struct eddy_pool_borrower){ place->text, place->lent_ns,
                                                             pool->notes ? pool->notes->names[i]
                                                                         : "" };
                count++;
        }
        return count;
}
