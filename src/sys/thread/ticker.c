/*
 * sys/thread/ticker.c - a thread that watches another thread.
 */
#include "sys/thread/ticker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/valgrind.h"
#include "sys/fault/handler.h"
#include "sys/fault/symbol.h"
#include "sys/libc.h"
#include "sys/poll/signals.h"
#include "sys/sys.h"
#include "sys/thread/thread_state.h"
#include "sys/thread/worker_thread.h"

/*
 * A thread that is short of processor time answers late; a thread that blocks the signal never
 * does.
 */
enum { SAMPLE_WAIT_NS = 1000000000, PAUSE_NS = 100000 };

/*
 * A thread is asked only after it has used RAN_NS of processor time without blocking, so that the
 * signal does not interrupt a system call. Until then the thread's state is checked every LOOK_NS.
 */
enum { RAN_NS = 100000, LOOK_NS = 1000000, LOOKS_MAX = 200, TIMES_BLOCKED_MAX = 5 };

/* backtrace() takes about 4 KiB; sanitizers more. */
enum { SAMPLE_ROOM_BYTES = 16 * 1024 };

struct ed_ticker {
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        _Atomic bool ended; /* set under the lock; a waiting sample reads it without */
        int64_t period_ns;
        ed_ticker_fn *fn;
        void *arg;
        pid_t watched;
        clockid_t used;          /* clock of the thread's processor time */
        struct ed_ticker *older; /* the next older ticker of this thread */
        _Atomic int asked;       /* a sample is requested */
        _Atomic int count;       /* number of 'frames'; -1: no answer yet */
        void (*look)(void *arg);
        void *look_arg;
        void *frames[ED_FRAMES_MAX];
};

static struct {
        pthread_mutex_t lock;
        unsigned users; /* number of tickers */
        int signo;      /* the signal used for requests; 0: none chosen yet */
} sampling = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The watched thread's tickers, one for each of its loops. The signal handler reads the list. */
static __thread struct ed_ticker *watched_by __attribute__((tls_model("initial-exec")));

/* Returns the bytes left on the current alternate stack, or 0 if this runs on another stack. */
static size_t signal_stack_left(void)
{
        uintptr_t here = (uintptr_t) __builtin_frame_address(0), bottom;
        stack_t stack = { .ss_flags = SS_DISABLE };

        (void) sigaltstack(NULL, &stack);
        bottom = (uintptr_t) stack.ss_sp;
        if (stack.ss_flags & SS_DISABLE || here < bottom || here - bottom > stack.ss_size)
                return 0;
        return here - bottom;
}

static void on_sample(int signo, siginfo_t *info, void *context)
{
        static const struct ed_handler none = { .former = { .sa_handler = SIG_DFL } };
        int saved = errno, n;

        if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &sampling)
                ed_handler_pass_on(signo, info, context, &none);
        for (struct ed_ticker *ticker = watched_by; ticker; ticker = ticker->older) {
                if (!atomic_exchange(&ticker->asked, 0))
                        continue;
                ticker->look(ticker->look_arg);
                n = 0;
                /* The program may have set a small stack, or run its own handler now. */
                if (signal_stack_left() >= SAMPLE_ROOM_BYTES)
                        n = backtrace(ticker->frames, ED_FRAMES_MAX);
                atomic_store(&ticker->count, n);
        }
        errno = saved;
}

/* Returns true if the program neither handles nor blocks a signal. */
static bool is_unused(int signo, uint64_t masked)
{
        struct sigaction now;

        return !(masked & ed_signal_bit(signo)) && !ed_handler_now(signo, on_sample, &now) &&
               now.sa_handler == SIG_DFL;
}

/* Called with the lock. Returns 0 if the program uses all of them. */
static int signal_choose(uint64_t masked)
{
        int signo;

        for (signo = SIGRTMAX - 3; signo >= SIGRTMIN; signo--)
                if (is_unused(signo, masked))
                        return signo;
        for (signo = SIGRTMAX - 2; signo <= SIGRTMAX; signo++)
                if (is_unused(signo, masked))
                        return signo;
        return 0;
}

/*
 * Returns the signal to ask a thread that blocks the signals in 'masked', or 0 if there is none. If
 * the program has taken the signal over since the last time, another is chosen.
 */
