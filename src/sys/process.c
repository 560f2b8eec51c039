/*
 * sys/process.c - faults, reports on standard error, the watching thread,
 * children of fork() and ends of threads.
 */
#include "sys/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/valgrind.h"
#include "sys/handler.h"
#include "sys/signals.h"
#include "sys/thread_state.h"
#include "sys/worker.h"

/* --- faults in guards --- */

/* The alternate stack of a thread that runs a loop; and what a former one has to have at least. */
enum { FAULT_STACK_BYTES = 64 * 1024, FAULT_STACK_MIN = 32 * 1024 };

static const int fault_signals[] = { SIGSEGV, SIGBUS };

static struct {
        pthread_mutex_t lock;
        unsigned users;
        struct ed_handler handlers[ed_array_count(fault_signals)];
} fault = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of the calling thread, all its loops together. */
static __thread ed_fault_fn *fault_fn __attribute__((tls_model("initial-exec")));
static __thread unsigned fault_users __attribute__((tls_model("initial-exec")));
static __thread void *fault_stack __attribute__((tls_model("initial-exec")));
static __thread stack_t fault_stack_former __attribute__((tls_model("initial-exec")));

static void on_fault(int signo, siginfo_t *info, void *context)
{
        const struct ed_handler *handler = &fault.handlers[signo == SIGSEGV ? 0 : 1];
        /* Not by kill(2) and its like: it comes again when this returns. */
        bool is_fault = info->si_code > 0;

        if (is_fault &&
            ((fault_fn && fault_fn(info->si_addr)) || !ed_handler_is_function(&handler->former)))
                (void) signal(signo, SIG_DFL);
        else
                ed_handler_pass_on(signo, info, context, handler);
}

/* Errors: -ENOMEM. */
static int fault_stack_make(void)
{
        stack_t stack = { .ss_size = FAULT_STACK_BYTES }, now = { .ss_flags = SS_DISABLE };
        int err;

        /* One of the thread's own will do if it is large.  A stack in use cannot be replaced. */
        (void) sigaltstack(NULL, &now);
        if (now.ss_flags & SS_ONSTACK ||
            (!(now.ss_flags & SS_DISABLE) && now.ss_size >= FAULT_STACK_MIN))
                return 0;
        err = ed_sys_map(FAULT_STACK_BYTES, &fault_stack);
        if (err < 0)
                return err;
        stack.ss_sp = fault_stack;
        if (sigaltstack(&stack, &fault_stack_former) == 0)
                return 0;
        ed_sys_unmap(fault_stack, FAULT_STACK_BYTES);
        fault_stack = NULL;
        return -ENOMEM;
}

/* The former one comes back, unless the program has set another since. */
static void fault_stack_free(void)
{
        stack_t now = { .ss_flags = SS_DISABLE };

        if (!fault_stack)
                return;
        (void) sigaltstack(NULL, &now);
        /* Valgrind keeps the address of a stack that is disabled. */
        if (!(now.ss_flags & SS_DISABLE) && now.ss_sp == fault_stack)
                (void) sigaltstack(&fault_stack_former, NULL);
        /* This call may be made by a handler that runs on it. */
        if (!(now.ss_flags & SS_ONSTACK))
                ed_sys_unmap(fault_stack, FAULT_STACK_BYTES);
        fault_stack = NULL;
}

int ed_sys_fault_install(ed_fault_fn *fn)
{
        int err = fault_users == 0 ? fault_stack_make() : 0;

        if (err < 0)
                return err;
        fault_users++;
        fault_fn = fn;
        pthread_mutex_lock(&fault.lock);
        fault.users++;
        for (size_t i = 0; i < ed_array_count(fault_signals); i++)
                (void) ed_handler_install(fault_signals[i], on_fault, SA_NODEFER,
                                          &fault.handlers[i]);
        pthread_mutex_unlock(&fault.lock);
        return 0;
}

static void fault_handlers_remove(void)
{
        for (size_t i = 0; i < ed_array_count(fault_signals); i++)
                ed_handler_remove(fault_signals[i], on_fault, &fault.handlers[i]);
}

