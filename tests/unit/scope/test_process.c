/*
 * test_process.c - what runs take of their process (handlings of signals, the
 * stack for them, threads), and that all of it is afterwards what it was, or
 * what the program has made of it meanwhile: whatever it was before, however a
 * run ends, in children too.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scope/run.h"
#include "test.h"

/* --- handlings that a program may have --- */

static volatile sig_atomic_t calls, code;

static void plain_handler(int signo)
{
        (void) signo;
        calls++;
}

static void info_handler(int signo, siginfo_t *info, void *context)
{
        (void) signo;
        (void) context;
        code = info->si_code;
        calls++;
}

enum kind { BY_DEFAULT, IGNORED, PLAIN, INFO, ONCE, KINDS };

static struct sigaction handling_of(enum kind kind)
{
        struct sigaction action = { .sa_handler = SIG_DFL };

        if (kind == IGNORED)
                action.sa_handler = SIG_IGN;
        if (kind == PLAIN || kind == ONCE)
                action.sa_handler = plain_handler;
        if (kind == ONCE)
                action.sa_flags = (int) SA_RESETHAND;
        if (kind == INFO) {
                action.sa_sigaction = info_handler;
                action.sa_flags = SA_SIGINFO;
        }
        return action;
}

static void handle_as(int signo, enum kind kind)
{
        struct sigaction action = handling_of(kind);

        CHECK_EQ(sigaction(signo, &action, NULL), 0);
}

static bool is_as(int signo, enum kind kind)
{
        struct sigaction action = handling_of(kind), now;
        int flags = SA_SIGINFO | (int) SA_RESETHAND;

        CHECK_EQ(sigaction(signo, NULL, &now), 0);
        return now.sa_handler == action.sa_handler &&
               (now.sa_flags & flags) == (action.sa_flags & flags);
}

/* Those that a run takes: for itself, for debug mode, for the faults of stacks, for eddy_signal. */
static const int taken[] = { SIGINT, SIGTERM, SIGQUIT, SIGSEGV, SIGBUS, SIGUSR1 };
enum { TAKEN = sizeof(taken) / sizeof(taken[0]) };

static void handle_all_as(enum kind kind)
{
        for (int i = 0; i < TAKEN; i++)
                handle_as(taken[i], kind);
}

static void check_all_as(enum kind kind)
{
        for (int i = 0; i < TAKEN; i++)
                CHECK(is_as(taken[i], kind));
}

/* --- runs --- */

/* What main does to the process, between its calls of the library. */
struct program {
        void (*meanwhile)(const struct program *program);
        enum kind kind;
        stack_t stack;
};

static int main_with_all(void *arg)
{
        const struct program *program = arg;
        eddy_signal *usr1, *again;
        int signo = SIGUSR1;

        CHECK_EQ(eddy_signal_open(&signo, 1, &usr1), 0);
        CHECK_EQ(eddy_sleep(1), 0);
        if (program && program->meanwhile)
                program->meanwhile(program);
        CHECK_EQ(eddy_sleep(1), 0);
        /* It is taken once more, from whoever has it. */
        CHECK_EQ(eddy_signal_open(&signo, 1, &again), 0);
        CHECK_EQ(raise(signo), 0);
        CHECK_EQ(eddy_signal_wait(again), signo);
        CHECK_EQ(eddy_signal_wait(usr1), signo);
        eddy_signal_close(usr1);
        eddy_signal_close(again);
        return 7;
}

static const struct eddy_run_opts debug = { .flags = EDDY_RUN_DEBUG };
static void no_report(const struct eddy_report *report, void *arg)
{
        (void) report;
        (void) arg;
}
static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_DEBUG, .report = no_report };

static void one_run(const struct program *program)
{
        CHECK_EQ(eddy_run(main_with_all, (void *) program, &quiet), 7);
}

static void two_loops(const struct program *program)
{
        eddy_loop *first, *second;

        CHECK_EQ(eddy_loop_new(&quiet, &first), 0);
        CHECK_EQ(eddy_loop_new(&quiet, &second), 0);
        CHECK_EQ(eddy_loop_run(first, main_with_all, (void *) program), 7);
        CHECK_EQ(eddy_loop_close(first), 0);
        CHECK_EQ(eddy_loop_run(second, main_with_all, (void *) program), 7);
        CHECK_EQ(eddy_loop_close(second), 0);
}

