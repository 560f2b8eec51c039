/*
 * test_watchdog.c - what the watchdog reports of a thread that keeps its loop,
 * and that it does no harm: to system calls of the program, to its signals and
 * to its stacks.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scope/run.h"
#include "scope/watchdog.h"
#include "sys/thread/thread_state.h"
#include "sys/thread/ticker.h"
#include "test.h"

/* --- what the kernel says of the thread, unless a case says otherwise --- */

static _Atomic enum { SAYS_TRUTH, SAYS_RUNNING, SAYS_NOTHING } said_state;

/*
 * The watchdog's clock, for which a case may choose when the watchdog has waited long enough. It is held when the
 * watchdog looks at a thread that it may then ask.
 */
static _Atomic bool holds_clock;
static _Atomic int64_t held_ns; /* 0: the truth */
static _Atomic int held_reads;  /* how often the watchdog read it */
static __thread bool is_watchdog;

int64_t __real_ed_sys_now(void);
int64_t __wrap_ed_sys_now(void);

int64_t __wrap_ed_sys_now(void)
{
        if (!is_watchdog || !held_ns)
                return __real_ed_sys_now();
        held_reads++;
        return held_ns;
}

int __real_ed_thread_state(pid_t thread, struct ed_thread_state *ret_state);
int __wrap_ed_thread_state(pid_t thread, struct ed_thread_state *ret_state);

int __wrap_ed_thread_state(pid_t thread, struct ed_thread_state *ret_state)
{
        if (holds_clock) {
                is_watchdog = true;
                held_ns = __real_ed_sys_now();
        }
        if (said_state == SAYS_TRUTH)
                return __real_ed_thread_state(thread, ret_state);
        *ret_state = (struct ed_thread_state){ .call = -1 };
        return said_state == SAYS_NOTHING ? -ENOENT : 0;
}

static int returns(void *arg)
{
        return (int) (intptr_t) arg;
}

/* What the watchdog knows of a thread that does not answer; qemu lets no thread look at another. */
static const char *seen_from_outside(const char *task)
{
        return getenv("EDDY_TEST_QEMU") ? "(unknown)" : task;
}

/* ThreadSanitizer calls a handler later, on the stack of the task, which eddy takes no frames of. */
static void check_has_stack(const char *text)
{
#ifdef ED_TSAN
        CHECK(strstr(text, "an unknown place") != NULL);
#else
        CHECK(strstr(text, "<-") != NULL);
#endif
}

/* --- tasks that compute --- */

/* On a busy machine others may be reported too: any that is kept from its processor. */
struct hog {
        _Atomic int reports; /* of main */
        _Atomic int others;
        char text[1400];
};

static void on_report(const struct eddy_report *report, void *arg)
{
        struct hog *hog = arg;

        if (report->kind != EDDY_REPORT_WATCHDOG)
                return;
        if (strcmp(report->task, "main") != 0) {
                atomic_fetch_add(&hog->others, 1);
                return;
        }
        if (atomic_load(&hog->reports) == 0)
                snprintf(hog->text, sizeof(hog->text), "%s", report->text);
        atomic_fetch_add(&hog->reports, 1);
}

static int hogs(void *arg)
{
        struct hog *hog = arg;
        int64_t until = eddy_now() + EDDY_SEC(100);

        while (atomic_load(&hog->reports) == 0 && eddy_now() < until)
                continue;
        return 0;
}

/* A20: a task that keeps the loop is reported, once, with where it is. */
TEST(a_task_that_keeps_the_loop_is_reported_by_name_with_its_stack)
{
        struct hog hog = { 0 };
        struct eddy_run_opts opts = { .watchdog_ns = EDDY_MS(4),
                                      .report = on_report,
                                      .report_arg = &hog };

        test_needs_backtrace();
        CHECK_EQ(eddy_run(hogs, &hog, &opts), 0);
        CHECK_EQ(atomic_load(&hog.reports), 1);
        CHECK(strstr(hog.text, "kept the loop") != NULL);
        check_has_stack(hog.text);
}

