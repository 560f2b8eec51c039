/*
 * io/process_pool.c - pools of worker processes: calls, workers, and their end.
 *
 * The task of a call talks to its worker itself, so a pool has no task of its own. A worker that did
 * not answer completely is killed, whatever the reason, and its call returns after the zygote has
 * reported that the process was collected. Its place in the pool is kept until then.
 */
#include "io/process_pool.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "eddy/time.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/waiters.h"
#include "sys/process/fork.h"
#include "sys/process/shared.h"
#include "sys/process/zygote.h"

enum { QUEUED_MAX = 65536, END_WAIT_NS = 1000000000 };

/*
 * If that many workers in succession have died before they had answered a call, each further start
 * waits, so that a function that always crashes does not keep the machine busy with forks.
 */
enum { DIED_YOUNG_MAX = 16, START_PAUSE_NS = 10000000 };

/* A worker process, in the list of its pool's idle or busy workers. */
struct worker {
        struct ed_list link;
        eddy_process_pool *pool;
        struct ed_watch watch; /* of the socket to the worker */
        uint32_t calls;
        bool is_usable;    /* it has answered all it was asked */
        bool has_answered; /* a call */
        bool is_killed;
        bool has_ended; /* the zygote has collected it, or could not make it */
};

/* --- messages --- */

/* As recv() of the table, and notes the end of the worker. */
static int64_t receive(struct worker *worker, struct ed_worker_packet *ret_head, void *buf,
                       size_t bytes)
{
        struct ed_watch *watch = &worker->watch;
        struct ed_sys *sys = watch->member.loop->sys;
        int64_t n = sys->zygote->recv(sys, watch->fd, ret_head, buf, bytes, NULL);

        watch->ready[ED_WATCH_READ] = n != -EAGAIN;
        if (n < 0 ||
            (ret_head->kind != ED_WORKER_PACKET_ENDED && ret_head->kind != ED_WORKER_PACKET_FAILED))
                return n;
        if (ret_head->kind == ED_WORKER_PACKET_ENDED && !worker->has_ended && !worker->is_killed) {
                worker->pool->died++;
                if (!worker->has_answered && worker->pool->died_young < DIED_YOUNG_MAX)
                        worker->pool->died_young++;
        }
        worker->has_ended = true;
        return n;
}

/* Send the input. The end of the worker is not an error: the zygote reports it. */
static int request_send(struct worker *worker, struct ed_task *task,
                        const struct ed_worker_packet *head, const struct eddy_process_call *call)
{
        struct ed_watch *watch = &worker->watch;
        struct ed_sys *sys = watch->member.loop->sys;
        struct ed_worker_packet packet = *head;
        int fds[EDDY_PROCESS_BUFFERS_MAX], err = 0;
        struct ed_worker_packet_part part = { .fds = fds, .fds_count = call->buffers_count };
        size_t sent = 0;

        for (uint32_t i = 0; i < call->buffers_count; i++)
                fds[i] = ed_process_buffer_fd(call->buffers[i]);
        do {
                part.bytes = call->input_bytes - sent;
                if (part.bytes > 0)
                        part.data = (const char *) call->input + sent;
                if (part.bytes > ED_WORKER_PACKET_BYTES)
                        part.bytes = ED_WORKER_PACKET_BYTES;
                err = sys->zygote->send(sys, watch->fd, &packet, &part);
                if (err == -EAGAIN) {
                        err = ed_watch_wait(watch, ED_WATCH_WRITE, task, "a worker that reads");
                } else if (err == 0) {
                        sent += part.bytes;
                        packet.kind = ED_WORKER_PACKET_DATA;
                        part.fds_count = 0;
                }
        } while (err == 0 && (packet.kind != ED_WORKER_PACKET_DATA || sent < call->input_bytes));
        return err == -EPIPE || err == -ECONNRESET ? 0 : err;
}

/*
 * Wait for the next packet. A packet that has come before a cancel is returned, because the
 * function has run already.
 */
static int64_t await_packet(struct worker *worker, struct ed_task *task,
                            struct ed_worker_packet *ret_head, void *buf, size_t bytes)
{
        int64_t n = receive(worker, ret_head, buf, bytes);
        int err = 0;

