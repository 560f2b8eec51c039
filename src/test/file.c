/*
 * file.c - the disk of a run: the public functions of the simulated disk.
 */
#include <errno.h>

#include "eddy/error.h"
#include "eddy/test_file.h"
#include "loop/loop.h"
#include "sim/sim.h"

/* Returns the running loop's table if it is simulated, else NULL. */
static struct ed_sys *world(void)
{
        const struct ed_loop *loop = ed_loop_current;

        return loop && ed_sys_is_sim(loop->sys) ? loop->sys : NULL;
}

int64_t eddy_test_power_off(void)
{
        struct ed_sys *sys = world();
        uint64_t states;
        int err;

        if (!sys)
                return EDDY_E_TEST_NO_RUN;
        err = ed_sim_power_off(sys, &states);
        if (err < 0)
                return err;
        return states > INT64_MAX ? INT64_MAX : (int64_t) states;
}

int eddy_test_power_off_at(uint64_t n)
{
        struct ed_sys *sys = world();

        if (!sys)
                return EDDY_E_TEST_NO_RUN;
        ed_sim_power_off_at(sys, n);
        return 0;
}

int eddy_test_power_on(uint64_t state)
{
        struct ed_sys *sys = world();

        return sys ? ed_sim_power_on(sys, state) : EDDY_E_TEST_NO_RUN;
}

int64_t eddy_test_file_operations(void)
{
        const struct ed_sys *sys = world();

        return sys ? (int64_t) ed_sim_file_ops(sys) : EDDY_E_TEST_NO_RUN;
}
