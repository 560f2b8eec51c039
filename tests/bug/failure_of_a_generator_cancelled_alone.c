/*
 * The failure of a generator is for who asks it next, also when its task was
 * cancelled for itself: only when its scope ends or is cancelled is it the
 * scope's, whose other tasks it must not stop.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

enum { FAILURE = -1005 };

static eddy_generator gen;

/* Nobody waits for it any more when it fails. */
static int fails_late(eddy_generator *self, void *arg)
{
        eddy_scope shield;

        (void) self;
        (void) arg;
        eddy_task_cancel(eddy_task_current());
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_sleep(EDDY_MS(4)), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        return FAILURE;
}

static int ask(void *arg)
{
        int item;

        (void) arg;
        return eddy_generator_next(&gen, &item);
}

static int ask_in_vain(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, fails_late, NULL, sizeof(int));
        CHECK_EQ(eddy_call_timeout(ask, NULL, EDDY_MS(1)), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(EDDY_MS(8)), 0);
        CHECK_EQ(ask(NULL), FAILURE);
        CHECK_EQ(ask(NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

TEST(the_next_caller_is_given_the_failure)
{
        CHECK_EQ(eddy_run(ask_in_vain, NULL, NULL), 0);
}

static int ask_no_more(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, fails_late, NULL, sizeof(int));
        CHECK_EQ(eddy_call_timeout(ask, NULL, EDDY_MS(1)), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(EDDY_MS(8)), 0);
        CHECK_EQ(eddy_scope_end(&scope), FAILURE);
        return 0;
}

TEST(else_it_is_the_scopes_at_its_end)
{
        CHECK_EQ(eddy_run(ask_no_more, NULL, NULL), 0);
}