        while (n == -EAGAIN && err == 0) {
                err = ed_watch_wait(&worker->watch, ED_WATCH_READ, task, "the result of a worker");
                n = receive(worker, ret_head, buf, bytes);
        }
        return n == -EAGAIN ? err : n;
}

/* Returns the error for a packet that is not a result. */
static int no_result(const struct worker *worker, const struct ed_worker_packet *head,
                     struct eddy_process_call *call)
{
        if (worker->pool->is_terminated)
                return EDDY_E_PROCESS_POOL_CLOSED;
        if (head->kind == ED_WORKER_PACKET_FAILED)
                return head->result;
        if (head->kind != ED_WORKER_PACKET_ENDED)
                return -EPROTO;
        call->exit = (struct eddy_process_exit){
                .code = head->result,
                .signo = (int) (head->flags & (ED_WORKER_PACKET_CORE - 1)),
                .core_dumped = head->flags & ED_WORKER_PACKET_CORE,
        };
        return EDDY_E_PROCESS_POOL_DIED;
}

/* Receive the result. Returns that of the function. */
static int reply_receive(struct worker *worker, struct ed_task *task,
                         struct eddy_process_call *call)
{
        struct ed_worker_packet head, more;
        int64_t n = await_packet(worker, task, &head, call->result, call->result_bytes_max);
        size_t received;

        if (n < 0)
                return (int) n;
        if (head.kind != ED_WORKER_PACKET_RESULT || head.bytes > call->result_bytes_max)
                return no_result(worker, &head, call);
        for (received = (size_t) n; received < head.bytes; received += (size_t) n) {
                n = await_packet(worker, task, &more, (char *) call->result + received,
                                 (size_t) head.bytes - received);
                if (n < 0)
                        return (int) n;
                if (more.kind != ED_WORKER_PACKET_DATA)
                        return no_result(worker, &more, call);
        }
        worker->is_usable = worker->has_answered = true;
        worker->pool->died_young = 0;
        if (head.result >= 0)
                call->result_bytes = received;
        return head.result;
}

/* --- workers --- */

/* Give the place of a worker to the next call that waits. */
static void place_give(eddy_process_pool *pool)
{
        struct ed_waiter *waiter = ed_waiters_first(pool->line);

        if (waiter)
                ed_waiters_serve(waiter, 0);
        else
                pool->workers--;
}

/* Close the socket and free the worker, whose process has ended or was killed. */
static void worker_drop(struct worker *worker)
{
        eddy_process_pool *pool = worker->pool;

        ed_watch_close(&worker->watch, false);
        ed_list_remove(&worker->link);
        ed_free(worker);
        place_give(pool);
}

static void worker_kill(struct worker *worker)
{
        struct ed_sys *sys = worker->watch.member.loop->sys;

        if (!worker->has_ended && !worker->is_killed)
                (void) sys->socket->shutdown(sys, worker->watch.fd);
        worker->is_killed = true;
}

/* Wait until a killed worker was collected, and drop all that it has sent. */
static int await_end(void *arg)
{
        struct worker *worker = arg;
        struct ed_worker_packet head;
        struct ed_task *task;
        int64_t n = ed_suspend_enter(&task); /* an outer shield may have expired */

        while (!worker->has_ended && (n >= 0 || n == -EPROTO))
                n = await_packet(worker, task, &head, NULL, 0);
        return 0;
}

/* Suspends for at most a second, also in a cancelled task. */
static void worker_end(struct worker *worker)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = END_WAIT_NS };
        eddy_scope shield;

        worker_kill(worker);
        eddy_scope_begin(&shield, &opts);
        (void) await_end(worker);
        (void) eddy_scope_end(&shield);
        worker_drop(worker);
}

/* The caller has a place for it, which is given back after an error. */
static int worker_start(eddy_process_pool *pool, struct worker **ret_worker)
{
        struct ed_sys *sys = pool->member.loop->sys;
        struct worker *worker = ed_alloc_zero(sizeof(*worker));
        int fd, err = worker ? 0 : -ENOMEM;

        if (worker && pool->died_young == DIED_YOUNG_MAX)
                err = eddy_sleep(START_PAUSE_NS);
        if (pool->is_terminated)
                err = EDDY_E_PROCESS_POOL_CLOSED;
        else if (err == 0)
                err = sys->zygote->start(sys, pool->memory_bytes_max, &fd);
        if (err < 0) {
                ed_free(worker);
                place_give(pool);
                return err;
        }
        worker->pool = pool;
        ed_watch_init(&worker->watch, pool->member.loop, fd);
        ed_list_push_back(&pool->busy, &worker->link);
        pool->started++;
        *ret_worker = worker;
        return 0;
}