static void *thread_main(void *arg)
{
        one_run(arg);
        return NULL;
}

static void on_a_thread(const struct program *program)
{
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, thread_main, (void *) program), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

typedef void runs_fn(const struct program *program);
static runs_fn *const runs[] = { one_run, two_loops, on_a_thread };
enum { RUNS = sizeof(runs) / sizeof(runs[0]) };

/* --- handlings --- */

TEST(handlings_are_restored_afterwards)
{
        for (int i = 0; i < RUNS; i++)
                for (int kind = 0; kind < KINDS; kind++) {
                        handle_all_as(kind);
                        runs[i](NULL);
                        check_all_as(kind);
                }
}

static void handles_meanwhile(const struct program *program)
{
        handle_all_as(program->kind);
}

/* One that is reset when it is called is gone by then, where the signal came. */
TEST(handlings_that_the_program_sets_during_a_run_stay)
{
        for (int i = 0; i < RUNS; i++)
                for (int before = 0; before < KINDS; before++)
                        for (int kind = 0; kind < KINDS; kind++) {
                                struct program program = { handles_meanwhile, .kind = kind };

                                if (kind == before)
                                        continue;
                                handle_all_as(before);
                                runs[i](&program);
                                check_all_as(kind);
                        }
}

/* The program's handler calls the one that it found, as it should. */
static struct sigaction found;

static void chaining_handler(int signo, siginfo_t *info, void *context)
{
        calls++;
        CHECK(calls < 100);
        if (found.sa_flags & SA_SIGINFO)
                found.sa_sigaction(signo, info, context);
        else if (found.sa_handler != SIG_DFL && found.sa_handler != SIG_IGN)
                found.sa_handler(signo);
        else
                _exit(66);
}

static int chains(void *arg)
{
        struct sigaction action = { .sa_sigaction = chaining_handler, .sa_flags = SA_SIGINFO };

        CHECK_EQ(sigaction(*(int *) arg, &action, &found), 0);
        return 0;
}

static int does_nothing(void *arg)
{
        (void) arg;
        return 0;
}

static int raises_it(void *arg)
{
        calls = 0;
        return raise(*(int *) arg);
}

/* How a child ends that chains during a run, and gets the signal in another one, or after it. */
static int status_after_chaining(int signo, enum kind before, bool in_run)
{
        pid_t child = fork();
        int status;

        CHECK(child >= 0);
        if (child == 0) {
                handle_as(signo, before);
                CHECK_EQ(eddy_run(chains, &signo, NULL), 0);
                CHECK_EQ(eddy_run(in_run ? raises_it : does_nothing, &signo, NULL), 0);
                if (!in_run)
                        CHECK_EQ(raises_it(&signo), 0);
                _exit(calls);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        return status;
}

TEST(a_handler_that_calls_the_one_of_a_run_comes_to_the_one_before_it)
{
        static const int chained[] = { SIGINT, SIGTERM, SIGSEGV, SIGBUS };

        for (int i = 0; i < 8; i++) {
                int signo = chained[i / 2],
                    status = status_after_chaining(signo, BY_DEFAULT, i % 2);

                CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signo);
        }
        /* In a run: that one's handler, the program's, the former run's, and the first. */
        for (int i = 4; i < 8; i++) {
                int status = status_after_chaining(chained[i / 2], INFO, i % 2);

                CHECK(WIFEXITED(status));
                CHECK_EQ(WEXITSTATUS(status), 2);
        }
}

/* --- faults that are sent --- */

static int raises(int signo)
{
        return raise(signo);
}

static int kills(int signo)
{
        return kill(getpid(), signo);
}

static int queues(int signo)
{
        return sigqueue(getpid(), signo, (union sigval){ .sival_int = 1 });
}

struct sending {
        int (*send)(int signo);
        int code;
};
static const struct sending sendings[] = { { raises, SI_TKILL },
                                           { kills, SI_USER },
                                           { queues, SI_QUEUE } };

struct sent {
        const struct sending *sending;
        int signo;
};

static int sends(void *arg)
{
        const struct sent *sent = arg;

        CHECK_EQ(sent->sending->send(sent->signo), 0);
        return 7;
}

