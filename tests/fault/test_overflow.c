/*
 * test_overflow.c - a task that overflows its stack dies at its guard, is
 * named, and harms no neighbour; or, if it jumps over the guard, in its next
 * suspending call. A fault that is not ours is passed on.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "co/co.h"
#include "eddy/eddy.h"
#include "scope/task.h"
#include "test.h"

/* The frames here are meant to be large, and the recursion to be deep. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#endif

enum {
        PATTERN_BYTES = 1024,
        DEPTH_MAX = 1000000000,
        LARGE_FRAME = 80 * 1024, /* several times the guard */
        EXIT_SKIPPED = 77,
        EXIT_FOREIGN = 42,
};

/* What the dying process leaves to the test. */
struct left {
        int reports;
        int kind;
        bool neighbour_whole;
        char task[64];
};

static struct left *left;
static volatile unsigned char *neighbour; /* on the stack of the task below */

static bool neighbour_is_whole(void)
{
        for (int i = 0; i < PATTERN_BYTES; i++)
                if (neighbour[i] != (unsigned char) (i % 251))
                        return false;
        return true;
}

/* In the signal handler: the default report, and what the test wants to know. */
static void on_report(const struct eddy_report *report, void *arg)
{
        char line[512];
        int n;

        (void) arg;
        left->reports++;
        left->kind = report->kind;
        left->neighbour_whole = neighbour_is_whole();
        snprintf(left->task, sizeof(left->task), "%s", report->task ? report->task : "");
        n = snprintf(line, sizeof(line), "%s\n", report->text);
        (void) !write(STDERR_FILENO, line, (size_t) n);
}

/* --- ways to overflow --- */

static __attribute__((noinline)) int recurse(int depth)
{
        volatile char frame[64];

        frame[0] = (char) depth;
        if (depth < DEPTH_MAX)
                return recurse(depth + 1) + frame[0];
        return 0;
}

static __attribute__((noinline)) int recurse_large(int depth)
{
        volatile char frame[LARGE_FRAME];

        /* The far end first: without probes on the way it would lie beyond the guard. */
        frame[0] = (char) depth;
        if (depth < DEPTH_MAX)
                return recurse_large(depth + 1) + frame[0];
        return 0;
}

/* What memory taken from the stack at run time does: touched page by page, downwards. */
static __attribute__((noinline, no_sanitize("address", "undefined"))) int touch(void)
{
        volatile char *at = __builtin_frame_address(0);

        for (int i = 1; i < 1 << 16; i++)
                at[-i * 4096] = 1;
        return 0;
}

static int overflow_by_recursion(void *arg)
{
        (void) arg;
        return recurse(0);
}

static int overflow_by_large_frames(void *arg)
{
        (void) arg;
        return recurse_large(0);
}

static int overflow_by_touch(void *arg)
{
        (void) arg;
        return touch();
}

/* --- the program that dies --- */

struct program {
        eddy_task_fn *overflow;
        unsigned flags;
};

/* Lies just below the one that overflows. */
static int be_neighbour(void *arg)
{
        volatile unsigned char pattern[PATTERN_BYTES];
        int err;

        (void) arg;
        for (int i = 0; i < PATTERN_BYTES; i++)
                pattern[i] = (unsigned char) (i % 251);
        neighbour = pattern;
        err = eddy_sleep(EDDY_MIN(1));
        return err < 0 ? err : pattern[0];
}

static int program_main(void *arg)
{
        struct program *program = arg;
        struct eddy_task_opts opts = { .name = "deep one", .flags = program->flags };
        struct eddy_task_opts other = { .name = "neighbour", .flags = program->flags };
        eddy_task *deep = NULL, *beside = NULL;
        struct eddy_run_info info;
        eddy_scope scope;

        CHECK_EQ(eddy_run_info(&info), 0);
        if (strcmp(info.guard, "canary") == 0)
                _exit(EXIT_SKIPPED);
        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start_task(&scope, be_neighbour, NULL, &other, &beside);
        CHECK_EQ(eddy_sleep(0), 0);
        (void) eddy_scope_start_task(&scope, program->overflow, NULL, &opts, &deep);
        (void) eddy_scope_end(&scope);
        eddy_task_release(deep);
        eddy_task_release(beside);
        return 0;
}

/* Run 'fn' in a process of its own; gives its wait status and what it wrote to stderr. */
static int run_apart(void (*fn)(void *arg), void *arg, char *ret_text, size_t bytes)
{
        int ends[2], status = 0;
        size_t at = 0;
        ssize_t n;
        pid_t pid;

        left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(left != MAP_FAILED);
        CHECK_EQ(pipe(ends), 0);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                (void) dup2(ends[1], STDERR_FILENO);
                (void) close(ends[0]);
                (void) close(ends[1]);
                fn(arg);
                _exit(0);
        }
        (void) close(ends[1]);
        while ((n = read(ends[0], ret_text + at, bytes - 1 - at)) > 0)
                at += (size_t) n;
        ret_text[at] = '\0';
        (void) close(ends[0]);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
                test_skip("the kernel here guards no stacks");
        return status;
}