/* Give an idle worker to the next call. */
static void worker_give(struct worker *worker)
{
        eddy_process_pool *pool = worker->pool;
        struct ed_waiter *waiter = ed_waiters_first(pool->line);

        if (waiter) {
                *(struct worker **) waiter->item = worker;
                ed_waiters_serve(waiter, 0);
                return;
        }
        ed_list_remove(&worker->link);
        ed_list_push_front(&pool->idle, &worker->link);
}

/* Returns an idle worker, or NULL. Those that have ended meanwhile are dropped. */
static struct worker *worker_take_idle(eddy_process_pool *pool)
{
        while (!ed_list_is_empty(&pool->idle)) {
                struct worker *worker = ed_container_of(pool->idle.next, struct worker, link);
                struct ed_worker_packet head;

                if (receive(worker, &head, NULL, 0) == -EAGAIN) {
                        ed_list_remove(&worker->link);
                        ed_list_push_back(&pool->busy, &worker->link);
                        return worker;
                }
                worker_kill(worker);
                worker_drop(worker);
        }
        return NULL;
}

/* Wait for a worker, or for the place of one. */
static int worker_await(eddy_process_pool *pool, struct ed_task *task, struct worker **ret_worker)
{
        struct worker *worker = NULL;
        struct ed_waiter waiter;
        int err;

        if (pool->queued >= pool->queued_max)
                return -EAGAIN;
        ed_waiter_init(&waiter, task, &worker);
        ed_waiters_push(pool->line, &waiter);
        pool->queued++;
        err = ed_suspend_park(task, "a worker process", ed_waiters_abort, &waiter);
        pool->queued--;
        if (err < 0)
                return err;
        err = ed_suspend_enter(&task);
        if (err == 0 && !worker)
                return worker_start(pool, ret_worker);
        if (err == 0)
                *ret_worker = worker;
        else if (worker)
                worker_give(worker);
        else
                place_give(pool);
        return err;
}

static int worker_take(eddy_process_pool *pool, struct ed_task *task, struct worker **ret_worker)
{
        struct worker *worker = worker_take_idle(pool);

        if (worker) {
                *ret_worker = worker;
                return 0;
        }
        if (pool->workers >= pool->workers_max)
                return worker_await(pool, task, ret_worker);
        pool->workers++;
        return worker_start(pool, ret_worker);
}

/* --- calls --- */

static void pool_free(eddy_process_pool *pool)
{
        ed_member_leave(&pool->member);
        ed_free(pool);
}

static int check_use(const eddy_process_pool *pool)
{
        if (!pool)
                return -EINVAL;
        if (ed_sys_forked_since(pool->forks))
                return EDDY_E_LOOP_FORKED;
        return ed_member_check(&pool->member);
}

int ed_process_pool_enter(eddy_process_pool *pool, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err == 0)
                err = check_use(pool);
        if (err == 0 && pool->is_shut)
                err = EDDY_E_PROCESS_POOL_CLOSED;
        if (err == 0)
                pool->users++;
        return err;
}

void ed_process_pool_leave(eddy_process_pool *pool)
{
        if (--pool->users > 0)
                return;
        while (ed_waiters_wake(pool->joiners, 0))
                continue;
        if (pool->is_freed)
                pool_free(pool);
}

int ed_process_pool_talk(eddy_process_pool *pool, const struct ed_worker_packet *head,
                         struct eddy_process_call *call)
{
        struct worker *worker;
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err == 0 && pool->is_terminated)
                err = EDDY_E_PROCESS_POOL_CLOSED;
        if (err == 0)
                err = worker_take(pool, task, &worker);
        if (err < 0)
                return err;
        pool->running++;
        worker->calls++;
        worker->is_usable = false;
        err = request_send(worker, task, head, call);
        if (err == 0)
                err = reply_receive(worker, task, call);
        pool->running--;
        if (worker->is_usable && !pool->is_terminated &&
            (!pool->calls_max || worker->calls < pool->calls_max))
                worker_give(worker);
        else
                worker_end(worker);
        return err;
}