static struct ed_ticker *never_ticks;
static int (*real_poll)(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max);

static void does_not_tick(void *arg, struct ed_ticker *ticker)
{
        (void) arg;
        (void) ticker;
}

/* The watchdog looks three times while the loop waits. */
static int watched_poll(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        for (int i = 0; timeout_ns != 0 && i < 3; i++)
                ed_watchdog_look(ed_run_of(ed_loop_current), never_ticks);
        return real_poll(sys, timeout_ns, events, max);
}

static int idles(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_MS(1));
}

/* Not a nanosecond is allowed to any that is no idle loop. */
TEST(an_idle_loop_is_not_a_hog)
{
        static struct ed_sys_poll wrapped;
        struct hog hog = { 0 };
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG,
                                      .watchdog_ns = 1,
                                      .report = on_report,
                                      .report_arg = &hog };
        struct ed_sys *sys;

        CHECK_EQ(ed_sys_ticker_new(EDDY_SEC(1000), does_not_tick, NULL, &never_ticks), 0);
        CHECK_EQ(ed_sys_epoll_new(&sys), 0);
        wrapped = *sys->poll;
        real_poll = wrapped.poll;
        wrapped.poll = watched_poll;
        sys->poll = &wrapped;
        CHECK_EQ(ed_run_on(sys, idles, NULL, &opts, NULL), 0);
        CHECK_EQ(atomic_load(&hog.reports) + atomic_load(&hog.others), 0);
        ed_sys_ticker_free(never_ticks);
}

/* The first report after the watchdog was seen to ask: others may come before it, and after. */
static _Atomic bool asked;
static struct {
        _Atomic bool came;
        char task[64], text[1400];
} answer;

static void on_answer(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != EDDY_REPORT_WATCHDOG || !asked || answer.came)
                return;
        snprintf(answer.task, sizeof(answer.task), "%s", report->task);
        snprintf(answer.text, sizeof(answer.text), "%s", report->text);
        answer.came = true;
}

static int keeps_the_loop_until_answered(void)
{
        int64_t until = eddy_now() + EDDY_SEC(100);

        while (!answer.came && eddy_now() < until)
                continue;
        return answer.came ? 0 : -ETIMEDOUT;
}

static const struct eddy_run_opts asking = { .watchdog_ns = EDDY_MS(4), .report = on_answer };

/* Keeps the loop with all signals blocked until the watchdog has asked for its stack. */
static int blocks_signals_until_asked(void)
{
        int64_t until = eddy_now() + EDDY_SEC(100);
        sigset_t all, pending;

        holds_clock = true; /* else the watchdog may not wait for a thread that the machine keeps */
        said_state = SAYS_RUNNING; /* else it would not be asked */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        do
                sigpending(&pending);
        while (!sigismember(&pending, SIGRTMAX - 3) && eddy_now() < until);
        asked = sigismember(&pending, SIGRTMAX - 3);
        return asked ? 0 : -ETIMEDOUT;
}

