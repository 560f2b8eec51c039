/*
 * scope/generator.c - generators: tasks that run when the next value is requested.
 *
 * The asker stores the address for the value in the generator and parks; the generator writes the
 * value there and wakes the asker.  Each side switches directly to the other, so a value costs two
 * switches and no turn of the loop.  Each test and each store in next and yield is measurable, so
 * one word, 'state', holds all that they have to test.
 */
#include "scope/generator.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "scope/misuse.h"
#include "scope/scope.h"
#include "scope/suspend.h"

/*
 * Wake value for a generator that returned -ECANCELED; plain -ECANCELED means that the asker was
 * cancelled.
 */
enum { RETURNED_ECANCELED = INT_MIN };

/*
 * The generator's activity, in the low bits of its state.  The other bits are the address of its
 * loop, so that one comparison tests both.  A state of 0 means that the generator is not started,
 * has ended, or is busy without an asker.
 */
enum {
        PARKED = 1, /* until a value is requested or it is closed */
        ASKED = 2,  /* a task waits for it: 'asker', in next or close */
        SLOWLY = 4, /* ... and must take the slow path */
};

struct generator {
        struct ed_list link; /* in its scope's list, until it ends or the scope closes it */
        struct ed_scope *scope;
        struct ed_task *task; /* NULL: not started, or ended */
        eddy_generator_fn *fn;
        const char *text; /* its text in the program's call, or NULL */
        void *arg;
        struct ed_task *asker; /* valid while ASKED */
        uintptr_t state;
        const void *item; /* an item that was kept, in the frame that yields it */
        void *ret_item;   /* where next wants the item */
        size_t item_bytes;
        uint8_t parked; /* PARKED, or PARKED | SLOWLY */
        uint8_t asked;  /* ASKED, or ASKED | SLOWLY */
        bool has_item;  /* an item was yielded while no task waited */
        bool closing;
        bool ended;
        bool cut_short; /* ended by a cancel of its scope, without an asker */
};

_Static_assert(sizeof(struct generator) + 8 * sizeof(uintptr_t) <= sizeof(eddy_generator),
               "an eddy_generator has no room left in reserve");

static struct generator *generator_of(eddy_generator *gen)
{
        return (struct generator *) gen;
}

/* Returns the task that waits for the generator, or NULL. */
static struct ed_task *asker_of(const struct generator *gen)
{
        return gen->state & ASKED ? gen->asker : NULL;
}

/* Returns the state with the bits 'what', for a generator that has a task. */
static inline uintptr_t state_of(const struct generator *gen, uint8_t what)
{
        return (uintptr_t) gen->task->loop + what;
}

static void set_asked(struct generator *gen, struct ed_task *asker)
{
        gen->asker = asker;
        gen->state = state_of(gen, gen->asked);
}

/* If an item is kept, the next asker takes the item and does not wake the generator. */
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
        /*
         * A generator that begins after its scope's end is in no list, so its memory may go at any
         * time.
         */
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
 * Ends the wait of 'to', which runs as soon as the running task parks.  At the end of a turn, 'to'
 * goes to the end of the queue instead, so that the two tasks cannot keep the loop for themselves.
 */
static void hand_over(struct ed_task *to, int result)
{
        if (ed_loop_has_budget(to->loop))
                ed_fiber_wake_next(to->loop, &to->fiber, result);
        else
                ed_suspend_wake(to, result);
}

/* Converts the negative result of a wait to the caller's result, and attributes a cancel. */
static int wait_failed(int result)
{
        const struct ed_task *task = ed_task_running();

        if (result == RETURNED_ECANCELED)
                return -ECANCELED;
        if (result == -ECANCELED && task->inner->flags & ED_NODE_CANCELLED)
                ed_node_attribute(task->inner);
        return result;
}

static inline void about_to_park(struct ed_task *task, const char *waits_for)
{
        if (ed_unlikely(ed_test_at_suspend))
                ed_test_at_suspend(task);
        ed_suspend_note(task, waits_for);
}

/*
 * Parks as other calls do, but keeps the budget: a wait between generator and asker does not let
 * other tasks run.
 */
static int park(struct ed_task *task, const char *waits_for, ed_abort_fn *abort, void *arg)
{
        int result;

        about_to_park(task, waits_for);
        result = ed_fiber_park(task->loop, waits_for, abort, arg);
        return result < 0 ? wait_failed(result) : result;
}

