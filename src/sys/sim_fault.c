/*
 * sys/sim_fault.c - calls of a simulation that are made to fail, and which
 * errors each kind of call may give.
 */
#include <errno.h>

#include "eddy/error.h"
#include "sys/sim_table.h"

enum { ERRORS_MAX = 10 };

struct fallible {
        const char *name;
        int errors[ERRORS_MAX + 1]; /* 0 after the last */
};

/* By enum ed_sim_call. */
static const struct fallible kinds[ED_SIM_CALLS] = {
        [ED_SIM_CALL_POLL] = { "poll", { -EINTR } },
        [ED_SIM_CALL_WATCH] = { "watch", { -ENOSPC, -ENOMEM } },
        [ED_SIM_CALL_SOCKET] = { "socket", { -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM, -EAFNOSUPPORT } },
        [ED_SIM_CALL_CONNECT] = { "connect",
                                  { -EINTR, -ECONNREFUSED, -ENETUNREACH, -EADDRNOTAVAIL, -EACCES,
                                    -ENOBUFS } },
        [ED_SIM_CALL_CONNECT_RESULT] = { "connect_result",
                                         { -ECONNREFUSED, -ETIMEDOUT, -EHOSTUNREACH,
                                           -ECONNRESET } },
        [ED_SIM_CALL_LISTEN] = { "listen", { -EADDRINUSE, -EADDRNOTAVAIL, -EACCES } },
        [ED_SIM_CALL_ACCEPT] = { "accept",
                                 { -EINTR, -EAGAIN, -ECONNABORTED, -EMFILE, -ENFILE, -ENOBUFS,
                                   -ENOMEM } },
        [ED_SIM_CALL_RECV] = { "recv",
                               { -EINTR, -EAGAIN, ED_SIM_SHORT, -ECONNRESET, -ETIMEDOUT,
                                 -ENOMEM } },
        [ED_SIM_CALL_SEND] = { "send",
                               { -EINTR, -EAGAIN, ED_SIM_SHORT, -ECONNRESET, -EPIPE, -ENOBUFS,
                                 -ENOMEM } },
        [ED_SIM_CALL_READ] = { "read", { -EINTR, -EAGAIN, ED_SIM_SHORT, -ECONNRESET, -EIO } },
        [ED_SIM_CALL_WRITE] = { "write",
                                { -EINTR, -EAGAIN, ED_SIM_SHORT, -EPIPE, -EIO, -ENOSPC,
                                  -ENOBUFS } },
        [ED_SIM_CALL_SHUTDOWN] = { "shutdown", { -ENOTCONN } },
        [ED_SIM_CALL_LOOKUP] = { "lookup",
                                 { EDDY_E_DNS_NOT_FOUND, EDDY_E_DNS_NO_ADDRESS, EDDY_E_DNS_FAILED,
                                   -ETIMEDOUT, -ENOMEM } },
        [ED_SIM_CALL_WORKER_NEW] = { "worker_new", { -EAGAIN, -ENOMEM } },
};

const char *ed_sim_call_name(enum ed_sim_call call)
{
        return kinds[call].name;
}

const int *ed_sim_call_errors(enum ed_sim_call call)
{
        return kinds[call].errors;
}

bool ed_sim_is_passing(enum ed_sim_call call, int err)
{
        if (call == ED_SIM_CALL_WORKER_NEW)
                return false;
        return err == -EINTR || err == -EAGAIN || err == ED_SIM_SHORT;
}

int ed_sim_fault(struct ed_sim *sim, enum ed_sim_call call)
{
        if (sim->calls < sim->opts.kinds_max)
                sim->opts.kinds[sim->calls] = (uint8_t) call;
        sim->calls++;
        sim->shorten = false;
        if (sim->fail_at == 0 || sim->calls < sim->fail_at)
                return 0;
        sim->fail_at = 0;
        sim->faults++;
        ed_sim_mark(sim, ED_SIM_FAILED, sim->calls, (uint64_t) sim->fail_err);
        sim->shorten = sim->fail_err == ED_SIM_SHORT;
        return sim->shorten ? 0 : sim->fail_err;
}

void ed_sim_fail_at(struct ed_sys *sys, uint64_t n, int err)
{
        struct ed_sim *sim = ed_sim_of(sys);

        sim->fail_at = n ? sim->calls + n : 0;
        sim->fail_err = err;
}

uint64_t ed_sim_calls(const struct ed_sys *sys)
{
        return ed_sim_of((struct ed_sys *) sys)->calls;
}