static bool is_call_valid(const struct eddy_process_call *call)
{
        if (!call || !call->fn || call->buffers_count > EDDY_PROCESS_BUFFERS_MAX ||
            call->input_bytes > EDDY_PROCESS_CALL_BYTES_MAX ||
            call->result_bytes_max > EDDY_PROCESS_CALL_BYTES_MAX)
                return false;
        for (uint32_t i = 0; i < call->buffers_count; i++)
                if (!call->buffers[i])
                        return false;
        return true;
}

int eddy_process_pool_call(eddy_process_pool *pool, struct eddy_process_call *call)
{
        struct ed_worker_packet head = { .kind = ED_WORKER_PACKET_CALL };
        struct ed_task *task;
        int err = ed_process_pool_enter(pool, &task);

        if (err < 0)
                return err;
        err = -EINVAL;
        if (is_call_valid(call)) {
                head.fn = (uint64_t) (uintptr_t) call->fn;
                head.bytes = call->input_bytes;
                head.room = call->result_bytes_max;
                err = ed_process_pool_talk(pool, &head, call);
        }
        ed_process_pool_leave(pool);
        return err;
}

/* --- pools --- */

static const char pools_key;

/* The pools of a loop. */
struct pools {
        struct ed_loop_local local;
        struct ed_list open;
};

static void drop_all(struct ed_list *workers)
{
        while (!ed_list_is_empty(workers))
                worker_drop(ed_container_of(workers->next, struct worker, link));
}

static void kill_all(const struct ed_list *workers)
{
        for (const struct ed_list *link = workers->next; link != workers; link = link->next)
                worker_kill(ed_container_of(link, struct worker, link));
}

/* The run ends: open pools lose their workers. */
static void pools_free(struct ed_loop_local *local)
{
        struct pools *pools = ed_container_of(local, struct pools, local);

        while (!ed_list_is_empty(&pools->open)) {
                eddy_process_pool *pool =
                        ed_container_of(pools->open.next, struct eddy_process_pool, link);

                eddy_process_pool_terminate(pool);
                drop_all(&pool->idle);
                drop_all(&pool->busy);
                ed_list_remove(&pool->link);
                ed_member_leave(&pool->member);
        }
        ed_free(pools);
}

static struct pools *pools_of(struct ed_loop *loop)
{
        struct ed_loop_local *local = ed_loop_local_find(loop, &pools_key);
        struct pools *pools;

        if (local)
                return ed_container_of(local, struct pools, local);
        pools = ed_alloc_zero(sizeof(*pools));
        if (!pools)
                return NULL;
        pools->local.key = &pools_key;
        pools->local.free = pools_free;
        ed_list_init(&pools->open);
        ed_loop_local_add(loop, &pools->local);
        return pools;
}

int eddy_process_pool_prepare(void)
{
        if (!ed_zygote_is_prepared() && ed_loop_current)
                return EDDY_E_PROCESS_POOL_LATE;
        return ed_zygote_prepare();
}

int eddy_process_pool_open(const struct eddy_process_pool_opts *opts, eddy_process_pool **ret_pool)
{
        static const struct eddy_process_pool_opts defaults;
        struct ed_loop *loop = ed_loop_current;
        eddy_process_pool *pool;
        struct pools *pools;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!opts)
                opts = &defaults;
        if (opts->workers_max > EDDY_PROCESS_WORKERS_MAX ||
            opts->queued_max > EDDY_PROCESS_QUEUED_MAX)
                return -EINVAL;
        if (!loop->sys->zygote)
                return EDDY_E_PROCESS_SIMULATED;
        if (!ed_zygote_is_prepared())
                return EDDY_E_PROCESS_POOL_NOT_PREPARED;
        pools = pools_of(loop);
        pool = pools ? ed_alloc_zero(sizeof(*pool)) : NULL;
        if (!pool)
                return -ENOMEM;
        ed_member_join(&pool->member, loop, NULL);
        pool->forks = ed_sys_forks();
        pool->workers_max = opts->workers_max ? opts->workers_max : eddy_cpu_count();
        if (pool->workers_max > EDDY_PROCESS_WORKERS_MAX)
                pool->workers_max = EDDY_PROCESS_WORKERS_MAX;
        pool->queued_max = opts->queued_max ? opts->queued_max : QUEUED_MAX;
        pool->calls_max = opts->calls_max;
        pool->memory_bytes_max = opts->memory_bytes_max;
        ed_list_init(&pool->idle);
        ed_list_init(&pool->busy);
        ed_list_push_back(&pools->open, &pool->link);
        ed_debug_made(pool, ED_DEBUG_PROCESS_POOL);
        *ret_pool = pool;
        return 0;
}