static void unblock_signals(void)
{
        sigset_t none;

        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* For the watchdog, which has asked, so much time passes. */
static void clock_advance(int64_t ns)
{
        int64_t until = eddy_now() + EDDY_SEC(100);
        int reads;

        held_ns += ns;
        reads = held_reads;
        while (held_reads < reads + 2 && !answer.came && eddy_now() < until)
                continue;
}

/* The watchdog asks with a signal; blocked, that must not kill the program when it is let in. */
static int never_answers(void *arg)
{
        (void) arg;
        CHECK_EQ(blocks_signals_until_asked(), 0);
        clock_advance(EDDY_MS(1001));
        return keeps_the_loop_until_answered();
}

TEST(a_program_that_blocks_all_signals_survives_the_watchdog)
{
        CHECK_EQ(eddy_run(never_answers, NULL, &asking), 0);
        CHECK_STR(answer.task, seen_from_outside("main"));
        /* The kernel does not say what a thread does that qemu simulates. */
        CHECK(getenv("EDDY_TEST_QEMU") || strstr(answer.text, "is in an unknown place") != NULL);
        unblock_signals();
        CHECK_EQ(eddy_run(returns, (void *) 1, NULL), 1);
}

/* As a thread does that others keep from its processor. */
static int answers_late(void *arg)
{
        (void) arg;
        CHECK_EQ(blocks_signals_until_asked(), 0);
        clock_advance(EDDY_MS(999));
        CHECK(!answer.came);
        unblock_signals();
        return keeps_the_loop_until_answered();
}

TEST(a_task_that_answers_the_watchdog_late_is_still_reported_with_its_stack)
{
        /* The watchdog waits for a second. */
        if (getenv("EDDY_TEST_QEMU"))
                test_skip("on a busy machine qemu may run a thread too late");
        test_needs_backtrace();
        CHECK_EQ(eddy_run(answers_late, NULL, &asking), 0);
        CHECK_STR(answer.task, "main");
        check_has_stack(answer.text);
}

static int lets_the_signal_in(void *arg)
{
        (void) arg;
        unblock_signals();
        return 0;
}

static int gives_way_before_it_answers(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, lets_the_signal_in, NULL);
        CHECK_EQ(blocks_signals_until_asked(), 0);
        return eddy_scope_end(&scope);
}

TEST(a_task_that_runs_when_the_watchdog_is_answered_late_is_not_blamed)
{
        CHECK_EQ(eddy_run(gives_way_before_it_answers, NULL, &asking), 0);
        CHECK_STR(answer.task, "(unknown)");
        CHECK(strstr(answer.text, "it suspended before its stack could be read") != NULL);
}

static int lets_in_and_reports(void *arg)
{
        unblock_signals();
        return eddy_event_set(arg);
}

struct late_calls {
        eddy_handle first, second;
        eddy_event over;
};

static int calls_before_it_answers(void *arg)
{
        struct late_calls *calls = arg;

        CHECK_EQ(eddy_loop_call_soon(NULL, &calls->second, lets_in_and_reports, &calls->over), 0);
        return blocks_signals_until_asked();
}

static int waits_for_late_calls(void *arg)
{
        struct late_calls calls = { .over = { 0 } };

        (void) arg;
        CHECK_EQ(eddy_loop_call_soon(NULL, &calls.first, calls_before_it_answers, &calls), 0);
        return eddy_event_wait(&calls.over);
}

TEST(a_callback_that_runs_when_the_watchdog_is_answered_late_is_not_blamed)
{
        CHECK_EQ(eddy_run(waits_for_late_calls, NULL, &asking), 0);
        CHECK_STR(answer.task, "(unknown)");
        CHECK(strstr(answer.text, "it suspended before its stack could be read") != NULL);
}

/* --- tasks that are blocked --- */

/* Whether the program was interrupted in a call that a handler ends early. */
struct blocking {
        const char *name; /* of the system call, if it is the same everywhere */
        int (*block)(int64_t ns);
};

static struct timespec timespec_of(int64_t ns)
{
        return (struct timespec){ .tv_sec = ns / EDDY_SEC(1), .tv_nsec = ns % EDDY_SEC(1) };
}

static int block_nanosleep(int64_t ns)
{
        struct timespec ts = timespec_of(ns);

        return nanosleep(&ts, NULL);
}

static int block_poll(int64_t ns)
{
        return poll(NULL, 0, (int) (ns / EDDY_MS(1)));
}

static int block_ppoll(int64_t ns)
{
        struct timespec ts = timespec_of(ns);

        return ppoll(NULL, 0, &ts, NULL);
}