/* How a child ends whose main task sends it that. */
static int status_after_sending(const struct sent *sent, enum kind before)
{
        pid_t child = fork();
        int status;

        CHECK(child >= 0);
        if (child == 0) {
                handle_as(sent->signo, before);
                CHECK_EQ(eddy_run(sends, (void *) sent, NULL), 7);
                CHECK(before == IGNORED || calls == 1);
                CHECK(before != INFO || code == sent->sending->code);
                CHECK(is_as(sent->signo, before == ONCE ? BY_DEFAULT : before));
                _exit(66);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        return status;
}

TEST(a_fault_that_is_sent_acts_as_without_a_run)
{
        static const int faults[] = { SIGSEGV, SIGBUS };
        /* On Valgrind a fault sent by sigqueue(3) does not end even a program without a run. */
        int count = getenv("EDDY_TEST_VALGRIND") ? 2 : 3;

        for (int i = 0; i < 2; i++)
                for (int j = 0; j < count; j++)
                        for (int before = 0; before < KINDS; before++) {
                                struct sent sent = { &sendings[j], faults[i] };
                                int status = status_after_sending(&sent, before);

                                if (before == BY_DEFAULT)
                                        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == faults[i]);
                                else
                                        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 66);
                        }
}

/* --- the stack for signals --- */

static stack_t stack_of(size_t bytes)
{
        char *memory = bytes ? malloc(bytes) : NULL;

        CHECK(memory || !bytes);
        return (stack_t){ .ss_sp = memory, .ss_size = bytes, .ss_flags = bytes ? 0 : SS_DISABLE };
}

static bool is_stack(const stack_t *stack)
{
        stack_t now;

        CHECK_EQ(sigaltstack(NULL, &now), 0);
        if (stack->ss_flags & SS_DISABLE)
                return now.ss_flags & SS_DISABLE;
        return now.ss_sp == stack->ss_sp && now.ss_size == stack->ss_size && now.ss_flags == 0;
}

static void sets_stack(const struct program *program)
{
        CHECK_EQ(sigaltstack(&program->stack, NULL), 0);
}

/* None, a small one and a large one, before and meanwhile. */
TEST(the_stack_for_signals_is_the_programs_afterwards)
{
        static const size_t sizes[] = { 0, 16384, 262144 };

        for (int i = 0; i < 2; i++)
                for (int before = 0; before < 3; before++)
                        for (int after = 0; after < 4; after++) {
                                stack_t former = stack_of(sizes[before]), *wanted = &former;
                                struct program program = { NULL };

                                CHECK_EQ(sigaltstack(&former, NULL), 0);
                                if (after < 3) {
                                        program.meanwhile = sets_stack;
                                        program.stack = stack_of(sizes[after]);
                                        wanted = &program.stack;
                                }
                                runs[i](&program);
                                CHECK(is_stack(wanted));
                                CHECK_EQ(sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL),
                                         0);
                                free(former.ss_sp);
                                free(program.stack.ss_sp);
                        }
}

/* --- threads that end without ending their runs --- */

static int exits(void *arg)
{
        pthread_exit(arg);
}

static int exits_in_a_task(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, exits, arg);
        return eddy_scope_end(&scope);
}

static void *ends_in_main(void *arg)
{
        (void) eddy_run(exits, arg, &debug);
        return NULL;
}

static void *ends_in_a_task(void *arg)
{
        (void) eddy_run(exits_in_a_task, arg, NULL);
        return NULL;
}

static int waits_for_ever(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(100000));
}

static int calls_exits(void *arg)
{
        static eddy_handle handle;

        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, exits, arg), 0);
        return waits_for_ever(NULL);
}

static void *ends_in_a_callback(void *arg)
{
        (void) eddy_run(calls_exits, arg, NULL);
        return NULL;
}

static void *leaves_two_loops(void *arg)
{
        static eddy_loop *left[2]; /* not lost for a leak checker */

        CHECK_EQ(eddy_loop_new(&quiet, &left[0]), 0);
        CHECK_EQ(eddy_loop_run(left[0], main_with_all, NULL), 7);
        CHECK_EQ(eddy_loop_new(NULL, &left[1]), 0);
        return arg;
}

static int is_cancelled(void *arg)
{
        const struct timespec moment = { .tv_nsec = 1000000 };

        (void) arg;
        CHECK_EQ(pthread_cancel(pthread_self()), 0);
        for (;;)
                nanosleep(&moment, NULL);
}

