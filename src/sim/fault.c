/*
 * sim/fault.c - injected failures of simulated calls, and the errors that each kind of call may
 * return.
 */
#include <errno.h>

#include "eddy/error.h"
#include "sim/table.h"

enum { ERRORS_MAX = 10 };

struct fallible {
        const char *name;
        int errors[ERRORS_MAX + 1]; /* 0 after the last */
};

/* Indexed by enum ed_sim_call. */
static const struct fallible kinds[ED_SIM_CALLS] = {
        [ED_SIM_CALL_POLL] = { "poll", { -EINTR } },
        [ED_SIM_CALL_WATCH] = { "watch", { -ENOSPC, -ENOMEM } },
        [ED_SIM_CALL_SOCKET] = { "socket", { -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM, -EAFNOSUPPORT } },
        [ED_SIM_CALL_CONNECT] = { "connect",
                                  { -ECONNREFUSED, -ENETUNREACH, -EADDRNOTAVAIL, -EACCES,
                                    -ENOBUFS } },
        [ED_SIM_CALL_CONNECT_RESULT] = { "connect_result",
                                         { -ECONNREFUSED, -ETIMEDOUT, -EHOSTUNREACH,
                                           -ECONNRESET } },
        [ED_SIM_CALL_LISTEN] = { "listen", { -EADDRINUSE, -EADDRNOTAVAIL, -EACCES } },
        [ED_SIM_CALL_ACCEPT] = { "accept",
                                 { -EAGAIN, -ECONNABORTED, -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM } },
        [ED_SIM_CALL_RECV] = { "recv",
                               { -EAGAIN, ED_SIM_SHORT, -ECONNRESET, -ETIMEDOUT, -ENOMEM } },
        [ED_SIM_CALL_SEND] = { "send",
                               { -EAGAIN, ED_SIM_SHORT, -ECONNRESET, -EPIPE, -ENOBUFS, -ENOMEM } },
        [ED_SIM_CALL_READ] = { "read", { -EAGAIN, ED_SIM_SHORT, -ECONNRESET, -EIO } },
        [ED_SIM_CALL_WRITE] = { "write",
                                { -EAGAIN, ED_SIM_SHORT, -EPIPE, -EIO, -ENOSPC, -ENOBUFS } },
        [ED_SIM_CALL_SHUTDOWN] = { "shutdown", { -ENOTCONN } },
        [ED_SIM_CALL_LOOKUP] = { "lookup",
                                 { EDDY_E_DNS_NOT_FOUND, EDDY_E_DNS_NO_ADDRESS, EDDY_E_DNS_FAILED,
                                   -ETIMEDOUT, -ENOMEM } },
        [ED_SIM_CALL_WORKER_NEW] = { "worker_new", { -EAGAIN, -ENOMEM } },
        [ED_SIM_CALL_BIND] = { "bind", { -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, -ENOMEM } },
        [ED_SIM_CALL_KEEPALIVE] = { "keepalive", { -ENOBUFS, -ENOMEM } },
        [ED_SIM_CALL_FILE_OPEN] = { "file_open", { -EMFILE, -EACCES, -ENOSPC, -EIO, -ENOMEM } },
        [ED_SIM_CALL_FILE_READ] = { "file_read", { ED_SIM_SHORT, -EIO } },
        [ED_SIM_CALL_FILE_WRITE] = { "file_write", { ED_SIM_SHORT, -ENOSPC, -EDQUOT, -EIO } },
        [ED_SIM_CALL_FILE_SYNC] = { "file_sync", { -EIO, -ENOSPC, -EDQUOT } },
        [ED_SIM_CALL_FILE_STAT] = { "file_stat", { -EACCES, -EIO } },
        [ED_SIM_CALL_FILE_CHANGE] = { "file_change", { -EACCES, -ENOSPC, -EIO, -EROFS } },
        [ED_SIM_CALL_OPTION] = { "option", { -ENOBUFS, -ENOMEM } },
        [ED_SIM_CALL_SEND_DATAGRAMS] = { "send_datagrams",
                                         { -EAGAIN, -ECONNREFUSED, -ENOBUFS, -ENOMEM, -EPERM } },
        [ED_SIM_CALL_RECV_DATAGRAMS] = { "recv_datagrams", { -EAGAIN, -ECONNREFUSED, -ENOMEM } },
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

/* Returns the error for this call, or 0. */
static int fault_of(struct ed_sim *sim, enum ed_sim_call call)
{
        uint32_t one_in = sim->opts.seed ? sim->opts.fail_one_in : 0;
        const int *errors = kinds[call].errors;
        uint64_t n = 0;
        int err;

        if (sim->fail_at > 0 && sim->calls >= sim->fail_at) {
                sim->fail_at = 0;
                return sim->fail_err;
        }
        if (one_in == 0 || ed_sim_chance(sim, one_in) > 0)
                return 0;
        while (errors[n])
                n++;
        err = errors[ed_sim_chance(sim, n)];
        return sim->opts.fail_passing && !ed_sim_is_passing(call, err) ? 0 : err;
}

int ed_sim_fault(struct ed_sim *sim, enum ed_sim_call call)
{
        int err;

        if (sim->calls - sim->opts.kinds_skip < sim->opts.kinds_max)
                sim->opts.kinds[sim->calls - sim->opts.kinds_skip] = (uint8_t) call;
        sim->calls++;
        err = fault_of(sim, call);
        sim->shorten = err == ED_SIM_SHORT;
        if (err == 0)
                return 0;
        sim->faults++;
        if (sim->opts.at_fault)
                sim->opts.at_fault(call);
        ed_sim_mark(sim, ED_SIM_FAILED, sim->calls, (uint64_t) err);
        return sim->shorten ? 0 : err;
}

void ed_sim_fail_often(struct ed_sys *sys, uint32_t one_in)
{
        ed_sim_of(sys)->opts.fail_one_in = one_in;
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
