/*
 * scope/generator.c - generators: tasks that run when they are asked.
 *
 * Who asks lays a struct ask on its own stack and parks; the generator writes
 * into it and wakes the asker.  Both go to the head of the ready queue, so a
 * value costs two switches and no turn of the loop.
 */
#include "scope/generator.h"

#include <errno.h>
#include <string.h>

#include "scope/debug.h"
#include "scope/scope.h"
#include "scope/suspend.h"

/* Of the one who waits for a generator: in next, or in close. */
struct ask {
        struct ed_task *task;
        void *ret_item; /* NULL: in close */
        int result;     /* of the generator's function, when it has ended */
};

struct generator {
        struct ed_list link; /* in its scope's, until it has ended or the scope closes it */
        struct ed_scope *scope;
        struct ed_task *task; /* NULL: not started, or ended */
        eddy_generator_fn *fn;
        void *arg;
        struct ask *ask;  /* NULL: nobody waits for it */
        const void *item; /* kept, in the frame that yields it */
        size_t item_bytes;
        bool has_item; /* was yielded while nobody waited */
        bool parked;   /* until it is asked, or closed */
        bool closing;
        bool ended;
        bool cut_short; /* ended by a cancel of its scope, which nobody was told */
};

_Static_assert(sizeof(struct generator) + 8 * sizeof(uintptr_t) <= sizeof(eddy_generator),
               "an eddy_generator has no room left in reserve");

static struct generator *generator_of(eddy_generator *gen)
{
        return (struct generator *) gen;
}

void eddy_generator_begin(eddy_generator *public_gen, eddy_scope *scope, eddy_generator_fn *fn,
                          void *arg, size_t item_bytes)
{
        struct generator *gen = generator_of(public_gen);

        *gen = (struct generator){
                .scope = ed_scope_of(scope), .fn = fn, .arg = arg, .item_bytes = item_bytes
        };
        /* One that begins too late is in no list: it need not live on. */
        if (gen->scope->node.flags & ED_NODE_ENDED) {
                ed_list_init(&gen->link);
                return;
        }
        if (!gen->scope->generators.next)
                ed_list_init(&gen->scope->generators);
        ed_list_push_back(&gen->scope->generators, &gen->link);
}

/* --- handing over --- */

/*
 * End the wait of 'to', which runs as soon as 'from' parks.  Now and then it
 * goes to the end of the queue instead: the two must not keep it for themselves.
 */
static void hand_over(struct ed_task *from, struct ed_task *to, int result)
{
        if (ed_unlikely(--from->budget == 0)) {
                from->budget = ED_TASK_BUDGET;
                ed_suspend_wake(to, result);
        } else {
                ed_fiber_wake_next(to->loop, &to->fiber, result);
        }
}

/*
 * Park as any call does, but keep the budget: a wait for one another is no
 * rest as the others see it.  Inline: see ed_fiber_switch_away().
 */
static inline __attribute__((always_inline)) int park(struct ed_task *task, const char *waits_for,
                                                      ed_abort_fn *abort, void *arg)
{
        int result;

        if (ed_unlikely(ed_test_at_suspend))
                ed_test_at_suspend(task);
        ed_suspend_note(task);
        result = ed_fiber_park(task->loop, waits_for, abort, arg);
        if (ed_unlikely(result == -ECANCELED && task->inner->flags & ED_NODE_CANCELLED))
                ed_node_attribute(task->inner);
        return result;
}

static void copy_item(const struct generator *gen, void *ret_item, const void *item)
{
        if (gen->item_bytes > 0)
                memcpy(ret_item, item, gen->item_bytes);
}

/* --- in the generator --- */

static bool unpark(void *arg)
{
        struct generator *gen = arg;

        gen->parked = false;
        gen->has_item = false;
        return true;
}

static inline __attribute__((always_inline)) int park_until_asked(struct generator *gen)
{
        gen->parked = true;
        return park(gen->task, "its next value to be asked for", unpark, gen);
}

