/*
 * A test that is loaded, as runners of tests do, by a program without eddy.
 */
#include "eddy/eddy.h"
#include "eddy/test.h"

int plugin_test(void);

static int sleeps(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_MS(1));
}

int plugin_test(void)
{
        return eddy_test_sweep(EDDY_TEST_CANCEL, sleeps, NULL, NULL, NULL);
}
