/*
 * test_select.c - `eddy select`, `eddy sort` and `eddy collect` with each of their allocations made to fail, and all
 * after it: the command ends with the status for memory, and its output is whole or unchanged. And with
 * files that a run changes between any two of its allocations.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sort/sort_command.h"
#include "collect/collect.h"
#include "common/console.h"
#include "eddy/alloc.h"
#include "select/select.h"
#include "starve.h"

enum { ALLOCATIONS_MOST = 5000, NAME_BYTES = 64, DATA_BYTES = 4096 };

/* AddressSanitizer writes an eighth of all memory that a command takes and gives back. */
#define MEMORY "--memory", "1M"

static char folder[] = "/tmp/eddy-select-XXXXXX";
static char input[NAME_BYTES], answers[NAME_BYTES], errors[NAME_BYTES], output[NAME_BYTES];

static void file_put(char name[NAME_BYTES], const char *base, const char *text)
{
        FILE *file;

        snprintf(name, NAME_BYTES, "%s/%s", folder, base);
        file = fopen(name, "w");
        CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* The bytes of the output; -1: there is none. */
static ssize_t output_read(char data[DATA_BYTES])
{
        int fd = open(output, O_RDONLY);
        ssize_t n = fd < 0 ? -1 : read(fd, data, DATA_BYTES);

        if (fd >= 0)
                close(fd);
        return n;
}

static int command_run(int (*command)(int, char **), const char *const *argv, int argc, int left)
{
        int status = 0;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
                int null = open("/dev/null", O_WRONLY);

                dup2(null, STDERR_FILENO);
                alarm(100);
                allocations_left = left;
                eddy_alloc_set(starve, NULL);
                exit(command(argc, (char **) (uintptr_t) argv));
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static void sweep(int (*command)(int, char **), const char *const *argv, int argc)
{
        char wanted[DATA_BYTES], got[DATA_BYTES];
        int left, code = ED_EXIT_FAILED;
        ssize_t bytes;

        CHECK_EQ(command_run(command, argv, argc, -1), ED_EXIT_OK);
        bytes = output_read(wanted);
        CHECK(bytes > 0);
        CHECK(unlink(output) == 0);
        for (left = 0; code != ED_EXIT_OK && left < ALLOCATIONS_MOST; left++) {
                code = command_run(command, argv, argc, left);
                if (code != ED_EXIT_OK && code != ED_EXIT_FAILED)
                        test_fail(__FILE__, __LINE__, "allocation %d: exit %d", left, code);
                CHECK_EQ(output_read(got), code == ED_EXIT_OK ? bytes : -1);
        }
        CHECK(left > 20 && left < ALLOCATIONS_MOST);
        CHECK(memcmp(got, wanted, (size_t) bytes) == 0);
        CHECK(unlink(output) == 0 && unlink(input) == 0 && unlink(answers) == 0);
        unlink(errors);
        CHECK(rmdir(folder) == 0);
}

static void files_put(void)
{
        file_put(input, "in.csv", "custom_id,text,n\na,\"x \"\"y\"\"\",1\nb,z,2\nc,w,3\n");
        file_put(answers, "out.jsonl",
                 "{\"custom_id\":\"b\",\"response\":{\"status_code\":200,\"body\":{\"t\":\"a, b\","
                 "\"l\":[1, 2],\"j\":\"{\\\"k\\\":1}\"}},\"error\":null}\n"
                 "{\"custom_id\":\"x\",\"response\":{\"status_code\":200,\"body\":{}},\"error\":"
                 "null}\n");
        file_put(errors, "out.errors.jsonl",
                 "{\"custom_id\":\"a\",\"response\":null,\"error\":{\"code\":\"c\",\"message\":"
                 "\"m\"}}\n");
}

TEST(select_without_memory_ends_with_its_status_and_without_a_table)
{
        static const char *const outputs[] = { "t.csv", "t.jsonl.gz" };

        for (size_t i = 0; i < 2; i++) {
                memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
                CHECK(mkdtemp(folder));
                files_put();
                snprintf(output, sizeof(output), "%s/%s", folder, outputs[i]);
                const char *const argv[] = { "select",   answers,  "--by",     input,      "--keep",
                                             "*",        "--keep", "m=n",      "--select", "/t",
                                             "--select", "/l",     "--select", "/j#/k",    "-o",
                                             output,     MEMORY,   NULL };

                sweep(ed_select_main, argv, (int) (sizeof(argv) / sizeof(argv[0])) - 1);
        }
}

TEST(sort_without_memory_ends_with_its_status_and_without_an_output)
{
        CHECK(mkdtemp(folder));
        files_put();
        snprintf(output, sizeof(output), "%s/sorted.jsonl.gz", folder);
        const char *const argv[] = { "sort", answers, "--by", input, "-o", output, MEMORY, NULL };

        sweep(ed_sort_main, argv, (int) (sizeof(argv) / sizeof(argv[0])) - 1);
}

TEST(collect_without_memory_ends_with_its_status_and_without_an_output)
{
        CHECK(mkdtemp(folder));
        file_put(input, "in.jsonl", "{\"custom_id\":\"a\"}\n{\"custom_id\":\"b\"}\n");
        file_put(answers, "out.0.jsonl",
                 "{\"custom_id\":\"b\",\"response\":{\"status_code\":200},\"error\":null}\n"
                 "{\"custom_id\":\"a\",\"response\":{\"status_code\":200},\"error\":null}\n");
        file_put(errors, "out.0.errors.jsonl",
                 "{\"custom_id\":\"a\",\"response\":null,\"error\":{\"code\":\"c\"}}\n");
        snprintf(output, sizeof(output), "%s/all.jsonl.gz", folder);
        const char *const argv[] = { "collect", answers, answers, "--by", input,
                                     "-o",      output,  MEMORY,  NULL };

        sweep(ed_collect_main, argv, (int) (sizeof(argv) / sizeof(argv[0])) - 1);
}

TEST(collect_without_memory_and_without_an_answer_fails_cleanly)
{
        enum { ALLOCATIONS = 120 };
        char data[DATA_BYTES];
        ssize_t bytes;

        CHECK(mkdtemp(folder));
        file_put(input, "in.jsonl", "{\"custom_id\":\"a\"}\n{\"custom_id\":\"b\"}\n");
        file_put(answers, "out.0.jsonl",
                 "{\"custom_id\":\"b\",\"response\":{\"status_code\":200},\"error\":null}\n");
        file_put(errors, "out.1.jsonl", "");
        snprintf(output, sizeof(output), "%s/all.jsonl", folder);
        const char *const argv[] = { "collect", answers, errors, "--by", input,
                                     "-o",      output,  MEMORY, NULL };

        for (int left = 0; left < ALLOCATIONS; left++) {
                CHECK_EQ(command_run(ed_collect_main, argv,
                                     (int) (sizeof(argv) / sizeof(argv[0])) - 1, left),
                         ED_EXIT_FAILED);
                bytes = output_read(data);
                CHECK(bytes == -1 || data[bytes - 1] == '\n');
                unlink(output);
        }
        CHECK(bytes > 0);
        CHECK(unlink(input) == 0 && unlink(answers) == 0 && unlink(errors) == 0);
        CHECK(rmdir(folder) == 0);
}

/* ---- a run that writes while the files are read ------------------------------------------------ */

enum { GROWTHS_MOST = 200 };

static int growth_at;

/* Appends an answer at one of the allocations. */
static void *grow_at(void *ctx, void *ptr, size_t bytes)
{
        if (bytes > 0 && growth_at-- == 0) {
                FILE *file = fopen(answers, "a");

                CHECK(file);
                CHECK(fputs("{\"custom_id\":\"new\",\"response\":{\"status_code\":200,\"body\":"
                            "{}},\"error\":null}\n",
                            file) >= 0);
                CHECK(fclose(file) == 0);
        }
        return starve(ctx, ptr, bytes);
}

/* Returns false if the command ends before the answer is appended. */
static bool select_while_it_grows(const char *const *argv, int argc)
{
        int status = 0;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
                int null = open("/dev/null", O_WRONLY);

                dup2(null, STDERR_FILENO);
                eddy_alloc_set(grow_at, NULL);
                CHECK_EQ(ed_select_main(argc, (char **) (uintptr_t) argv), ED_EXIT_OK);
                _exit(growth_at < 0);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status));
        return WEXITSTATUS(status) == 1;
}

TEST(a_failure_has_its_row_while_answers_are_appended)
{
        char data[DATA_BYTES];
        ssize_t bytes;
        bool grew = true;
        int at;

        memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
        CHECK(mkdtemp(folder));
        snprintf(output, sizeof(output), "%s/t.csv", folder);
        for (at = 0; grew && at < GROWTHS_MOST; at++) {
                files_put();
                const char *const argv[] = { "select", answers, "--select", "/l",
                                             "-o",     output,  MEMORY,     NULL };

                growth_at = at;
                grew = select_while_it_grows(argv, (int) (sizeof(argv) / sizeof(argv[0])) - 1);
                bytes = output_read(data);
                CHECK(bytes > 0 && bytes < DATA_BYTES);
                data[bytes] = '\0';
                if (!strstr(data, "\na,,c: m\n") || !strstr(data, "\nb,\"[1,2]\",\n"))
                        test_fail(__FILE__, __LINE__, "allocation %d: %s", at, data);
        }
        CHECK(at > 20 && at < GROWTHS_MOST);
        CHECK(unlink(output) == 0 && unlink(input) == 0 && unlink(answers) == 0 &&
              unlink(errors) == 0 && rmdir(folder) == 0);
}
