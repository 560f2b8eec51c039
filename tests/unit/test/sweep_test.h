/*
 * sweep_test.h - sweeps whose standard error a case looks at.
 */
#ifndef SWEEP_TEST_H
#define SWEEP_TEST_H

#include <eddy/eddy.h>
#include <eddy/test.h>
#include <fcntl.h>
#include <unistd.h>

#include "test.h"

#define MS EDDY_MS(1)

static struct eddy_test_sweep figures;

/* --- what is printed --- */

static char printed[1 << 20];

/* In debug mode it prints more. */
static const char *debug_mode = "0";

/* The sweep's result, with its standard error in 'printed'. */
static inline int sweep(int what, eddy_task_fn *fn, void *arg, const struct eddy_test_opts *opts)
{
        char path[] = "/tmp/eddy-sweep-XXXXXX";
        int kept = dup(STDERR_FILENO), file = mkstemp(path), err;
        ssize_t n;

        CHECK(kept >= 0 && file >= 0 && unlink(path) == 0);
        CHECK_EQ(setenv("EDDY_DEBUG", debug_mode, 1), 0);
        fflush(stderr);
        CHECK(dup2(file, STDERR_FILENO) >= 0);
        err = eddy_test_sweep(what, fn, arg, opts, &figures);
        CHECK(dup2(kept, STDERR_FILENO) >= 0);
        n = pread(file, printed, sizeof(printed) - 1, 0);
        CHECK(n >= 0);
        printed[n] = '\0';
        close(file);
        close(kept);
        return err;
}

static inline void sweep_passes(int what, eddy_task_fn *fn, void *arg,
                                const struct eddy_test_opts *opts)
{
        if (sweep(what, fn, arg, opts) != 0)
                test_fail(__FILE__, __LINE__, "%s", printed);
}

static inline int lines_with(const char *word)
{
        int n = 0;

        for (const char *at = printed; (at = strstr(at, word)); at++)
                n++;
        return n;
}

/* The string of a printed "again with EDDY_TEST_REPLAY='...'". */
static inline const char *replay(void)
{
        static const char before[] = "eddy_test: again with EDDY_TEST_REPLAY='";
        static char string[200];
        const char *at = strstr(printed, before);

        CHECK(at);
        at += strlen(before);
        snprintf(string, sizeof(string), "%.*s", (int) strcspn(at, "'"), at);
        return string;
}

#endif