static int block_sem(int64_t ns)
{
        struct timespec until;
        sem_t sem;
        int err;

        CHECK_EQ(sem_init(&sem, 0, 0), 0);
        CHECK_EQ(clock_gettime(CLOCK_REALTIME, &until), 0);
        until.tv_nsec += ns;
        until.tv_sec += until.tv_nsec / EDDY_SEC(1);
        until.tv_nsec %= EDDY_SEC(1);
        err = sem_timedwait(&sem, &until) < 0 && errno == ETIMEDOUT ? 0 : -errno;
        CHECK_EQ(sem_destroy(&sem), 0);
        return err;
}

static int block_sigtimedwait(int64_t ns)
{
        struct timespec ts = timespec_of(ns);
        sigset_t usr;

        sigemptyset(&usr);
        sigaddset(&usr, SIGUSR2);
        return sigtimedwait(&usr, NULL, &ts) < 0 && errno == EAGAIN ? 0 : -errno;
}

static int block_read(int64_t ns)
{
        struct timeval timeout = { .tv_usec = ns / EDDY_US(1) };
        int fds[2], err;
        char byte;

        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_EQ(setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)), 0);
        err = read(fds[0], &byte, 1) < 0 && errno == EAGAIN ? 0 : -errno;
        CHECK_EQ(close(fds[0]) | close(fds[1]), 0);
        return err;
}

static const struct blocking blockings[] = {
        { "nanosleep", block_nanosleep },
        { NULL, block_poll },
        { "ppoll", block_ppoll },
        { "futex", block_sem },
        { "rt_sigtimedwait", block_sigtimedwait },
        { "read", block_read },
};

/* Valgrind and qemu make system calls of their own, and let no thread see another's. */
static void needs_states(void)
{
        if (getenv("EDDY_TEST_VALGRIND") || getenv("EDDY_TEST_QEMU"))
                test_skip("the kernel does not say what a simulated thread does");
}

static int is_blocked(void *arg)
{
        const struct blocking *blocking = arg;

        asked = true;
        for (int i = 0; i < 1000 && !answer.came; i++) {
                int64_t begin_ns = eddy_now();

                CHECK_EQ(blocking->block(EDDY_MS(50)), 0);
                CHECK(eddy_now() - begin_ns >= EDDY_MS(50));
        }
        return answer.came ? 0 : -ETIMEDOUT;
}

static const struct eddy_run_opts asking_soon = { .watchdog_ns = EDDY_MS(4), .report = on_answer };

TEST(a_blocked_task_is_reported_with_its_system_call_and_not_interrupted)
{
        needs_states();
        for (size_t i = 0; i < sizeof(blockings) / sizeof(blockings[0]); i++) {
                answer.came = asked = false;
                CHECK_EQ(eddy_run(is_blocked, (void *) &blockings[i], &asking_soon), 0);
                CHECK_STR(answer.task, "main");
                CHECK(strstr(answer.text, "it is blocked in the system call ") != NULL);
                CHECK(!blockings[i].name || strstr(answer.text, blockings[i].name) != NULL);
        }
}

static int naps(void *arg)
{
        struct timespec nap = { .tv_nsec = 300000 };

        (void) arg;
        asked = true;
        for (int i = 0; i < 100000 && !answer.came; i++)
                CHECK_EQ(nanosleep(&nap, NULL), 0);
        return answer.came ? 0 : -ETIMEDOUT;
}

TEST(a_task_that_is_blocked_again_and_again_is_not_interrupted_either)
{
        needs_states();
        CHECK_EQ(eddy_run(naps, NULL, &asking_soon), 0);
        CHECK_STR(answer.task, "main");
        /* Unless it got no time from its processor, either. */
        CHECK(!strstr(answer.text, "it is in "));
}

/* By sigaction(2): signal(3) returns a function of MemorySanitizer instead. */
static sighandler_t handler_of(int signo)
{
        struct sigaction now;

        CHECK_EQ(sigaction(signo, NULL, &now), 0);
        return now.sa_handler;
}

