/*
 * The names of what is left are looked up without the lock that giving it back
 * takes.  The look-up waits for the linker, and that for the destructors of a
 * library which it unloads: one of them gave a channel back, and both waited.
 */
#include <dlfcn.h>
#include <eddy/eddy.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"

static void *library;
static eddy_channel *channel;
static pthread_t unloader;
static pid_t teller;
static atomic_bool is_unloading;
static int dumped;

/* Whether the thread that tells waits for a lock: nothing else lets it sleep. */
static bool reporter_sleeps(void)
{
        char path[64], state = 0;
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int) teller);
        file = fopen(path, "r");
        CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
        return state == 'S';
}

/* In the linker, with its lock. */
static void give_back(void)
{
        is_unloading = true;
        while (!reporter_sleeps())
                (void) sched_yield();
        eddy_channel_release(channel);
}

static void *unload(void *arg)
{
        CHECK_EQ(dlclose(library), 0);
        return arg;
}

/* Told at the end: a heading, the stack of main, and then what is left. */
static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != EDDY_REPORT_DUMP || ++dumped != 2)
                return;
        CHECK_EQ(pthread_create(&unloader, NULL, unload, NULL), 0);
        while (!is_unloading)
                (void) sched_yield();
}

static int makes_a_channel(void *arg)
{
        return eddy_channel_new(0, 1, arg);
}

TEST(a_library_that_is_unloaded_during_its_report_is_given_back)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_DEBUG, .report = on_report };

        library = dlopen(UNLOADED_LIBRARY, RTLD_NOW);
        CHECK(library != NULL);
        *(void (**)(void)) dlsym(library, "while_unloaded") = give_back;
        teller = gettid();
        CHECK_EQ(eddy_run(makes_a_channel, &channel, &opts), 0);
        CHECK_EQ(pthread_join(unloader, NULL), 0);
        CHECK_EQ(dumped, 2);
}