static void *ends_by_a_cancel(void *arg)
{
        (void) eddy_run(is_cancelled, arg, NULL);
        return NULL;
}

typedef void *thread_fn(void *arg);
static thread_fn *const ends[] = { ends_in_main, ends_in_a_task, ends_in_a_callback,
                                   leaves_two_loops, ends_by_a_cancel };
enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

static void end_a_thread(thread_fn *fn)
{
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, fn, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* A process whose last thread blocks all signals ends by no other. */
static int end_of(pid_t child)
{
        const struct timespec moment = { .tv_nsec = 1000000 };
        int64_t until_ns = eddy_now() + EDDY_SEC(60);
        int status;
        pid_t ended;

        while ((ended = waitpid(child, &status, WNOHANG)) == 0 && eddy_now() < until_ns)
                nanosleep(&moment, NULL);
        if (ended == 0) {
                CHECK_EQ(kill(child, SIGKILL), 0);
                ended = waitpid(child, &status, 0);
        }
        CHECK_EQ(ended, child);
        return status;
}

/* In a child of its own: what the thread leaves of its memory is nobody's. */
static int status_of(void (*fn)(thread_fn *end), thread_fn *end)
{
        pid_t child = fork();
        int status;

        CHECK(child >= 0);
        if (child == 0) {
                fn(end);
                _exit(66);
        }
        status = end_of(child);
        test_skip_as_child(status);
        return status;
}

/* ThreadSanitizer follows no thread that leaves a fiber for its end. */
static void needs_exits(void)
{
#ifdef ED_TSAN
        test_skip("ThreadSanitizer ends the process at pthread_exit() in a task");
#endif
}

static void ends_and_looks(thread_fn *end)
{
        handle_all_as(BY_DEFAULT);
        end_a_thread(end);
        check_all_as(BY_DEFAULT);
}

TEST(a_thread_that_ends_in_a_run_leaves_no_handler)
{
        needs_exits();
        for (int i = 0; i < ENDS; i++)
                CHECK_EQ(status_of(ends_and_looks, ends[i]), 66 << 8);
}

static void ends_and_terminates(thread_fn *end)
{
        end_a_thread(end);
        CHECK_EQ(raise(SIGTERM), 0);
}

TEST(after_a_thread_ended_in_a_run_a_signal_ends_the_process)
{
        needs_exits();
        for (int i = 0; i < ENDS; i++)
                CHECK_EQ(status_of(ends_and_terminates, ends[i]), SIGTERM);
}

static int is_stopped(void *arg)
{
        (void) arg;
        CHECK_EQ(raise(SIGTERM), 0);
        return eddy_sleep(EDDY_SEC(100));
}

static void ends_and_runs(thread_fn *end)
{
        handle_all_as(BY_DEFAULT);
        end_a_thread(end);
        CHECK_EQ(eddy_run(is_stopped, NULL, NULL), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGTERM);
        check_all_as(BY_DEFAULT);
}

TEST(after_a_thread_ended_in_a_run_the_next_has_the_signals)
{
        needs_exits();
        for (int i = 0; i < ENDS; i++)
                CHECK_EQ(status_of(ends_and_runs, ends[i]), 66 << 8);
}

static void end_at_once(void)
{
        _exit(66);
}

/* The process ends as soon as no thread is left. */
static void ends_as_the_main_thread(thread_fn *end)
{
        CHECK_EQ(atexit(end_at_once), 0);
        (void) end(NULL);
        pthread_exit(NULL);
}

TEST(a_main_thread_that_ends_in_a_run_leaves_no_watchdog)
{
        needs_exits();
        for (int i = 0; i < ENDS; i++)
                CHECK_EQ(status_of(ends_as_the_main_thread, ends[i]), 66 << 8);
}

static eddy_loop *_Atomic left_loop;

static int exits_with_its_loop_known(void *arg)
{
        left_loop = eddy_loop_ref(eddy_loop_current());
        return exits(arg);
}

static void *ends_with_its_loop_known(void *arg)
{
        (void) eddy_run(exits_with_its_loop_known, arg, NULL);
        return NULL;
}

static void calls_the_left_loop(thread_fn *end)
{
        eddy_handle handle = { 0 };

        end_a_thread(end);
        CHECK_EQ(eddy_loop_call_threadsafe(left_loop, &handle, does_nothing, NULL),
                 EDDY_E_LOOP_CLOSED);
        eddy_loop_stop(left_loop);
        eddy_loop_release(left_loop);
}

TEST(calls_for_a_loop_whose_thread_has_ended_are_refused)
{
        needs_exits();
        CHECK_EQ(status_of(calls_the_left_loop, ends_with_its_loop_known), 66 << 8);
}

/* --- several threads --- */

struct beside {
        _Atomic bool runs, over;
};

static int runs_until_over(void *arg)
{
        struct beside *beside = arg;

        beside->runs = true;
        while (!beside->over)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        return 0;
}

static void *runs_beside(void *arg)
{
        CHECK_EQ(eddy_run(runs_until_over, arg, NULL), 0);
        return NULL;
}

static int handles_beside(void *arg)
{
        struct beside *beside = arg;
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, runs_beside, beside), 0);
        while (!beside->runs)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        handle_all_as(PLAIN);
        beside->over = true;
        CHECK_EQ(pthread_join(thread, NULL), 0);
        check_all_as(PLAIN);
        calls = 0;
        CHECK_EQ(raise(SIGTERM) | raise(SIGINT), 0);
        CHECK_EQ(calls, 2);
        return 7;
}

