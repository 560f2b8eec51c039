/*
 * obs_test.c - what the tests of logs and metrics share.
 */
#include "obs_test.h"

#include <errno.h>

struct obs_log obs;

void obs_run(eddy_task_fn *fn)
{
        struct eddy_test_result result;
        int err = eddy_test_run(fn, NULL, NULL, &result);

        CHECK_STR(result.problem, "");
        CHECK_STR(err < 0 ? eddy_error_name(err) : "0", "0");
}

void obs_sweep_all(eddy_task_fn *fn, const char *const *names)
{
        static const int sweeps[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                      EDDY_TEST_ALLOC_FOREVER, EDDY_TEST_CALLS };

        for (size_t i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++)
                CHECK_EQ(eddy_test_sweep(sweeps[i], fn, NULL, NULL, NULL), 0);
        for (; *names; names++) {
                struct eddy_test_opts opts = { .cancel_named = *names };

                CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL_TASK, fn, NULL, &opts, NULL), 0);
        }
}

void obs_open(struct eddy_log_opts opts, size_t pair_bytes)
{
        struct eddy_stream_pair_opts pair = { .buffer_bytes = pair_bytes };

        obs.bytes = 0;
        obs.text[0] = '\0';
        CHECK_EQ(eddy_stream_pair(&pair, &obs.near, &obs.far), 0);
        opts.stream = obs.near;
        CHECK_EQ(eddy_log_open(&opts, &obs.log), 0);
}

void obs_close(void)
{
        eddy_log_close(obs.log);
        eddy_stream_close(obs.near);
        eddy_stream_close(obs.far);
}

const char *obs_read(void)
{
        int64_t n;

        obs.bytes = 0;
        while ((n = eddy_stream_try_read(obs.far, obs.text + obs.bytes,
                                         sizeof(obs.text) - 1 - obs.bytes)) > 0)
                obs.bytes += (size_t) n;
        obs.text[obs.bytes] = '\0';
        return obs.text;
}

/* Both formats have a time that ends in ".000", with or without "Z". */
static void mask_times(char *text)
{
        static const char json[] = "{\"time\":\"";
        char *line = text;

        while (*line) {
                char *from = line, *to;

                if (strncmp(line, json, sizeof(json) - 1) == 0)
                        from += sizeof(json) - 1;
                to = from + strcspn(from, "\" \n");
                if (to > from) {
                        *from = 'T';
                        memmove(from + 1, to, strlen(to) + 1);
                }
                line += strcspn(line, "\n");
                line += *line == '\n';
        }
}

const char *obs_lines(void)
{
        CHECK_EQ(eddy_log_flush(obs.log), 0);
        (void) obs_read();
        mask_times(obs.text);
        return obs.text;
}

int obs_count(const char *text, const char *part)
{
        int n = 0;

        for (; (text = strstr(text, part)); text++)
                n++;
        return n;
}
