/*
 * eddy/test_net.h - the network of a test's run: streams, listeners and names
 * in memory, which are late, stall, are cut, or come in another order.
 *
 * In a run of eddy/test.h all of eddy/tcp.h, eddy/dns.h and what stands on
 * them is in memory.  The calls here say how that network behaves; each works
 * from the main task or any other of the run, for what is connected or sent
 * from then on.
 */
#ifndef EDDY_TEST_NET_H
#define EDDY_TEST_NET_H

#include "eddy/def.h"
#include "eddy/dns.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_TEST_CUT_END = 1,   /* the receiver gets what came before, then the end */
        EDDY_TEST_CUT_RESET = 2, /* then a reset */
};

/* How bytes travel on a connection, each way.  All zero: at once and whole. */
struct eddy_test_link {
        int64_t delay_ns;  /* bytes, connections and ends arrive that much later */
        int64_t jitter_ns; /* and up to that much more, by the seed: connections overtake others,
                              bytes of one connection never each other */
        int chop;          /* transfers move a random part of what they could, by the seed */
        uint32_t buffer_bytes; /* between two ends, each way; 0: 64 KiB */

        int reorder; /* what was accepted or connected last may be told of first, by the seed */

        /* After so many bytes that the accepting side ('by_server') or the other has sent. */
        int by_server;
        int cut; /* EDDY_TEST_CUT_*; 0: not at all */
        uint64_t cut_bytes;
        int64_t stall_ns; /* nothing of it arrives for so long; 0: not at all */
        uint64_t stall_bytes;
        uintptr_t reserved[4];
};

/*
 * How connections that are made from now on behave.  NULL: as at first.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN  not in a run of the kit
 *         -EINVAL             a number is out of range
 */
EDDY_API int eddy_test_link_set(const struct eddy_test_link *link);

/*
 * Two ends of a stream in memory, connected; 'link' as above ('by_server'
 * means the first end), NULL: that of eddy_test_link_set().
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN, -EINVAL, -ENOMEM, -EMFILE
 * Owns: returns (owned) both.
 */
EDDY_API EDDY_MUST_USE int eddy_test_stream_pair(const struct eddy_test_link *link,
                                                 eddy_stream **ret_first, eddy_stream **ret_second);

/*
 * Let 'name' have 'n' addresses from now on; 0: it exists and has none.  A
 * name that was never added does not exist.  "localhost" always is this host.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN, -ENOMEM
 *         -EINVAL  it is no name that is ever asked for (too long, an address,
 *                  localhost), or there are too many addresses
 *         -ENOSPC  there are EDDY_TEST_NAMES_MAX
 */
enum { EDDY_TEST_NAMES_MAX = 32, EDDY_TEST_DEAD_MAX = 8 };
EDDY_API int eddy_test_name_add(const char *name, const struct eddy_address *addresses, size_t n);

/*
 * Let nothing answer at an address, as behind a firewall that drops packets:
 * connects to it end in EDDY_E_NET_TIMED_OUT after two minutes.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN; -ENOSPC  there are EDDY_TEST_DEAD_MAX
 */
EDDY_API int eddy_test_address_dead(const struct eddy_address *address);

/*
 * Let jobs of threads last 'job_ns' of virtual time from now on (above 0; with
 * a seed up to twice that).  It is a millisecond before.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN, -EINVAL
 */
EDDY_API int eddy_test_thread_job_ns(int64_t job_ns);

EDDY_END_DECLS

#endif
