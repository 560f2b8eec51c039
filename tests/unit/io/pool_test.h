/*
 * pool_test.h - what the tests of process pools share.
 */
#ifndef ED_POOL_TEST_H
#define ED_POOL_TEST_H

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io_test.h"

/* Returns the number of the zygote, which is the only child, or 0 if the system has no such file. */
static inline int zygote_pid(void)
{
        FILE *file = fopen("/proc/thread-self/children", "r");
        int pid = 0;

        if (!file)
                return 0;
        if (fscanf(file, "%d", &pid) != 1)
                pid = 0;
        fclose(file);
        return pid;
}

/* Returns the number of workers, zombies too, or 0 if the system has no such file. */
static inline int workers_left(void)
{
        char path[64];
        FILE *file;
        int pid = zygote_pid(), n = 0;

        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
        file = fopen(path, "r");
        if (!file)
                return 0;
        while (fscanf(file, "%d", &pid) == 1)
                n++;
        fclose(file);
        return n;
}

/*
 * A case whose body is the main task of a run that leaves no descriptor, no worker, no zombie, and
 * no child except the zygote.
 */
#define POOL_TEST(claim)                                                                           \
        static void body_##claim(void);                                                            \
        static int main_##claim(void *arg)                                                         \
        {                                                                                          \
                (void) arg;                                                                        \
                body_##claim();                                                                    \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                CHECK_EQ(eddy_process_pool_prepare(), 0);                                          \
                io_run(main_##claim);                                                              \
                CHECK_EQ(workers_left(), 0);                                                       \
                CHECK_EQ(waitpid(-1, NULL, WNOHANG), 0);                                           \
        }                                                                                          \
        static void body_##claim(void)

static inline eddy_process_pool *open_pool(const struct eddy_process_pool_opts *opts)
{
        eddy_process_pool *pool = NULL;
        int err = eddy_process_pool_open(opts, &pool);

        CHECK_STR(err ? eddy_error_name(err) : "0", "0");
        return pool;
}

static inline eddy_process_pool *open_workers(uint32_t workers)
{
        struct eddy_process_pool_opts opts = { .workers_max = workers };

        return open_pool(&opts);
}

/* In a worker: send the input back. */
static inline int echo(eddy_process_work *work)
{
        return eddy_process_work_reply(work, eddy_process_work_input(work),
                                       eddy_process_work_input_bytes(work));
}

static inline int own_pid(eddy_process_work *work)
{
        int pid = (int) getpid();

        return eddy_process_work_reply(work, &pid, sizeof(pid));
}

static inline int call_pid(eddy_process_pool *pool)
{
        int pid = 0;
        struct eddy_process_call call = { .fn = own_pid,
                                          .result = &pid,
                                          .result_bytes_max = sizeof(pid) };
        int err = eddy_process_pool_call(pool, &call);

        CHECK_STR(err ? eddy_error_name(err) : "0", "0");
        CHECK(pid > 0 && pid != (int) getpid());
        return pid;
}

/* Send so many bytes there and back. */
static inline int call_echo(eddy_process_pool *pool, size_t bytes)
{
        char *input = malloc(bytes + 1), *result = malloc(bytes + 1);
        struct eddy_process_call call = { .fn = echo,
                                          .input = input,
                                          .input_bytes = bytes,
                                          .result = result,
                                          .result_bytes_max = bytes };
        int err;

        CHECK(input && result);
        for (size_t i = 0; i < bytes; i++)
                input[i] = (char) (i * 7 + i / 4096);
        err = eddy_process_pool_call(pool, &call);
        CHECK(err < 0 || (call.result_bytes == bytes && memcmp(input, result, bytes) == 0));
        free(input);
        free(result);
        return err;
}

#endif