static int signal_to_ask(uint64_t masked)
{
        struct ed_handler unused;
        struct sigaction now;
        int signo;

        pthread_mutex_lock(&sampling.lock);
        signo = sampling.signo;
        if (!signo || !ed_handler_now(signo, on_sample, &now)) {
                signo = signal_choose(masked);
                if (signo && ed_handler_install(signo, on_sample, SA_RESTART, &unused) < 0)
                        signo = 0;
                sampling.signo = signo;
        }
        pthread_mutex_unlock(&sampling.lock);
        return signo && !(masked & ed_signal_bit(signo)) ? signo : 0;
}

/* Called with the lock when no ticker is left. */
static void sampling_end(void)
{
        struct sigaction now;

        if (sampling.signo && ed_handler_now(sampling.signo, on_sample, &now)) {
                /*
                 * Ignoring the signal drops a blocked pending one, which the default handling would
                 * turn fatal.
                 */
                (void) signal(sampling.signo, SIG_IGN);
                (void) signal(sampling.signo, SIG_DFL);
        }
        sampling.signo = 0;
}

static void deadline_in(int64_t ns, struct timespec *ret)
{
        int64_t at = ed_sys_now() + ns;

        ret->tv_sec = at / 1000000000;
        ret->tv_nsec = at % 1000000000;
}

static void *ticker_main(void *arg)
{
        struct ed_ticker *ticker = arg;

        pthread_mutex_lock(&ticker->lock);
        while (!ticker->ended) {
                struct timespec until;

                deadline_in(ticker->period_ns, &until);
                while (!ticker->ended &&
                       pthread_cond_timedwait(&ticker->changed, &ticker->lock, &until) == 0)
                        continue;
                if (ticker->ended)
                        break;
                pthread_mutex_unlock(&ticker->lock);
                ticker->fn(ticker->arg, ticker);
                pthread_mutex_lock(&ticker->lock);
        }
        pthread_mutex_unlock(&ticker->lock);
        return NULL;
}

int ed_sys_ticker_new(int64_t period_ns, ed_ticker_fn *fn, void *arg, struct ed_ticker **ret_ticker)
{
        struct ed_ticker *ticker;
        pthread_condattr_t attr;
        void *first;
        int err;

        ticker = ed_alloc_zero(sizeof(*ticker));
        if (!ticker)
                return -ENOMEM;
        ticker->period_ns = period_ns;
        ticker->fn = fn;
        ticker->arg = arg;
        ticker->watched = (pid_t) syscall(SYS_gettid);
        (void) pthread_getcpuclockid(pthread_self(), &ticker->used);
        pthread_mutex_init(&ticker->lock, NULL);
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&ticker->changed, &attr);
        pthread_condattr_destroy(&attr);
        /* The first call loads the unwinder, which is unsafe in a signal handler. */
        (void) backtrace(&first, 1);

        pthread_mutex_lock(&sampling.lock);
        sampling.users++;
        pthread_mutex_unlock(&sampling.lock);
        ticker->older = watched_by;
        atomic_signal_fence(memory_order_seq_cst);
        watched_by = ticker;
        err = ed_thread_start(&ticker->thread, ticker_main, ticker);
        if (err < 0) {
                ticker->ended = true;
                ed_sys_ticker_free(ticker);
                return err;
        }
        *ret_ticker = ticker;
        return 0;
}

void ed_sys_ticker_free(struct ed_ticker *ticker)
{
        if (!ticker->ended) {
                pthread_mutex_lock(&ticker->lock);
                ticker->ended = true;
                pthread_cond_signal(&ticker->changed);
                pthread_mutex_unlock(&ticker->lock);
                pthread_join(ticker->thread, NULL);
        }
        for (struct ed_ticker **place = &watched_by; *place; place = &(*place)->older)
                if (*place == ticker) {
                        *place = ticker->older;
                        break;
                }
        atomic_signal_fence(memory_order_seq_cst);
        pthread_mutex_lock(&sampling.lock);
        if (--sampling.users == 0)
                sampling_end();
        pthread_mutex_unlock(&sampling.lock);
        pthread_cond_destroy(&ticker->changed);
        pthread_mutex_destroy(&ticker->lock);
        ed_free(ticker);
}