void ed_sys_fault_remove(void)
{
        pthread_mutex_lock(&fault.lock);
        if (--fault.users == 0)
                fault_handlers_remove();
        pthread_mutex_unlock(&fault.lock);
        if (--fault_users > 0)
                return;
        fault_fn = NULL;
        fault_stack_free();
}

/* --- writing --- */

int64_t ed_sys_write_quietly(int fd, const void *data, size_t bytes)
{
        static const struct timespec at_once;
        sigset_t pipe_only, former, pending;
        bool was_pending;
        int64_t n;

        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        sigpending(&pending);
        was_pending = sigismember(&pending, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe_only, &former);
        n = write(fd, data, bytes);
        if (n < 0) {
                n = -errno;
                if (n == -EPIPE && !was_pending)
                        while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
                                continue;
        }
        pthread_sigmask(SIG_SETMASK, &former, NULL);
        return n;
}

/* For how long a report waits until a standard error that is full has room. */
enum { ERROR_WAIT_MS = 200 };

static bool error_has_room(void)
{
        struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
        int n = poll(&room, 1, ERROR_WAIT_MS);

        return n > 0 || (n < 0 && errno == EINTR);
}

void ed_sys_write_error(const char *text, size_t bytes)
{
        int saved = errno;
        int64_t n;

        while (bytes > 0) {
                n = ed_sys_write_quietly(STDERR_FILENO, text, bytes);
                if (n >= 0) {
                        text += n;
                        bytes -= (size_t) n;
                } else if (n != -EINTR && !(n == -EAGAIN && error_has_room())) {
                        break;
                }
        }
        errno = saved;
}

void ed_sys_thread_stack(void **ret_base, size_t *ret_bytes)
{
        pthread_attr_t attr;

        *ret_base = NULL;
        *ret_bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attr) == 0) {
                (void) pthread_attr_getstack(&attr, ret_base, ret_bytes);
                (void) pthread_attr_destroy(&attr);
        }
}

bool ed_sys_on_thread_stack(const void *at)
{
        size_t bytes;
        void *base;

        ed_sys_thread_stack(&base, &bytes);
        return (const char *) at >= (const char *) base &&
               (const char *) at < (const char *) base + bytes;
}

/* --- the watching thread --- */

/* A thread that others keep from its processor answers late; one that blocks the signal, never. */
enum { SAMPLE_WAIT_NS = 1000000000, PAUSE_NS = 100000 };

/*
 * A thread is asked only after it has used its processor for RAN_NS without
 * being blocked: the signal does not interrupt a system call then, or one that
 * is about to return.  It is looked at each LOOK_NS until that is known.
 */
enum { RAN_NS = 100000, LOOK_NS = 1000000, LOOKS_MAX = 200, TIMES_BLOCKED_MAX = 5 };

/* backtrace() takes about 4 KiB; sanitizers more. */
enum { SAMPLE_ROOM_BYTES = 16 * 1024 };

struct ed_ticker {
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        _Atomic bool ended; /* set under the lock; a sample that waits looks without */
        int64_t period_ns;
        ed_ticker_fn *fn;
        void *arg;
        pid_t watched;
        clockid_t used;          /* of the processor, by that thread */
        struct ed_ticker *older; /* of the same thread */
        _Atomic int asked;       /* a sample is wanted */
        _Atomic int count;       /* of 'frames'; -1: no answer yet */
        void (*look)(void *arg);
        void *look_arg;
        void *frames[ED_FRAMES_MAX];
};

static struct {
        pthread_mutex_t lock;
        unsigned users; /* tickers */
        int signo;      /* that asks; 0: nothing was asked yet */
} sampling = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of the watched thread: one for each of its loops.  Its signal handler reads the list. */
static __thread struct ed_ticker *watched_by __attribute__((tls_model("initial-exec")));

/* How much is left of the alternate stack that this runs on; 0: it runs on another stack. */
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
                /* The program may have set a small stack, or be in a handler of its own. */
                if (signal_stack_left() >= SAMPLE_ROOM_BYTES)
                        n = backtrace(ticker->frames, ED_FRAMES_MAX);
                atomic_store(&ticker->count, n);
        }
        errno = saved;
}