static void run_program(void *arg)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG,
                                      .report = on_report };

        (void) eddy_run(program_main, arg, &opts);
}

static void dies_at_its_guard(eddy_task_fn *overflow, unsigned flags)
{
        struct program program = { .overflow = overflow, .flags = flags };
        char text[1024];
        int status = run_apart(run_program, &program, text, sizeof(text));
        long kib;

        if (!WIFSIGNALED(status) || left->reports != 1)
                fprintf(stderr, "# status %x, wrote: %s\n", (unsigned) status, text);
        CHECK(WIFSIGNALED(status));
        CHECK_EQ(WTERMSIG(status), SIGSEGV);
        CHECK_EQ(left->reports, 1);
        CHECK_EQ(left->kind, EDDY_REPORT_OVERFLOW);
        CHECK_STR(left->task, "deep one");
        CHECK(strstr(text, "overflowed its stack of "));
        kib = strtol(strstr(text, " of ") + strlen(" of "), NULL, 10);
        CHECK(flags & EDDY_TASK_STACK_64K ? kib >= 32 : kib >= 128);
        CHECK(left->neighbour_whole);
}

TEST(deep_recursion_dies_at_the_guard)
{
        dies_at_its_guard(overflow_by_recursion, 0);
}

TEST(deep_recursion_dies_at_the_guard_of_a_small_stack)
{
        dies_at_its_guard(overflow_by_recursion, EDDY_TASK_STACK_64K);
}

TEST(large_frames_do_not_jump_the_guard)
{
        dies_at_its_guard(overflow_by_large_frames, 0);
}

TEST(large_frames_do_not_jump_the_guard_of_a_small_stack)
{
        dies_at_its_guard(overflow_by_large_frames, EDDY_TASK_STACK_64K);
}

TEST(touching_downwards_dies_at_the_guard)
{
        dies_at_its_guard(overflow_by_touch, 0);
}

TEST(touching_downwards_dies_at_the_guard_of_a_small_stack)
{
        dies_at_its_guard(overflow_by_touch, EDDY_TASK_STACK_64K);
}

static void run_with_default_report(void *arg)
{
        (void) eddy_run(program_main, arg, NULL);
}

TEST(the_message_on_stderr_names_the_task)
{
        struct program program = { .overflow = overflow_by_recursion };
        char text[1024];
        int status = run_apart(run_with_default_report, &program, text, sizeof(text));

        CHECK(WIFSIGNALED(status));
        CHECK_EQ(WTERMSIG(status), SIGSEGV);
        CHECK(strstr(text, "eddy: task deep one: overflowed its stack of "));
        /* The remedy: stacks of another size do not exist. */
        CHECK(strstr(text, " KiB: allocate large buffers on the heap, and limit recursion"));
        CHECK_EQ(text[strlen(text) - 1], '\n');
}

/* --- frames that jump over the guard --- */

enum { JUMP_BYTES = 100 * 1024, GUARD_MAX = 16 * 1024 };

static struct ed_co own, back;

static void suspend_elsewhere(void *arg)
{
        *(int *) arg = eddy_sleep(0);
        ed_co_switch(&own, &back);
}

/* Run a suspending call with a stack that ends at 'top'. */
static int suspend_below(char *bottom, char *top)
{
        int result = 1;

        back = own = ed_task_running()->fiber.co;
        ed_co_init(&own, bottom, top, suspend_elsewhere, &result);
        ed_co_switch(&back, &own);
        return result;
}

/* As if it had a frame from here to the middle of the slot below. */
static int jump(void *arg)
{
        char *top = ed_task_running()->stack->bottom - GUARD_MAX - JUMP_BYTES;

        (void) arg;
        top -= (uintptr_t) top % 16;
        return suspend_below(top - GUARD_MAX, top);
}

TEST(a_jump_over_the_guard_is_reported_by_the_next_suspending_call)
{
        struct program program = { .overflow = jump };
        char text[1024];
        int status = run_apart(run_with_default_report, &program, text, sizeof(text));
        const char *frames;

        CHECK(WIFSIGNALED(status));
        CHECK_EQ(WTERMSIG(status), SIGABRT);
        CHECK(strstr(text, "eddy: task deep one: overflowed its stack of "));
        frames = strstr(text, " KiB by frames of ");
        CHECK(frames);
        frames += strlen(" KiB by frames of ");
        CHECK(strtol(frames, NULL, 10) * 1024 > JUMP_BYTES + GUARD_MAX);
        CHECK(strstr(text, " KiB, and may have changed the memory of other tasks: allocate large "
                           "buffers on the heap, and compile with -fstack-clash-protection\n"));
}