static void pause_ns(long ns)
{
        struct timespec pause = { .tv_nsec = ns };

        (void) nanosleep(&pause, NULL);
}

static int64_t used_ns(const struct ed_ticker *ticker)
{
        struct timespec used = { .tv_sec = 0 };

        (void) clock_gettime(ticker->used, &used);
        return (int64_t) used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Returns 0 if the thread may be asked, else the result of the sample. */
static int look_at_thread(const struct ed_ticker *ticker, struct ed_thread_state *ret_state)
{
        int64_t since_ns = 0;
        uint64_t blocks = 0;
        int times = 0;

        /* Under Valgrind threads take turns and are blocked meanwhile. */
        if (ed_on_valgrind())
                return 0;
        for (int i = 0; i < LOOKS_MAX && times < TIMES_BLOCKED_MAX; i++) {
                if (i > 0)
                        pause_ns(LOOK_NS);
                if (ed_thread_state(ticker->watched, ret_state) < 0)
                        return ED_SAMPLE_HIDDEN;
                if (ret_state->is_blocked)
                        return ED_SAMPLE_BLOCKED;
                if (i == 0 || ret_state->blocks != blocks) {
                        since_ns = used_ns(ticker);
                        times += i > 0;
                }
                if (used_ns(ticker) - since_ns > RAN_NS)
                        return 0;
                blocks = ret_state->blocks;
        }
        return times == TIMES_BLOCKED_MAX ? ED_SAMPLE_RESTLESS : ED_SAMPLE_STARVED;
}

/* Returns false if the signal cannot be sent. */
static bool ask(struct ed_ticker *ticker, int signo)
{
        siginfo_t info = { .si_signo = signo, .si_code = SI_QUEUE };

        info.si_value.sival_ptr = &sampling;
        atomic_store(&ticker->count, -1);
        atomic_store(&ticker->asked, 1);
        return syscall(SYS_rt_tgsigqueueinfo, getpid(), ticker->watched, signo, &info) == 0;
}

/* The first sampled frames belong to the signal's delivery. */
enum { FRAMES_OF_SIGNAL = 2 };

int ed_sys_ticker_sample(struct ed_ticker *ticker, void (*look)(void *arg), void *arg,
                         struct ed_sample *ret_sample)
{
        struct ed_thread_state state = { .call = -1 };
        int known = look_at_thread(ticker, &state), signo, n;
        int64_t until_ns;
        bool is_over;

        *ret_sample = (struct ed_sample){ .call = state.call };
        if (known)
                return known;
        signo = signal_to_ask(state.masked);
        if (!signo)
                return ED_SAMPLE_UNANSWERED;
        ticker->look = look;
        ticker->look_arg = arg;
        until_ns = ed_sys_now() + SAMPLE_WAIT_NS;
        is_over = !ask(ticker, signo);
        while (atomic_load(&ticker->count) < 0) {
                is_over = is_over || atomic_load(&ticker->ended) || ed_sys_now() > until_ns;
                /*
                 * Withdraw the request: otherwise another ticker's signal would run 'look' on freed
                 * memory.
                 */
                if (is_over && atomic_exchange(&ticker->asked, 0))
                        return ED_SAMPLE_UNANSWERED;
                pause_ns(PAUSE_NS);
        }
        n = atomic_load(&ticker->count) - FRAMES_OF_SIGNAL;
        if (n > 0) {
                memcpy(ret_sample->frames, ticker->frames + FRAMES_OF_SIGNAL,
                       (size_t) n * sizeof(ticker->frames[0]));
                ret_sample->count = n;
        }
        return ED_SAMPLE_TAKEN;
}

bool ed_sys_peek(const void *from, void *to, size_t bytes)
{
        struct iovec here = { to, bytes }, there = { (void *) from, bytes };

        return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t) bytes;
}

/* The child has no tickers, and the thread that held the lock does not exist. */
void ed_sys_tickers_forget(void)
{
        pthread_mutex_init(&sampling.lock, NULL);
        sampling_end();
        sampling.users = 0;
        watched_by = NULL;
}