/* Whether the program has no use for a signal: it neither handles nor blocks it. */
static bool is_unused(int signo, uint64_t masked)
{
        struct sigaction now;

        return !(masked & ed_signal_bit(signo)) && !ed_handler_now(signo, on_sample, &now) &&
               now.sa_handler == SIG_DFL;
}

/* With the lock.  Returns 0 if the program uses all of them. */
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
 * The signal that asks a thread which blocks those of 'masked'; 0: there is
 * none.  One that the program has taken since the last time is left to it.
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

/* With the lock, and no ticker left. */
static void sampling_end(void)
{
        struct sigaction now;

        if (sampling.signo && ed_handler_now(sampling.signo, on_sample, &now)) {
                /* Ignoring drops one that a thread has blocked: it must not meet the default. */
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
        /* The first call loads the unwinder, which a signal handler must not. */
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

/* Returns 0 if the thread may be asked, else what is known instead. */
static int look_at_thread(const struct ed_ticker *ticker, struct ed_thread_state *ret_state)
{
        int64_t since_ns = 0;
        uint64_t blocks = 0;
        int times = 0;

        /* Threads take turns there, and are blocked meanwhile, by Valgrind. */
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

/* False: the signal cannot be sent. */
static bool ask(struct ed_ticker *ticker, int signo)
{
        siginfo_t info = { .si_signo = signo, .si_code = SI_QUEUE };

        info.si_value.sival_ptr = &sampling;
        atomic_store(&ticker->count, -1);
        atomic_store(&ticker->asked, 1);
        return syscall(SYS_rt_tgsigqueueinfo, getpid(), ticker->watched, signo, &info) == 0;
}

/* Of the frames sampled the first are those of the signal's delivery. */
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
                /* Taken back, or another ticker's signal would have it look at what is gone. */
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

/* --- who calls --- */

/* As many as 16 MiB of stack hold; pages that no frame comes to are not touched. */
enum { CALLERS_MAX = 1 << 20, CALLERS_SKIPPED_MAX = 16 };

bool ed_sys_called_from(const void *return_address)
{
        size_t bytes = CALLERS_MAX * sizeof(void *);
        bool found = false;
        void *memory, **frames;
        int n;

        if (ed_sys_map(bytes, &memory) < 0)
                return true;
        frames = memory;
        n = backtrace(frames, CALLERS_MAX);
        for (int i = 0; i < n && !found; i++)
                found = frames[i] == return_address;
        ed_sys_unmap(memory, bytes);
        return found || n == CALLERS_MAX;
}

int ed_sys_callers(const void *from, void **ret_frames, int max)
{
        void *frames[ED_FRAMES_MAX + CALLERS_SKIPPED_MAX];
        int n = backtrace(frames, (int) ed_array_count(frames)), begin = 0;

        for (int i = 0; i < n && begin == 0; i++)
                if (frames[i] == from)
                        begin = i;
        n = n - begin > max ? max : n - begin;
        if (n <= 0)
                return 0;
        memcpy(ret_frames, frames + begin, (size_t) n * sizeof(*frames));
        return n;
}

static bool has_name(const Dl_info *info)
{
        return info->dli_sname && strncmp(info->dli_sname, "ed_", 3) != 0;
}

bool ed_sys_is_inside(const void *address, const void *other)
{
        Dl_info info, others;

        if (!dladdr(address, &info) || has_name(&info))
                return false;
        return dladdr(other, &others) && info.dli_fbase == others.dli_fbase;
}

bool ed_sys_is_inside_named(const void *address, const char *name)
{
        const char *slash;
        Dl_info info;

        if (!dladdr(address, &info) || has_name(&info) || !info.dli_fname)
                return false;
        slash = strrchr(info.dli_fname, '/');
        return strncmp(slash ? slash + 1 : info.dli_fname, name, strlen(name)) == 0;
}

/* A long name must not cut off the offset, which says more. */
static void place_name(const char *name, size_t offset, char *buf, size_t bytes)
{
        char behind[24];
        size_t length = (size_t) snprintf(behind, sizeof(behind), "+0x%zx", offset);

        snprintf(buf, bytes, "%.*s%s", bytes > length ? (int) (bytes - length - 1) : 0, name,
                 behind);
}

void ed_sys_symbol(const void *address, char *buf, size_t bytes)
{
        const char *at = address, *slash;
        Dl_info info;

        if (!dladdr(address, &info) || !info.dli_fname) {
                snprintf(buf, bytes, "%p", address);
                return;
        }
        if (info.dli_sname && info.dli_saddr == address) {
                snprintf(buf, bytes, "%s", info.dli_sname);
                return;
        }
        if (info.dli_sname) {
                place_name(info.dli_sname, (size_t) (at - (const char *) info.dli_saddr), buf,
                           bytes);
                return;
        }
        slash = strrchr(info.dli_fname, '/');
        place_name(slash ? slash + 1 : info.dli_fname,
                   (size_t) (at - (const char *) info.dli_fbase), buf, bytes);
}

/* A name of C++ is not for readers. */
static bool is_exported(const void *fn)
{
        Dl_info info;

        return dladdr(fn, &info) && info.dli_sname && info.dli_saddr == fn &&
               strncmp(info.dli_sname, "_Z", 2) != 0;
}

/* Nothing is known of addresses then, and no library can be unloaded. */
static bool is_static_program(void)
{
        Dl_info info;

        return !dladdr(__func__, &info);
}

/* Whether the library that a text is in has not been unloaded since. */
static bool is_loaded(const char *text)
{
        Dl_info info;

        return dladdr(text, &info) || is_static_program();
}

void ed_sys_function(const void *fn, const char *text, char *buf, size_t bytes)
{
        const char *begin = NULL;
        size_t length = 0;

        if (text && !is_exported(fn) && is_loaded(text))
                length = ed_text_function(text, &begin);
        if (length > 0)
                snprintf(buf, bytes, "%.*s", (int) (length < bytes ? length : bytes), begin);
        else
                ed_sys_symbol(fn, buf, bytes);
}

/* --- children of fork() --- */

static struct {
        pthread_once_t once;
        void (*_Atomic in_child)(void);
        unsigned forks; /* written in a child, where no other thread is */
} forking = { .once = PTHREAD_ONCE_INIT };

/* The child has none of its parent's loops, and no thread that held a lock. */
static void process_forget(void)
{
        pthread_mutex_init(&fault.lock, NULL);
        pthread_mutex_init(&sampling.lock, NULL);
        if (fault.users > 0)
                fault_handlers_remove();
        sampling_end();
        fault.users = sampling.users = fault_users = 0;
        fault_fn = NULL;
        watched_by = NULL;
}

static void after_fork(void)
{
        forking.forks++;
        process_forget();
        ed_signals_forget();
        atomic_load (&forking.in_child)();
}

static void watch_forks(void)
{
        (void) pthread_atfork(NULL, NULL, after_fork);
}

void ed_sys_fork_watch(void (*in_child)(void))
{
        atomic_store(&forking.in_child, in_child);
        (void) pthread_once(&forking.once, watch_forks);
}

unsigned ed_sys_forks(void)
{
        return forking.forks;
}

/* --- the end of a thread --- */

static struct {
        pthread_once_t once;
        struct {
                pthread_key_t key; /* has a value on threads that are watched */
                bool has_key;
                void (*_Atomic fn)(void);
        } whose[ED_THREAD_ENDS];
} ending = { .once = PTHREAD_ONCE_INIT };

/* The value of a key is its place in 'whose'. */
static void on_thread_end(void *value)
{
        size_t i = (size_t) ((char *) value - (char *) ending.whose) / sizeof(ending.whose[0]);

        atomic_load (&ending.whose[i].fn)();
}

static void make_ending_keys(void)
{
        for (int i = 0; i < ED_THREAD_ENDS; i++)
                ending.whose[i].has_key =
                        pthread_key_create(&ending.whose[i].key, on_thread_end) == 0;
}

void ed_sys_thread_end_watch(int who, void (*fn)(void))
{
        if (fn)
                atomic_store(&ending.whose[who].fn, fn);
        (void) pthread_once(&ending.once, make_ending_keys);
        if (ending.whose[who].has_key)
                (void) pthread_setspecific(ending.whose[who].key, fn ? &ending.whose[who] : NULL);
}