/* It is closed, perhaps while it is in a shield, which does not hold that off. */
static int yield_refused(struct ed_task *task)
{
        struct ed_node *inner = task->inner;
        int err;

        task->inner = &task->node;
        err = ed_cancel_deliver(task);
        task->inner = inner;
        return err;
}

int eddy_generator_yield(eddy_generator *public_gen, const void *item)
{
        struct generator *gen = generator_of(public_gen);
        struct ask *ask = gen->ask;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (task != gen->task)
                return -EPERM;
        if (ed_unlikely(task->node.flags & ED_NODE_CANCELLED))
                return yield_refused(task);
        if (ask) {
                copy_item(gen, ask->ret_item, item);
                gen->ask = NULL;
                hand_over(task, ask->task, 1);
        } else {
                gen->item = item;
                gen->has_item = true;
        }
        return park_until_asked(gen);
}

/*
 * A failure is for who asks: kept until then, or until the scope ends.  A cancel
 * of this task alone does not make it the scope's.
 */
static bool is_for_who_asks(const struct generator *gen, int result)
{
        if (gen->closing || gen->scope->node.flags & ED_NODE_CANCELLED)
                return false;
        return result != -ECANCELED || !(gen->task->node.flags & ED_NODE_CANCELLED);
}

static int generator_main(void *arg)
{
        struct generator *gen = arg;
        struct ed_task *task = gen->task;
        int result = gen->fn((eddy_generator *) gen, gen->arg);
        struct ask *ask;

        if (result < 0 && !gen->ask && is_for_who_asks(gen, result))
                (void) park_until_asked(gen);
        ask = gen->ask;
        ed_list_remove(&gen->link);
        gen->ended = true;
        gen->task = NULL;
        gen->ask = NULL;
        gen->scope->generating--;
        if (!ask) {
                gen->cut_short = result < 0 && gen->scope->node.flags & ED_NODE_CANCELLED;
                return result;
        }
        ask->result = result < 0 ? result : 0;
        hand_over(task, ask->task, 0);
        return 0;
}

/* --- asking --- */

/* Errors: -ECANCELED, -EAGAIN, -ENOMEM */
static int start(struct generator *gen)
{
        struct ed_scope *scope = gen->scope;
        struct ed_task *task;

        if (scope->node.flags & ED_NODE_CANCELLED) {
                ed_node_attribute(&scope->node);
                return -ECANCELED;
        }
        if (scope->live >= scope->tasks_max)
                return -EAGAIN;
        task = ed_task_new(scope->node.owner->loop, scope, ED_STACK_DEFAULT, generator_main, gen,
                           0);
        if (!task)
                return -ENOMEM;
        /* Named by its own function. */
        task->self.fn = (eddy_task_fn *) (uintptr_t) gen->fn;
        if (task->loop->debug)
                ed_debug_task_made(task, NULL);
        scope->live++;
        scope->generating++;
        gen->task = task;
        return 0;
}

/* The asker goes away; the generator goes on to its next value, which is kept. */
static bool abort_ask(void *arg)
{
        ((struct generator *) arg)->ask = NULL;
        return true;
}

/* Nothing of it can run any more.  Of a scope that has ended only its mark can be looked at. */
static bool is_over(const struct generator *gen)
{
        return gen->ended || gen->scope->node.flags & ED_NODE_ENDED;
}

/* Whether it belongs to another loop than a task: finds a mistake, and promises nothing. */
static bool is_foreign(const struct generator *gen, const struct ed_task *task)
{
        return gen->scope->node.owner->loop != task->loop;
}

