/*
 * scope/generator.c - generators: tasks that run when they are asked.
 *
 * Who asks leaves word where the value is to go and parks; the generator writes
 * it there and wakes the asker.  Both go to the head of the ready queue, so a
 * value costs two switches and no turn of the loop.  In next and yield each test
 * and each store is felt: what can be said by one word is, in its state.
 */
#include "scope/generator.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/scope.h"
#include "scope/suspend.h"

/*
 * What who asks is woken with when the generator's function has returned
 * -ECANCELED, which is no cancel of who asks.
 */
enum { RETURNED_ECANCELED = INT_MIN };

/*
 * What a generator does, in the low bits of its state; the rest is the address
 * of its loop, so that one look says all.  0: it runs, or waits for something
 * else, and nobody asks; or there is nothing to ask yet, or any more.
 */
enum {
        PARKED = 1, /* until it is asked, or closed */
        ASKED = 2,  /* somebody waits for it: the asker, in next or in close */
        SLOWLY = 4, /* ... and the way that is always right is to be taken */
};

struct generator {
        struct ed_list link; /* in its scope's, until it has ended or the scope closes it */
        struct ed_scope *scope;
        struct ed_task *task; /* NULL: not started, or ended */
        eddy_generator_fn *fn;
        const char *text; /* that the program wrote for it, or NULL */
        void *arg;
        struct ed_task *asker; /* while it is ASKED */
        uintptr_t state;
        const void *item; /* kept, in the frame that yields it */
        void *ret_item;   /* the asker's, in next */
        size_t item_bytes;
        uint8_t parked; /* PARKED, perhaps SLOWLY */
        uint8_t asked;  /* ASKED, perhaps SLOWLY */
        bool has_item;  /* was yielded while nobody waited */
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

/* Who waits for it, or NULL. */
static struct ed_task *asker_of(const struct generator *gen)
{
        return gen->state & ASKED ? gen->asker : NULL;
}

/* The state that says 'what' of one that has a task. */
static inline uintptr_t state_of(const struct generator *gen, uint8_t what)
{
        return (uintptr_t) gen->task->loop + what;
}

static void set_asked(struct generator *gen, struct ed_task *asker)
{
        gen->asker = asker;
        gen->state = state_of(gen, gen->asked);
}

/* A value is kept: who asks takes that, and wakes nobody. */
static void set_parked(struct generator *gen)
{
        gen->state = state_of(gen, gen->has_item ? PARKED | SLOWLY : gen->parked);
}

void eddy_generator_begin_named(eddy_generator *public_gen, eddy_scope *scope,
                                eddy_generator_fn *fn, void *arg, size_t item_bytes,
                                const char *text)
{
        struct generator *gen = generator_of(public_gen);

        *gen = (struct generator){ .scope = ed_scope_of(scope),
                                   .fn = fn,
                                   .text = text,
                                   .arg = arg,
                                   .item_bytes = item_bytes };
        ed_list_init(&gen->link);
        if (!ed_scope_was_begun(gen->scope)) {
                (void) ed_misuse_unbegun("eddy_generator_begin");
                gen->ended = gen->cut_short = true;
                return;
        }
        /* One that begins too late is in no list: it need not live on. */
        if (gen->scope->node.flags & ED_NODE_ENDED)
                return;
        if (!gen->scope->generators.next)
                ed_list_init(&gen->scope->generators);
        ed_list_push_back(&gen->scope->generators, &gen->link);
}

#undef eddy_generator_begin
void eddy_generator_begin(eddy_generator *gen, eddy_scope *scope, eddy_generator_fn *fn, void *arg,
                          size_t item_bytes)
{
        eddy_generator_begin_named(gen, scope, fn, arg, item_bytes, NULL);
}

/* --- handing over --- */

/*
 * End the wait of 'to', which runs as soon as the running task parks.  At the
 * end of a turn it goes to the end of the queue instead: the two must not keep
 * it for themselves.
 */
static void hand_over(struct ed_task *to, int result)
{
        if (ed_loop_has_budget(to->loop))
                ed_fiber_wake_next(to->loop, &to->fiber, result);
        else
                ed_suspend_wake(to, result);
}

/* Of a wait: the result for the caller. */
static int wait_failed(int result)
{
        const struct ed_task *task = ed_task_running();

        if (result == RETURNED_ECANCELED)
                return -ECANCELED;
        if (result == -ECANCELED && task->inner->flags & ED_NODE_CANCELLED)
                ed_node_attribute(task->inner);
        return result;
}

static inline void about_to_park(struct ed_task *task)
{
        if (ed_unlikely(ed_test_at_suspend))
                ed_test_at_suspend(task);
        ed_suspend_note(task);
}

/*
 * Park as any call does, but keep the budget: a wait for one another is no
 * rest as the others see it.
 */
static int park(struct ed_task *task, const char *waits_for, ed_abort_fn *abort, void *arg)
{
        int result;

        about_to_park(task);
        result = ed_fiber_park(task->loop, waits_for, abort, arg);
        return result < 0 ? wait_failed(result) : result;
}

/* The same as the last thing that a call does, see ed_co_leave(). */
static inline __attribute__((always_inline)) int park_leave(struct ed_task *task,
                                                            const char *waits_for,
                                                            ed_abort_fn *abort, void *arg,
                                                            enum ed_co_side side)
{
        about_to_park(task);
        return ed_fiber_park_leave(task->loop, waits_for, abort, arg, side, wait_failed);
}

/* hand_over() and park_leave() in one, and with no call that would need a frame. */
static inline __attribute__((always_inline)) int hand_over_leave(
        struct ed_loop *loop, struct ed_task *task, struct ed_task *to, int result,
        const char *waits_for, ed_abort_fn *abort, void *arg, enum ed_co_side side)
{
        return ed_fiber_park_leave_to(loop, &task->fiber, &to->fiber, result, waits_for, abort, arg,
                                      side, wait_failed);
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

        gen->state = 0;
        gen->has_item = false;
        return true;
}

static const char waits_to_be_asked[] = "its next value to be requested";

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

/* Whatever the case. */
static __attribute__((noinline)) int yield_slow(struct generator *gen, const void *item)
{
        struct ed_task *task, *asker = asker_of(gen);
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (task != gen->task)
                return -EPERM;
        if (task->node.flags & ED_NODE_CANCELLED)
                return yield_refused(task);
        if (asker) {
                copy_item(gen, gen->ret_item, item);
                hand_over(asker, 1);
        } else {
                gen->item = item;
                gen->has_item = true;
        }
        set_parked(gen);
        return park_leave(task, waits_to_be_asked, unpark, gen, ED_CO_ANSWERS);
}

/*
 * The same where it was asked for a word, such as a pointer, and all is as usual.
 * Hot, as next: so the two lie together, and beside the switch that they end in.
 */
__attribute__((hot)) int eddy_generator_yield(eddy_generator *public_gen, const void *item)
{
        struct generator *gen = generator_of(public_gen);
        struct ed_loop *loop = ed_loop_current;
        struct ed_task *task = gen->task;

        if (ed_unlikely(gen->state != (uintptr_t) loop + ASKED || loop->current != &task->fiber ||
                        (task->inner->flags | task->node.flags) & ED_NODE_CANCELLED ||
                        !ed_loop_has_budget(loop)))
                return yield_slow(gen, item);
        memcpy(gen->ret_item, item, sizeof(uint64_t));
        gen->state = (uintptr_t) loop + PARKED;
        return hand_over_leave(loop, task, gen->asker, 1, waits_to_be_asked, unpark, gen,
                               ED_CO_ANSWERS);
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
        struct ed_task *asker;

        if (ed_unlikely(task->inner != &task->node))
                ed_misuse_left_at_end(task);
        if (result < 0 && !asker_of(gen) && is_for_who_asks(gen, result)) {
                set_parked(gen);
                (void) park(task, waits_to_be_asked, unpark, gen);
        }
        asker = asker_of(gen);
        ed_list_remove(&gen->link);
        gen->ended = true;
        gen->task = NULL;
        gen->state = 0;
        gen->scope->generating--;
        if (!asker) {
                gen->cut_short = result < 0 && gen->scope->node.flags & ED_NODE_CANCELLED;
                return result;
        }
        if (result == -ECANCELED)
                result = RETURNED_ECANCELED;
        hand_over(asker, result < 0 ? result : 0);
        return 0;
}

/* --- asking --- */

/*
 * Whether all there is to a hand-over is the switch: nobody chooses, nobody is to
 * be told, and there are no exceptions to be kept apart.
 */
static bool is_plain(const struct ed_loop *loop)
{
        return !loop->choosy && !loop->debug && !loop->exceptions && !ed_test_at_suspend;
}

/* Errors: -ECANCELED, -EAGAIN, -ENOMEM */
static int start(struct generator *gen)
{
        struct ed_task *task;
        int err;

        err = ed_scope_try_start(gen->scope, generator_main, gen, 0, gen->text, NULL, &task);
        if (err < 0)
                return err;
        task->self.fn = (eddy_task_fn *) (uintptr_t) gen->fn; /* names it */
        gen->scope->generating++;
        gen->task = task;
        gen->parked = is_plain(task->loop) ? PARKED : PARKED | SLOWLY;
        gen->asked = is_plain(task->loop) && gen->item_bytes == sizeof(uint64_t) ? ASKED
                                                                                 : ASKED | SLOWLY;
        return 0;
}

/* The asker goes away; the generator goes on to its next value, which is kept. */
static bool abort_ask(void *arg)
{
        ((struct generator *) arg)->state = 0;
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

/* What can be told without waiting, or 2: the generator does not wait, and will tell. */
static int next_now(struct generator *gen, struct ed_task *task, void *ret_item)
{
        if (ed_unlikely(!gen->task) && is_over(gen))
                return gen->ended && !gen->cut_short ? 0 : -ECANCELED;
        if (ed_unlikely(is_foreign(gen, task)))
                return EDDY_E_RUN_OTHER_LOOP;
        if (ed_unlikely(gen->state & ASKED || task == gen->task))
                return -EBUSY;
        if (ed_unlikely(!gen->task)) {
                int err = start(gen);

                return err < 0 ? err : 2;
        }
        if (ed_unlikely(gen->has_item)) {
                copy_item(gen, ret_item, gen->item);
                gen->has_item = false;
                set_parked(gen);
                return 1;
        }
        if (gen->state & PARKED)
                hand_over(gen->task, 0);
        return 2;
}

static const char waits_for_value[] = "the next value of a generator";

/* Whatever the case. */
static __attribute__((noinline)) int next_slow(struct generator *gen, void *ret_item)
{
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        err = next_now(gen, task, ret_item);
        if (err != 2) {
                ed_suspend_passed(task);
                return err;
        }
        set_asked(gen, task);
        gen->ret_item = ret_item;
        return park_leave(task, waits_for_value, abort_ask, gen, ED_CO_ASKS);
}

/*
 * The same where it waits to be asked, and all is as usual.  Then it is another
 * task, and nobody else has asked.
 */
__attribute__((hot)) int eddy_generator_next(eddy_generator *public_gen, void *ret_item)
{
        struct generator *gen = generator_of(public_gen);
        struct ed_loop *loop = ed_loop_current;
        struct ed_task *task;

        if (ed_unlikely(gen->state != (uintptr_t) loop + PARKED))
                return next_slow(gen, ret_item);
        task = ed_task_running();
        if (ed_unlikely(!task || task->inner->flags & ED_NODE_CANCELLED ||
                        !ed_loop_has_budget(loop)))
                return next_slow(gen, ret_item);
        gen->state = (uintptr_t) loop + gen->asked;
        gen->asker = task;
        gen->ret_item = ret_item;
        return hand_over_leave(loop, task, gen->task, 0, waits_for_value, abort_ask, gen,
                               ED_CO_ASKS);
}

/* --- closing --- */

static void close_begin(struct generator *gen)
{
        gen->closing = true;
        ed_node_cancel(&gen->task->node);
        /* A shield that it yields in keeps the mark away. */
        if (gen->state & PARKED) {
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
        struct ed_task *task = ed_task_running();
        int err;

        if (!gen)
                return 0;
        if (!task)
                return EDDY_E_RUN_NOT_RUNNING;
        if (is_over(gen))
                return 0;
        if (is_foreign(gen, task))
                return EDDY_E_RUN_OTHER_LOOP;
        if (gen->state & ASKED || is_inside(gen, task))
                return -EBUSY;
        if (!gen->task) {
                close_unstarted(gen);
                return 0;
        }
        close_begin(gen);
        set_asked(gen, task);
        err = park(task, "a generator to clean up", abort_close, gen);
        return err == -ECANCELED ? 0 : err;
}

bool ed_generator_seize(struct ed_node *top)
{
        struct ed_node *node = top;

        while ((node = ed_node_next(top, node, false))) {
                const struct ed_fiber *fiber = &node->owner->fiber;

                if (!ed_node_is_task(node) || fiber->ready.state != ED_FIBER_PARKED ||
                    fiber->abort != abort_close)
                        continue;
                ((struct generator *) fiber->abort_arg)->state = 0;
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