/* park() as the last action of a call, see ed_co_leave(). */
static inline __attribute__((always_inline)) int park_leave(struct ed_task *task,
                                                            const char *waits_for,
                                                            ed_abort_fn *abort, void *arg,
                                                            enum ed_co_side side)
{
        about_to_park(task, waits_for);
        return ed_fiber_park_leave(task->loop, waits_for, abort, arg, side, wait_failed);
}

/* hand_over() and park_leave() combined, without a call that would need a frame. */
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

/* The generator is closed.  A shield that it yields in does not delay this. */
static int yield_refused(struct ed_task *task)
{
        struct ed_node *inner = task->inner;
        int err;

        task->inner = &task->node;
        err = ed_cancel_deliver(task);
        task->inner = inner;
        return err;
}

/* The slow path, for all cases. */
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
 * The fast path: a task asked for an item of one word, such as a pointer, and no special case
 * applies.  The attribute places this function next to eddy_generator_next() and near the switch.
 */
__attribute__((hot)) int eddy_generator_yield(eddy_generator *public_gen, const void *item)
{
        struct generator *gen = generator_of(public_gen);
        struct ed_loop *loop = ed_loop_current;
        struct ed_task *task = gen->task;

        if (ed_unlikely(gen->state != (uintptr_t) loop + ASKED || loop->current != &task->fiber ||
                        (task->inner->flags | task->node.flags) & ED_NODE_CANCELLED ||
                        !ed_loop_has_budget(loop) || ed_task_is_stack_low(task)))
                return yield_slow(gen, item);
        memcpy(gen->ret_item, item, sizeof(uint64_t));
        gen->state = (uintptr_t) loop + PARKED;
        return hand_over_leave(loop, task, gen->asker, 1, waits_to_be_asked, unpark, gen,
                               ED_CO_ANSWERS);
}

/*
 * Returns true if a failure must be kept for the next asker, or until the scope ends.  The
 * -ECANCELED of a generator that was itself cancelled is not kept.
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
 * Returns true if a hand-over needs only the switch: the loop has no chooser, debug mode, test hook
 * or C++ exceptions to separate.
 */
static bool is_plain(const struct ed_loop *loop)
{
        return !loop->choosy && !loop->debug && !loop->exceptions && !ed_test_at_suspend;
}

/* Starts the generator's task.  Errors: -ECANCELED, -EAGAIN, -ENOMEM */
static int start(struct generator *gen)
{
        struct ed_task *task;
        int err;

        err = ed_scope_try_start(gen->scope, generator_main, gen, 0, gen->text, NULL, &task);
        if (err < 0)
                return err;
        task->self.fn = (eddy_task_fn *) (uintptr_t) gen->fn; /* names the task */
        gen->scope->generating++;
        gen->task = task;
        gen->parked = is_plain(task->loop) ? PARKED : PARKED | SLOWLY;
        gen->asked = is_plain(task->loop) && gen->item_bytes == sizeof(uint64_t) ? ASKED
                                                                                 : ASKED | SLOWLY;
        return 0;
}

/* The asker leaves.  The generator continues to its next value and keeps it. */
static bool abort_ask(void *arg)
{
        ((struct generator *) arg)->state = 0;
        return true;
}

/*
 * Returns true if the generator can no longer run.  An ended scope may be read only for its flags.
 */
static bool is_over(const struct generator *gen)
{
        return gen->ended || gen->scope->node.flags & ED_NODE_ENDED;
}

/*
 * Returns true if the generator and a task belong to different loops.  Detects mistakes, but not
 * all.
 */
static bool is_foreign(const struct generator *gen, const struct ed_task *task)
{
        return gen->scope->node.owner->loop != task->loop;
}

/* Returns the result if it is available at once, else 2: the generator will wake the asker. */
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

/* The slow path, for all cases. */
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
 * The fast path: the generator is parked and no special case applies.  Its state proves that the
 * caller is another task and that no other task has asked.
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
                        !ed_loop_has_budget(loop) || ed_task_is_stack_low(task)))
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
        /* A yield inside a shield does not see the cancel, so wake the generator here. */
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

/* A close cannot be cancelled: the generator must end and will then wake the closer. */
static bool abort_close(void *arg)
{
        (void) arg;
        return false;
}

/*
 * Returns true if a task is the generator's own, or must end before the generator's function can
 * return.
 */
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
        ed_task_check_stack(task);
        if (!gen->scope || is_over(gen))
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
                /*
                 * Close each generator once: the scope calls this again whenever one of its
                 * generators ends.
                 */
                ed_list_remove(link);
                ed_list_init(link);
                close_begin(gen);
        }
}
