/*
 * net.c - the network of a run: the public functions of the simulated network.
 */
#include <errno.h>

#include "eddy/test_net.h"
#include "io/dns_name.h"
#include "io/socket.h"
#include "scope/debug/debug.h"
#include "sim/sim.h"

/* Returns the running loop's table if it is simulated, else NULL. */
static struct ed_sys *world(void)
{
        const struct ed_loop *loop = ed_loop_current;

        return loop && ed_sys_is_sim(loop->sys) ? loop->sys : NULL;
}

static struct ed_sim_link link_of(const struct eddy_test_link *link)
{
        return (struct ed_sim_link){
                .latency_ns = link->delay_ns,
                .jitter_ns = link->jitter_ns,
                .chop = link->chop,
                .reorder = link->reorder,
                .buffer_bytes = link->buffer_bytes,
                .by_server = link->by_server,
                .cut = link->cut,
                .cut_bytes = link->cut_bytes,
                .stall_ns = link->stall_ns,
                .stall_bytes = link->stall_bytes,
        };
}

int eddy_test_link_set(const struct eddy_test_link *link)
{
        struct ed_sys *sys = world();
        struct ed_sim_link asked;

        if (!sys)
                return EDDY_E_TEST_NO_RUN;
        if (!link)
                return ed_sim_link_set(sys, NULL);
        asked = link_of(link);
        return ed_sim_link_set(sys, &asked);
}

int eddy_test_stream_pair(const struct eddy_test_link *link, eddy_stream **ret_first,
                          eddy_stream **ret_second)
{
        struct ed_fd_stream *first, *second;
        struct ed_sys *sys = world();
        struct ed_sim_link asked;
        int err = -ENOMEM, fds[2];

        if (!sys)
                return EDDY_E_TEST_NO_RUN;
        if (link)
                asked = link_of(link);
        first = ed_socket_new(ed_loop_current, EDDY_ENDPOINT_IP);
        if (!first)
                return -ENOMEM;
        second = ed_socket_new(ed_loop_current, EDDY_ENDPOINT_IP);
        if (!second)
                goto fail_first;
        err = ed_sim_pair(sys, link ? &asked : NULL, fds);
        if (err < 0)
                goto fail_second;
        ed_socket_attach(first, fds[0]);
        ed_socket_attach(second, fds[1]);
        *ret_first = &first->stream;
        *ret_second = &second->stream;
        ed_debug_made(*ret_first, ED_DEBUG_STREAM);
        ed_debug_made(*ret_second, ED_DEBUG_STREAM);
        return 0;

fail_second:
        ed_socket_free(second);
fail_first:
        ed_socket_free(first);
        return err;
}

int eddy_test_name_add(const char *name, const struct eddy_address *addresses, size_t n)
{
        struct ed_sys *sys = world();
        struct ed_name parsed;
        int err;

        if (!sys)
                return EDDY_E_TEST_NO_RUN;
        /* Convert the name as a lookup does. Names that a lookup never asks for cannot be added. */
        err = ed_name_parse(name, &parsed);
        if (err == -ENOMEM)
                return err;
        if (err < 0 || parsed.kind != ED_NAME_ASK)
                return -EINVAL;
        return ed_sim_name_add(sys, parsed.text, addresses, n);
}

int eddy_test_address_dead(const struct eddy_address *address)
{
        struct ed_sys *sys = world();

        return sys ? ed_sim_address_dead(sys, address) : EDDY_E_TEST_NO_RUN;
}

int eddy_test_thread_job_ns(int64_t job_ns)
{
        struct ed_sys *sys = world();

        if (!sys)
                return EDDY_E_TEST_NO_RUN;
        if (job_ns <= 0 || job_ns > ED_SIM_DELAY_MAX)
                return -EINVAL;
        ed_sim_job_ns(sys, job_ns);
        return 0;
}