static bool is_default(int signo)
{
        return handler_of(signo) == SIG_DFL;
}

static int is_blocked_and_not_asked(void *arg)
{
        CHECK_EQ(is_blocked(arg), 0);
        CHECK(is_default(SIGRTMAX - 3));
        return 0;
}

TEST(no_signal_is_taken_for_a_task_that_is_blocked)
{
        needs_states();
        CHECK_EQ(eddy_run(is_blocked_and_not_asked, (void *) &blockings[0], &asking_soon), 0);
}

TEST(without_proc_the_watchdog_names_the_task_and_sends_no_signal)
{
        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("on Valgrind the watchdog asks without a look at /proc");
        said_state = SAYS_NOTHING;
        CHECK_EQ(eddy_run(is_blocked_and_not_asked, (void *) &blockings[0], &asking_soon), 0);
        CHECK_STR(answer.task, seen_from_outside("main"));
        CHECK(strstr(answer.text, "cannot be determined without /proc") != NULL);
}

/* --- the program's signals --- */

static volatile sig_atomic_t own_calls;

static void own_handler(int signo)
{
        (void) signo;
        own_calls++;
}

/* As hogs(), with the loop's thread on the processor. */
static int computes(void *arg)
{
        (void) arg;
        /* The kernel says of qemu's thread, which waits now and then, and not of what it simulates. */
        if (getenv("EDDY_TEST_QEMU"))
                said_state = SAYS_RUNNING;
        asked = true;
        for (;;) {
                int err = keeps_the_loop_until_answered();

                /* Under load the first answer may be about an earlier step, which has ended. */
                if (err < 0 || strcmp(answer.task, "(unknown)") != 0)
                        return err;
                answer.came = false;
        }
}

static void check_answered_with_stack(void)
{
        test_needs_backtrace();
        CHECK_STR(answer.task, "main");
        check_has_stack(answer.text);
}

TEST(a_signal_that_the_program_handles_is_not_the_watchdogs)
{
        CHECK(signal(SIGRTMAX - 3, own_handler) != SIG_ERR);
        CHECK(signal(SIGRTMAX - 4, SIG_IGN) != SIG_ERR);
        CHECK_EQ(eddy_run(computes, NULL, &asking_soon), 0);
        check_answered_with_stack();
        CHECK_EQ(own_calls, 0);
        CHECK(handler_of(SIGRTMAX - 3) == own_handler);
        CHECK(handler_of(SIGRTMAX - 4) == SIG_IGN);
        CHECK(is_default(SIGRTMAX - 5));
}

static int takes_the_signal_between(void *arg)
{
        CHECK_EQ(computes(arg), 0);
        CHECK(!is_default(SIGRTMAX - 3));
        CHECK(signal(SIGRTMAX - 3, own_handler) != SIG_ERR);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        answer.came = false;
        return computes(arg);
}

TEST(a_signal_that_the_program_takes_meanwhile_is_its_own_from_then_on)
{
        CHECK_EQ(eddy_run(takes_the_signal_between, NULL, &asking_soon), 0);
        check_answered_with_stack();
        CHECK_EQ(own_calls, 0);
        CHECK(handler_of(SIGRTMAX - 3) == own_handler);
        CHECK(is_default(SIGRTMAX - 4));
}

static int blocks_one(void *arg)
{
        sigset_t one;

        sigemptyset(&one);
        sigaddset(&one, SIGRTMAX - 3);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
        CHECK_EQ(computes(arg), 0);
        CHECK(is_default(SIGRTMAX - 3));
        return 0;
}

TEST(a_signal_that_the_program_blocks_to_wait_for_it_is_not_the_watchdogs)
{
        needs_states();
        CHECK_EQ(eddy_run(blocks_one, NULL, &asking_soon), 0);
        check_answered_with_stack();
}

