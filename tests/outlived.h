/*
 * outlived.h - objects that outlive their run, or are used in the run of another thread: each call
 * is refused with a documented error, and each object can be closed, once, without a leak.
 */
#ifndef OUTLIVED_H
#define OUTLIVED_H

#include <dirent.h>
#include <pthread.h>

#include "eddy/eddy.h"
#include "test.h"

enum { OUTLIVED_USES_MAX = 12 };

typedef int64_t outlived_use_fn(void *object);

struct outlived {
        const char *name;
        void *(*make)(void);                      /* in a task */
        outlived_use_fn *uses[OUTLIVED_USES_MAX]; /* each refused */
        void (*close)(void *object);
};

struct outlived_now {
        const struct outlived *kind;
        void *object;
        bool closes;
        int result;
};

static inline int outlived_main_makes(void *arg)
{
        struct outlived_now *now = arg;

        now->object = now->kind->make();
        return 0;
}

static inline void outlived_check(const struct outlived_now *now, bool has_run)
{
        for (int i = 0; i < OUTLIVED_USES_MAX && now->kind->uses[i]; i++) {
                int64_t err = now->kind->uses[i](now->object);

                if (err != EDDY_E_RUN_OTHER_LOOP && (has_run || err != EDDY_E_RUN_NOT_RUNNING))
                        test_fail(__FILE__, __LINE__, "use %d of %s returned %lld", i,
                                  now->kind->name, (long long) err);
        }
}

static inline int outlived_main_uses(void *arg)
{
        const struct outlived_now *now = arg;

        outlived_check(now, true);
        if (now->closes)
                now->kind->close(now->object);
        return 0;
}

static inline void outlived_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind == EDDY_REPORT_MISUSE)
                CHECK(strstr(report->text, "of a loop on another thread: close it there") != NULL);
}

static const struct eddy_run_opts outlived_opts = { .flags = EDDY_RUN_NO_SIGNALS,
                                                    .report = outlived_report };

static inline int outlived_fds(void)
{
        DIR *folder = opendir("/proc/self/fd");
        int n = 0;

        CHECK(folder != NULL);
        while (readdir(folder))
                n++;
        CHECK_EQ(closedir(folder), 0);
        return n;
}

/* After its run: without a run, and in two later ones, whose loops may have the former address. */
static inline void outlived_by_a_later_run(const struct outlived *kind, bool closes_in_run)
{
        struct outlived_now now = { .kind = kind };
        int fds = outlived_fds();

        CHECK_EQ(eddy_run(outlived_main_makes, &now, &outlived_opts), 0);
        outlived_check(&now, false);
        CHECK_EQ(eddy_run(outlived_main_uses, &now, &outlived_opts), 0);
        now.closes = closes_in_run;
        CHECK_EQ(eddy_run(outlived_main_uses, &now, &outlived_opts), 0);
        if (!closes_in_run)
                kind->close(now.object);
        CHECK_EQ(outlived_fds(), fds);
}

static inline void *outlived_thread(void *arg)
{
        struct outlived_now *now = arg;

        outlived_check(now, false);
        now->result = eddy_run(outlived_main_uses, now, &outlived_opts);
        return NULL;
}

static inline int outlived_main_beside(void *arg)
{
        struct outlived_now now = { .kind = arg, .closes = true };
        pthread_t thread;

        now.object = now.kind->make();
        CHECK_EQ(pthread_create(&thread, NULL, outlived_thread, &now), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(now.result, 0);
        /* The close on the other thread has done nothing. */
        now.kind->close(now.object);
        return 0;
}

/* Runs all that a program can do wrong with objects of 'kinds', and closes them each way. */
static inline void outlived_check_all(const struct outlived *kinds, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                outlived_by_a_later_run(&kinds[i], false);
                outlived_by_a_later_run(&kinds[i], true);
                CHECK_EQ(eddy_run(outlived_main_beside, (void *) &kinds[i], &outlived_opts), 0);
        }
}

#endif
