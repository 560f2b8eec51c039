/*
 * loop/inbox.c - calls that other threads request from a loop.
 */
#include "loop/inbox.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"

struct ed_inbox *ed_loop_inbox(struct ed_loop *loop)
{
        struct ed_inbox *inbox = loop->inbox;

        if (ed_likely(inbox != NULL))
                return inbox;
        inbox = ed_alloc_zero(sizeof(*inbox));
        if (!inbox)
                return NULL;
        atomic_init(&inbox->refs, 1);
        ed_mutex_init(&inbox->lock);
        ed_cond_init(&inbox->ran);
        ed_list_init(&inbox->line);
        ed_list_init(&inbox->batch);
        inbox->sys = loop->sys;
        inbox->thread = ed_thread_self();
        loop->inbox = inbox;
        return inbox;
}

struct ed_inbox *ed_inbox_ref(struct ed_inbox *inbox)
{
        atomic_fetch_add_explicit(&inbox->refs, 1, memory_order_relaxed);
        return inbox;
}

void ed_inbox_unref(struct ed_inbox *inbox)
{
        if (atomic_fetch_sub_explicit(&inbox->refs, 1, memory_order_acq_rel) > 1)
                return;
        ed_cond_fini(&inbox->ran);
        ed_mutex_fini(&inbox->lock);
        ed_free(inbox);
}

/*
 * Wakes the loop while the lock is open: on a busy processor the loop may run at once and would
 * find the lock held.  The table remains until this is over.  Locked before and after.
 */
static void wake(struct ed_inbox *inbox)
{
        struct ed_sys *sys = inbox->sys;

        inbox->wakers++;
        ed_mutex_unlock(&inbox->lock);
        sys->poll->wake(sys);
        ed_mutex_lock(&inbox->lock);
        if (--inbox->wakers == 0 && !inbox->sys)
                ed_cond_broadcast(&inbox->ran);
}

int ed_inbox_post(struct ed_inbox *inbox, struct ed_post *post)
{
        int err = 0;

        ed_mutex_lock(&inbox->lock);
        if (!inbox->sys) {
                err = EDDY_E_LOOP_CLOSED;
        } else if (post->posted) {
                err = -EBUSY;
        } else {
                post->posted = true;
                ed_list_push_back(&inbox->line, &post->link);
                if (!atomic_exchange_explicit(&inbox->pending, true, memory_order_release))
                        wake(inbox);
        }
        ed_mutex_unlock(&inbox->lock);
        return err;
}

int ed_inbox_cancel(struct ed_inbox *inbox, struct ed_post *post)
{
        bool mine = ed_inbox_is_mine(inbox);
        int was_posted = 0;

        ed_mutex_lock(&inbox->lock);
        for (;;) {
                uint64_t run = inbox->runs;

                if (post->posted) {
                        post->posted = false;
                        ed_list_remove(&post->link);
                        if (ed_list_is_empty(&inbox->line))
                                atomic_store_explicit(&inbox->pending, false, memory_order_relaxed);
                        was_posted = 1;
                }
                /* A running post may post itself again before it returns. */
                if (inbox->running != post || mine)
                        break;
                inbox->cancellers++;
                while (inbox->running == post && inbox->runs == run)
                        ed_cond_wait(&inbox->ran, &inbox->lock);
                inbox->cancellers--;
        }
        ed_mutex_unlock(&inbox->lock);
        return was_posted;
}

/* Runs all posts of a list.  Other threads may remove posts meanwhile.  Locked before and after. */
static void run_list(struct ed_inbox *inbox, struct ed_list *list, bool closed)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(list))) {
                struct ed_post *post = ed_container_of(link, struct ed_post, link);

                post->posted = false;
                inbox->running = post;
                inbox->runs++;
                ed_mutex_unlock(&inbox->lock);
                post->fn(post, closed);
                ed_mutex_lock(&inbox->lock);
                inbox->running = NULL;
                if (inbox->cancellers > 0)
                        ed_cond_broadcast(&inbox->ran);
        }
}

void ed_inbox_run(struct ed_inbox *inbox)
{
        if (!ed_inbox_is_pending(inbox))
                return;
        ed_mutex_lock(&inbox->lock);
        atomic_store_explicit(&inbox->pending, false, memory_order_relaxed);
        ed_list_splice_back(&inbox->batch, &inbox->line);
        run_list(inbox, &inbox->batch, false);
        ed_mutex_unlock(&inbox->lock);
}

void ed_inbox_close(struct ed_inbox *inbox)
{
        ed_mutex_lock(&inbox->lock);
        inbox->sys = NULL;
        while (inbox->wakers > 0)
                ed_cond_wait(&inbox->ran, &inbox->lock);
        atomic_store_explicit(&inbox->pending, false, memory_order_relaxed);
        run_list(inbox, &inbox->line, true);
        ed_mutex_unlock(&inbox->lock);
        ed_inbox_unref(inbox);
}