/* The status of a child that computes until it was asked, and then sends itself the signal. */
static int raises_after_it_was_asked(void *arg)
{
        CHECK_EQ(computes(arg), 0);
        CHECK(!is_default(SIGRTMAX - 3));
        raise(SIGRTMAX - 3);
        return 0;
}

TEST(the_watchdogs_signal_sent_by_another_acts_as_without_it)
{
        pid_t child = fork();
        int status;

        CHECK(child >= 0);
        if (child == 0)
                _exit(eddy_run(raises_after_it_was_asked, NULL, &asking_soon) == 0 ? 0 : 1);
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGRTMAX - 3);
}

/* --- stacks --- */

enum { PAGE = 4096 };

/* With a page below it that faults. */
static stack_t small_stack(size_t bytes)
{
        size_t pages = (bytes + PAGE - 1) / PAGE;
        char *memory = mmap(NULL, (pages + 1) * PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        CHECK(memory != MAP_FAILED);
        CHECK_EQ(mprotect(memory, PAGE, PROT_NONE), 0);
        return (stack_t){ .ss_sp = memory + PAGE, .ss_size = bytes };
}

static void check_stack_is(const stack_t *wanted)
{
        stack_t now;

        CHECK_EQ(sigaltstack(NULL, &now), 0);
        CHECK(now.ss_sp == wanted->ss_sp && now.ss_size == wanted->ss_size);
        CHECK_EQ(now.ss_flags, 0);
}

TEST(a_small_signal_stack_of_the_program_is_put_aside_for_the_run)
{
        size_t sizes[] = { 2048, 8192, (size_t) SIGSTKSZ };

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                stack_t small = small_stack(sizes[i]);

                answer.came = false;
                /* The kernel may have a larger minimum. */
                if (sigaltstack(&small, NULL) < 0)
                        continue;
                CHECK_EQ(eddy_run(computes, NULL, &asking_soon), 0);
                check_answered_with_stack();
                check_stack_is(&small);
        }
}

static int computes_with_a_small_stack(void *arg)
{
        CHECK_EQ(sigaltstack(arg, NULL), 0);
        return computes(NULL);
}

/*
 * What it has to say without the room to look is little. SIGSTKSZ is not small on a processor with
 * AMX.
 */
TEST(a_small_signal_stack_that_is_set_in_a_run_is_not_overflowed)
{
        stack_t small = small_stack(16 * 1024);

        CHECK_EQ(eddy_run(computes_with_a_small_stack, &small, &asking_soon), 0);
        CHECK_STR(answer.task, "main");
        CHECK(strstr(answer.text, "is in an unknown place") != NULL);
        check_stack_is(&small);
}

static void computing_handler(int signo)
{
        (void) signo;
        CHECK_EQ(computes(NULL), 0);
}

static int computes_in_a_handler(void *arg)
{
        struct sigaction action = { .sa_handler = computing_handler, .sa_flags = SA_ONSTACK };

        CHECK_EQ(sigaltstack(arg, NULL), 0);
        CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
        return raise(SIGUSR1);
}

TEST(a_handler_that_computes_on_a_small_signal_stack_is_not_overflowed)
{
        stack_t small = small_stack(16 * 1024);

        CHECK_EQ(eddy_run(computes_in_a_handler, &small, &asking_soon), 0);
        CHECK_STR(answer.task, "main");
        CHECK(strstr(answer.text, "is in an unknown place") != NULL);
}

enum { LITTLE_ROOM = 8 * 1024 };

static __attribute__((noinline)) int computes_deep(void *arg)
{
        volatile char frame[128];
        int result;

        frame[0] = 0;
        if ((char *) __builtin_frame_address(0) - ed_task_running()->stack->bottom < LITTLE_ROOM)
                return computes(arg);
        result = computes_deep(arg);
        return result + frame[0];
}

TEST(a_task_with_little_room_on_its_stack_is_asked_without_harm)
{
        CHECK_EQ(eddy_run(computes_deep, NULL, &asking_soon), 0);
        check_answered_with_stack();
}