TEST(handlers_of_the_program_stay_while_runs_of_other_threads_come_and_go)
{
        struct beside beside = { .runs = false };

        CHECK_EQ(eddy_run(handles_beside, &beside, NULL), 7);
        check_all_as(PLAIN);
}

/* --- children --- */

static void check_in_child(void)
{
        check_all_as(BY_DEFAULT);
        CHECK_EQ(eddy_run(main_with_all, NULL, &quiet), 7);
        check_all_as(BY_DEFAULT);
        handle_all_as(PLAIN);
        CHECK_EQ(eddy_run(main_with_all, NULL, &quiet), 7);
        check_all_as(PLAIN);
}

static int forks(void *arg)
{
        pid_t child = fork();
        int status;

        (void) arg;
        CHECK(child >= 0);
        if (child == 0) {
                check_in_child();
                _exit(66);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        test_skip_as_child(status);
        CHECK_EQ(status, 66 << 8);
        return 7;
}

/* Without a thread beside it: what that allocates, sanitizers do not let go in a child. */
TEST(a_child_of_a_run_has_the_handlings_from_before_it)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_DEBUG | EDDY_RUN_NO_WATCHDOG,
                                      .report = no_report };

        handle_all_as(BY_DEFAULT);
        CHECK_EQ(eddy_run(forks, NULL, &opts), 7);
        check_all_as(BY_DEFAULT);
}

/* What a program finds that is started now: its mask, what is ignored and what is handled. */
static void look_started(char *buf, size_t bytes)
{
        static char *const argv[] = { (char *) "grep", (char *) "-E", (char *) "^Sig(Blk|Ign|Cgt)",
                                      (char *) "/proc/self/status", NULL };
        static char *const environment[] = { NULL };
        posix_spawn_file_actions_t actions;
        int fds[2], status;
        ssize_t n;
        pid_t child;

        CHECK_EQ(pipe(fds), 0);
        CHECK_EQ(posix_spawn_file_actions_init(&actions), 0);
        CHECK_EQ(posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO), 0);
        CHECK_EQ(posix_spawnp(&child, argv[0], &actions, NULL, argv, environment), 0);
        CHECK_EQ(posix_spawn_file_actions_destroy(&actions), 0);
        CHECK_EQ(close(fds[1]), 0);
        CHECK_EQ(waitpid(child, &status, 0), child);
        n = read(fds[0], buf, bytes - 1);
        CHECK(n > 0);
        buf[n] = '\0';
        CHECK_EQ(close(fds[0]), 0);
}

static int starts_a_program(void *arg)
{
        char now[256];

        look_started(now, sizeof(now));
        CHECK_STR(now, arg);
        return 7;
}

TEST(a_program_that_a_task_starts_has_the_signals_it_would_have_without_a_run)
{
        char outside[256];

        if (getenv("EDDY_TEST_QEMU"))
                test_skip("qemu starts a program of its own");
        look_started(outside, sizeof(outside));
        CHECK_EQ(eddy_run(starts_a_program, outside, &quiet), 7);
}
