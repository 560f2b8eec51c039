/*
 * A start that fails because the scope was cancelled from outside shows in the
 * result of the scope's end: who starts many and checks once at the end must
 * not take "nothing was done" for "all is well".
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

static int never(void *arg)
{
        (void) arg;
        test_fail(__FILE__, __LINE__, "a task ran that could not be started");
}

static int start_when_cancelled(void *arg)
{
        eddy_scope outer, inner;

        (void) arg;
        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, NULL);
        eddy_scope_cancel(&outer);
        CHECK_EQ(eddy_scope_start(&inner, never, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
        return 0;
}

TEST(a_start_refused_from_outside_is_the_result_of_the_scope)
{
        CHECK_EQ(eddy_run(start_when_cancelled, NULL, NULL), 0);
}

static int start_when_expired(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = -1 });
        CHECK_EQ(eddy_scope_start(&scope, never, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        return 0;
}

TEST(a_start_refused_by_the_deadline_is_the_result_of_the_scope)
{
        CHECK_EQ(eddy_run(start_when_expired, NULL, NULL), 0);
}

static int start_when_cancelled_itself(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_start(&scope, never, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

TEST(a_start_refused_by_the_scopes_own_cancel_is_not_an_error)
{
        CHECK_EQ(eddy_run(start_when_cancelled_itself, NULL, NULL), 0);
}
