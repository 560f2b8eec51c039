/*
 * test.c - runs the cases of one test program; see test.h.
 */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASE_SECONDS_MAX = 600, EXIT_SKIPPED = 77 };

#ifdef ED_COVER
/*
 * The counts of what was run are written by exit().  Linked with --wrap, so
 * that they are written too by a process that ends in another way: by abort(),
 * or by a fault in whose handler the library puts the default handling back.
 */
void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __real_abort(void) __attribute__((noreturn));
sighandler_t __real_signal(int signo, sighandler_t handler);
void __wrap__exit(int status) __attribute__((noreturn));
void __wrap_abort(void) __attribute__((noreturn));
sighandler_t __wrap_signal(int signo, sighandler_t handler);

void __wrap__exit(int status)
{
        __gcov_dump();
        __real__exit(status);
}

void __wrap_abort(void)
{
        __gcov_dump();
        __real_abort();
}

sighandler_t __wrap_signal(int signo, sighandler_t handler)
{
        stack_t stack;

        if (signo == SIGSEGV && handler == SIG_DFL && sigaltstack(NULL, &stack) == 0 &&
            stack.ss_flags & SS_ONSTACK)
                __gcov_dump();
        return __real_signal(signo, handler);
}
#endif

static struct test_case *first;
static struct test_case **last = &first;

void test_add(struct test_case *test)
{
        *last = test;
        last = &test->next;
}

/* Of the test kit, where a program is linked with it: which run it was. */
__attribute__((weak)) void ed_test_last_words(void);

void test_fail(const char *file, int line, const char *format, ...)
{
        va_list args;

        fflush(stdout);
        fprintf(stderr, "# %s:%d: ", file, line);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
        if (ed_test_last_words)
                ed_test_last_words();
        _exit(1);
}

int test_server_port(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };
        static int number; /* of the next one to try: each call returns another port */
        int port = 0;

        for (int i = 0; i < 1000 && port == 0; i++) {
                int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

                address.sin_port =
                        htons((uint16_t) (10000 + (getpid() * 31 + number++ * 977) % 20000));
                if (fd >= 0 && bind(fd, (struct sockaddr *) &address, sizeof(address)) == 0)
                        port = ntohs(address.sin_port);
                close(fd);
        }
        return port;
}

void *test_room(size_t bytes)
{
        size_t page = (size_t) sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
        char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE) < 0) {
                perror("test_room");
                abort();
        }
        return memory + (room - bytes) / 16 * 16;
}

bool test_is_full(void)
{
        return getenv("EDDY_TEST_FULL") && !getenv("EDDY_TEST_QUICK");
}

void test_skip(const char *why)
{
        fprintf(stderr, "# skipped: %s\n", why);
        _exit(EXIT_SKIPPED);
}

void test_skip_as_child(int status)
{
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
                test_skip("as its child");
}

void test_needs_backtrace(void)
{
#if !__has_include(<execinfo.h>)
        test_skip("this C library has no backtrace()");
#endif
}

/* As many times as long where programs run slowly: what tools/run-tests has of --patience. */
static unsigned case_seconds(void)
{
        const char *patience = getenv("EDDY_TEST_PATIENCE");
        unsigned long times = patience ? strtoul(patience, NULL, 10) : 1;

        return CASE_SECONDS_MAX * (times > 1 && times < 1000 ? (unsigned) times : 1);
}

#ifdef ED_ASAN
int __lsan_do_recoverable_leak_check(void);
#endif

static const struct test_case *running;

const char *test_running(void)
{
        return running ? running->name : "";
}

/* Runs a case in a child; returns its wait status. */
static int run_case(struct test_case *test)
{
        int status = 0;
        pid_t pid;

        fflush(stdout);
        fflush(stderr);
        pid = fork();
        if (pid < 0) {
                perror("fork");
                exit(1);
        }
        if (pid == 0) {
                running = test;
                alarm(case_seconds());
                test->fn();
                exit(0); /* not _exit: the leak checker runs at exit */
        }
        while (waitpid(pid, &status, 0) < 0)
                continue;
        return status;
}

static bool passed(const struct test_case *test, int status)
{
        if (test->dies_by)
                return WIFSIGNALED(status) && WTERMSIG(status) == test->dies_by;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Returns true if the case's file is test_NOUN.c, or NOUN with an ending, for one of the nouns. */
static bool is_of(const struct test_case *test, const char *nouns)
{
        const char *slash = strrchr(test->file, '/'), *name = slash ? slash + 1 : test->file;
        const char *end;

        if (strncmp(name, "test_", 5) == 0)
                name += 5;
        for (const char *noun = nouns; noun; noun = *end ? end + 1 : NULL) {
                size_t length = strcspn(noun, ",");

                end = noun + length;
                if (strncmp(name, noun, length) == 0 && name[length] == '.')
                        return true;
        }
        return !*nouns;
}

static bool is_named(const struct test_case *test, const char *word)
{
        return *word == '=' ? strcmp(test->name, word + 1) == 0 : strstr(test->name, word) != NULL;
}

int main(int argc, char **argv)
{
        const char *nouns = "", *word;
        bool lists;
        int failed = 0, n = 0;

        if (argc > 2 && strcmp(argv[1], "--of") == 0) {
                nouns = argv[2];
                argc -= 2;
                argv += 2;
        }
        word = argc > 1 ? argv[1] : "";
        lists = strcmp(word, "--list") == 0;
        if (!lists)
                puts("# =NAME runs one case");
        /* What a shell starts in the background is born with these ignored. */
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
#ifdef ED_ASAN
        /* Maps what the check at the end of each case reads, which every child would have to do. */
        if (!lists)
                (void) __lsan_do_recoverable_leak_check();
#endif
        for (struct test_case *test = first; test; test = test->next) {
                int status;

                if (!is_of(test, nouns))
                        continue;
                if (lists) {
                        puts(test->name);
                        continue;
                }
                if (!is_named(test, word))
                        continue;
                status = run_case(test);
                n++;
                if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
                        printf("ok %d - %s # SKIP\n", n, test->name);
                } else if (passed(test, status)) {
                        printf("ok %d - %s\n", n, test->name);
                } else {
                        printf("not ok %d - %s\n", n, test->name);
                        if (WIFSIGNALED(status))
                                printf("# ended by signal %d\n", WTERMSIG(status));
                        failed++;
                }
        }
        if (!lists)
                printf("1..%d\n", n);
        return failed ? 1 : 0;
}