TEST(a_jump_is_given_to_the_report_of_the_run)
{
        struct program program = { .overflow = jump };
        char text[1024];
        int status = run_apart(run_program, &program, text, sizeof(text));

        CHECK_EQ(WTERMSIG(status), SIGABRT);
        CHECK_EQ(left->reports, 1);
        CHECK_EQ(left->kind, EDDY_REPORT_OVERFLOW);
        CHECK_STR(left->task, "deep one");
}

/* --- code on memory of the program's own --- */

static int leave_the_stack(void *arg)
{
        static _Alignas(16) char memory[256 * 1024];

        (void) arg;
        return suspend_below(memory, memory + sizeof(memory));
}

static void run_on_own_memory(void *arg)
{
        (void) arg;
        _exit(eddy_run(leave_the_stack, NULL, NULL));
}

/* As makecontext() and the coroutines of other libraries do. */
TEST(a_task_may_suspend_on_memory_of_the_programs_own)
{
        char text[1024];

        CHECK_EQ(run_apart(run_on_own_memory, NULL, text, sizeof(text)), 0);
        CHECK_STR(text, "");
}

/* --- faults that are not ours --- */

static void *const nowhere = (void *) 0x1008;

/* Valgrind counts such a write as an error of the program, whoever handles it. */
static void not_under_valgrind(void)
{
        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("a write to nowhere is an error under Valgrind");
}

static __attribute__((no_sanitize("address", "undefined"))) int fault_elsewhere(void *arg)
{
        (void) arg;
        *(volatile int *) nowhere = 1;
        return 0;
}

static void on_foreign(int signo, siginfo_t *info, void *context)
{
        (void) context;
        _exit(signo == SIGSEGV && info->si_addr == nowhere ? EXIT_FOREIGN : 1);
}

static void run_with_handler(void *arg)
{
        struct sigaction action = { .sa_sigaction = on_foreign, .sa_flags = SA_SIGINFO };

        CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
        run_program(arg);
}

TEST(another_fault_goes_to_the_handler_of_the_program)
{
        struct program program = { .overflow = fault_elsewhere };
        char text[1024];
        int status;

        not_under_valgrind();
        status = run_apart(run_with_handler, &program, text, sizeof(text));

        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), EXIT_FOREIGN);
        CHECK_EQ(left->reports, 0);
        CHECK_STR(text, "");
}

static void on_foreign_plain(int signo)
{
        _exit(signo == SIGSEGV ? EXIT_FOREIGN : 1);
}

static void run_with_plain_handler(void *arg)
{
        CHECK(signal(SIGSEGV, on_foreign_plain) != SIG_ERR);
        run_program(arg);
}

TEST(another_fault_goes_to_a_handler_without_siginfo_too)
{
        struct program program = { .overflow = fault_elsewhere };
        char text[1024];
        int status;

        not_under_valgrind();
        status = run_apart(run_with_plain_handler, &program, text, sizeof(text));

        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), EXIT_FOREIGN);
        CHECK_EQ(left->reports, 0);
}

static void run_without_handler(void *arg)
{
        CHECK(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
        run_program(arg);
}

TEST(another_fault_without_a_handler_ends_the_process_without_a_report)
{
        struct program program = { .overflow = fault_elsewhere };
        char text[1024];
        int status;

        not_under_valgrind();
        if (getenv("EDDY_TEST_QEMU"))
                test_skip("qemu has a report of its own to make");
        status = run_apart(run_without_handler, &program, text, sizeof(text));

        CHECK(WIFSIGNALED(status));
        CHECK_EQ(WTERMSIG(status), SIGSEGV);
        CHECK_EQ(left->reports, 0);
        CHECK_STR(text, "");
}

static int do_nothing(void *arg)
{
        (void) arg;
        return 0;
}

TEST(a_run_that_ended_has_put_the_handlers_back)
{
        struct sigaction action = { .sa_sigaction = on_foreign, .sa_flags = SA_SIGINFO }, after;

        CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
        CHECK_EQ(eddy_run(do_nothing, NULL, NULL), 0);
        CHECK_EQ(sigaction(SIGSEGV, NULL, &after), 0);
        CHECK(after.sa_sigaction == on_foreign);
        CHECK_EQ(sigaction(SIGBUS, NULL, &after), 0);
        CHECK(after.sa_sigaction != on_foreign);
}