void eddy_process_pool_shutdown(eddy_process_pool *pool)
{
        if (check_use(pool) == 0)
                pool->is_shut = true;
}

int eddy_process_pool_join(eddy_process_pool *pool)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err == 0)
                err = check_use(pool);
        if (err < 0)
                return err;
        if (!pool->is_shut)
                return -EBUSY;
        if (pool->users == 0) {
                ed_suspend_passed(task);
                return 0;
        }
        ed_waiter_init(&waiter, task, NULL);
        ed_waiters_push(pool->joiners, &waiter);
        return ed_suspend_park(task, "the calls of a process pool", ed_waiters_abort, &waiter);
}

void eddy_process_pool_terminate(eddy_process_pool *pool)
{
        if (!pool || !pool->member.loop || ed_sys_forked_since(pool->forks) || pool->is_terminated)
                return;
        pool->is_shut = pool->is_terminated = true;
        kill_all(&pool->idle);
        kill_all(&pool->busy);
        while (ed_waiters_wake(pool->line, EDDY_E_PROCESS_POOL_CLOSED))
                continue;
}

/* In a child of fork(): the loop's poller is the parent's, so only close and free. */
static void forget_all(struct ed_list *workers)
{
        while (!ed_list_is_empty(workers)) {
                struct worker *worker = ed_container_of(workers->next, struct worker, link);

                ed_worker_packet_close(worker->watch.fd);
                ed_member_leave(&worker->watch.member);
                ed_list_remove(&worker->link);
                ed_free(worker);
        }
}

/*
 * The calls return by themselves, since their workers were killed. The shield limits the time for
 * all idle workers together.
 */
static void close_in_task(eddy_process_pool *pool, struct ed_task *task)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = END_WAIT_NS };
        struct ed_waiter waiter;
        eddy_scope shield;

        if (pool->users > 0) {
                ed_waiter_init(&waiter, task, NULL);
                ed_waiters_push(pool->joiners, &waiter);
                (void) ed_suspend_park(task, "the calls of a process pool", NULL, NULL);
        }
        eddy_scope_begin(&shield, &opts);
        while (!ed_list_is_empty(&pool->idle))
                worker_end(ed_container_of(pool->idle.next, struct worker, link));
        (void) eddy_scope_end(&shield);
}

void eddy_process_pool_close(eddy_process_pool *pool)
{
        if (!pool)
                return;
        if (!ed_sys_forked_since(pool->forks) &&
            !ed_misuse_may_close(&pool->member, "a process pool"))
                return;
        ed_debug_gone(pool);
        if (ed_sys_forked_since(pool->forks)) {
                forget_all(&pool->idle);
                forget_all(&pool->busy);
        } else if (pool->member.loop) {
                eddy_process_pool_terminate(pool);
                if (ed_task_running())
                        close_in_task(pool, ed_task_running());
                drop_all(&pool->idle);
                ed_list_remove(&pool->link);
                pool->is_freed = pool->users > 0;
        }
        if (!pool->is_freed)
                pool_free(pool);
}

void eddy_process_pool_info(const eddy_process_pool *pool, struct eddy_process_pool_info *ret_info)
{
        *ret_info = (struct eddy_process_pool_info){ .workers = 0 };
        if (!pool)
                return;
        ret_info->workers = pool->workers;
        ret_info->running = pool->running;
        ret_info->queued = pool->queued;
        ret_info->started = pool->started;
        ret_info->died = pool->died;
}
