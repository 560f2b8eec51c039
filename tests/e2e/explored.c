/*
 * explored.c - a program for `eddy explore`, which knows nothing of it.
 *
 *     explored race | abort | exit | leak | end | hang | state | twice | input | preload | fail |
 *              many | loop | thread | log | none
 *     explored file PATH
 *     explored --word ...
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eddy/eddy.h"

static const char *mode;
static int seats = 1, runs;

static bool is(const char *word)
{
        return strcmp(mode, word) == 0;
}

/* The first task decides which error a sanitizer finds; compilers do not see it. */
static void spoil(char who)
{
        static volatile size_t bytes = 8;
        static char *volatile memory;

        memory = malloc(bytes);
        if (who == 'a')
                memory[bytes] = 1;
        free(memory);
        memory[0] = 1;
}

static int buy(void *arg)
{
        const char *who = arg;
        int err;

        if (is("memory"))
                spoil(*who);
        if (seats == 0)
                return 0;
        err = eddy_sleep(0);
        if (is("abort"))
                printf("%s\n", who);
        seats--;
        /* In one order of two. */
        if (*who == 'b' && seats == 0) {
                assert(!is("abort"));
                if (is("exit"))
                        exit(3);
                for (volatile long turns = 0; is("hang") || is("deaf"); turns++)
                        ;
                if (is("leak"))
                        (void) !eddy_malloc(8);
        }
        return err;
}

static int sell(void *arg)
{
        char a[] = "a", b[] = "b";
        eddy_scope scope;
        int err;

        runs++;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, buy, a);
        eddy_scope_start(&scope, buy, b);
        err = eddy_scope_end(&scope);
        printf("run %d: seats %d\n", runs, seats);
        return err;
}

/* The number in a file, which grows, decides how many tasks there are. */
static int count_in_file(void *arg)
{
        FILE *file = fopen(arg, "r+");
        char a[] = "a";
        eddy_scope scope;
        int count, err;

        assert(file && fscanf(file, "%d", &count) == 1);
        rewind(file);
        fprintf(file, "%d", count + 1);
        fclose(file);
        eddy_scope_begin(&scope, NULL);
        for (int i = count; i < 3; i++)
                eddy_scope_start(&scope, buy, a);
        err = eddy_scope_end(&scope);
        printf("count %d\n", count);
        return err;
}

static FILE *opened;

/* Each copy begins at the same place of the file. */
static int read_on(void *arg)
{
        char word[16] = "";

        /* More than a buffer of stdio has. */
        for (int i = 0; i < 20000; i++)
                (void) fgetc(opened);
        if (fscanf(opened, "%15s", word) != 1)
                return -EIO;
        printf("read %s\n", word);
        return sell(arg);
}

static int print_much(void *arg)
{
        for (int i = 0; i < 20000; i++)
                printf("line %d\n", i);
        return sell(arg);
}

static int fail(void *arg)
{
        return -EIO;
}

static void *in_thread(void *arg)
{
        return eddy_run(sell, NULL, NULL) < 0 ? arg : NULL;
}

static int print_input(void *arg)
{
        printf("input: %d\n", getchar());
        return 0;
}

static int print_preload(void *arg)
{
        const char *list = getenv("LD_PRELOAD");

        return printf("preload: %s\n", list ? list : "none") < 0;
}

static void *sleep_on(void *arg)
{
        while (pause() < 0)
                ;
        return arg;
}

static int log_to_stderr(void *arg)
{
        eddy_log *log = NULL;
        int err = eddy_log_open(NULL, &log);

        (void) arg;
        if (err == 0)
                eddy_log_info(log, "sold");
        eddy_log_close(log);
        return err;
}

int main(int argc, char **argv)
{
        pthread_t thread;
        sigset_t all;
        int err = 0;

        sigfillset(&all);
        if (getenv("IGNORE_CHILDREN"))
                signal(SIGCHLD, SIG_IGN);
        for (int i = 1; i < argc && argv[1][0] == '-'; i++)
                printf("argument %s\n", argv[i]);
        mode = argc > 1 ? argv[1] : "race";
        if (is("deaf"))
                pthread_sigmask(SIG_BLOCK, &all, NULL);
        if (is("beside"))
                assert(pthread_create(&thread, NULL, sleep_on, NULL) == 0);
        if (is("reopen"))
                assert(freopen("/dev/null", "w", stdout));
        if (is("thread")) {

                assert(pthread_create(&thread, NULL, in_thread, NULL) == 0);
                pthread_join(thread, NULL);
        } else if (is("input")) {
                err = eddy_run(print_input, NULL, NULL);
        } else if (is("preload")) {
                err = eddy_run(print_preload, NULL, NULL);
        } else if (is("file")) {
                err = eddy_run(count_in_file, argv[2], NULL);
        } else if (is("open")) {
                opened = fopen(argv[2], "r");
                assert(opened && fgetc(opened) == '>');
                err = eddy_run(read_on, NULL, NULL);
        } else if (is("large")) {
                err = eddy_run(print_much, NULL, NULL);
        } else if (is("fork")) {
                pid_t child = fork();

                if (child == 0)
                        return eddy_run(sell, NULL, NULL) < 0;
                waitpid(child, NULL, 0);
        } else if (is("fail")) {
                err = eddy_run(fail, NULL, NULL);
        } else if (is("log")) {
                err = eddy_run(log_to_stderr, NULL, NULL);
        } else if (is("many")) {
                err = eddy_run_many(2, sell, NULL);
        } else if (is("loop")) {
                eddy_loop *loop;

                err = eddy_loop_new(NULL, &loop);
        } else if (!is("none")) {
                err = eddy_run(sell, NULL, NULL);
        }
        if (is("twice")) {
                seats = 1;
                err = eddy_run(sell, NULL, NULL);
        }
        fprintf(stderr, "the program's own words\n");
        return is("end") ? seats + 5 : err < 0;
}