/* What can be told without waiting, or 2: the generator runs, and will tell. */
static int next_now(struct generator *gen, struct ed_task *task, void *ret_item)
{
        if (ed_unlikely(!gen->task) && is_over(gen))
                return gen->ended && !gen->cut_short ? 0 : -ECANCELED;
        if (ed_unlikely(is_foreign(gen, task)))
                return EDDY_E_RUN_OTHER_LOOP;
        if (gen->ask || task == gen->task)
                return -EBUSY;
        if (!gen->task) {
                int err = start(gen);

                return err < 0 ? err : 2;
        }
        if (ed_unlikely(gen->has_item)) {
                copy_item(gen, ret_item, gen->item);
                gen->has_item = false;
                return 1;
        }
        if (gen->parked) {
                gen->parked = false;
                hand_over(task, gen->task, 0);
        }
        return 2;
}

int eddy_generator_next(eddy_generator *public_gen, void *ret_item)
{
        struct generator *gen = generator_of(public_gen);
        struct ask ask = { .ret_item = ret_item };
        int err;

        err = ed_suspend_enter(&ask.task);
        if (err < 0)
                return err;
        err = next_now(gen, ask.task, ret_item);
        if (err != 2) {
                ed_suspend_passed(ask.task);
                return err;
        }
        gen->ask = &ask;
        err = park(ask.task, "the next value of a generator", abort_ask, gen);
        /* Not from the generator, which may have gone with its scope. */
        return err == 0 ? ask.result : err;
}

/* --- closing --- */

static void close_begin(struct generator *gen)
{
        gen->closing = true;
        ed_node_cancel(&gen->task->node);
        /* A shield that it yields in keeps the mark away. */
        if (gen->parked) {
                (void) unpark(gen);
                ed_suspend_wake(gen->task, -ECANCELED);
        }
}

static void close_unstarted(struct generator *gen)
{
        ed_list_remove(&gen->link);
        gen->ended = true;
}

/* The generator has to end: its wake will come then. */
static bool abort_close(void *arg)
{
        (void) arg;
        return false;
}

/* Whether a task is the generator's, or one that must end before its function can. */
static bool is_inside(const struct generator *gen, const struct ed_task *task)
{
        const struct ed_node *node = &task->node;

        while (node && gen->task && node != &gen->task->node)
                node = node->parent;
        return node && gen->task;
}

int eddy_generator_close(eddy_generator *public_gen)
{
        struct generator *gen = generator_of(public_gen);
        struct ask ask = { .task = ed_task_running() };
        int err;

        if (!ask.task)
                return EDDY_E_RUN_NOT_RUNNING;
        if (is_over(gen))
                return 0;
        if (is_foreign(gen, ask.task))
                return EDDY_E_RUN_OTHER_LOOP;
        if (gen->ask || is_inside(gen, ask.task))
                return -EBUSY;
        if (!gen->task) {
                close_unstarted(gen);
                return 0;
        }
        gen->ask = &ask;
        close_begin(gen);
        err = park(ask.task, "a generator to clean up", abort_close, gen);
        if (err < 0)
                return err;
        return ask.result == -ECANCELED ? 0 : ask.result;
}

bool ed_generator_seize(struct ed_node *top)
{
        struct ed_node *node = top;

        while ((node = ed_node_next(top, node, false))) {
                const struct ed_fiber *fiber = &node->owner->fiber;

                if (node != &node->owner->node || fiber->ready.state != ED_FIBER_PARKED ||
                    fiber->abort != abort_close)
                        continue;
                ((struct generator *) fiber->abort_arg)->ask = NULL;
                ed_suspend_wake(node->owner, -EDEADLK);
                return true;
        }
        return false;
}

void ed_scope_close_generators(struct ed_scope *scope)
{
        ed_list_each_safe (link, &scope->generators) {
                struct generator *gen = ed_container_of(link, struct generator, link);

                if (!gen->task) {
                        close_unstarted(gen);
                        continue;
                }
                /* Once: the scope looks again whenever one of them has ended. */
                ed_list_remove(link);
                ed_list_init(link);
                close_begin(gen);
        }
}
