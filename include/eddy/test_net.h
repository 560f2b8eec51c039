/*
 * eddy/test_net.h - the network of a test's run: streams, listeners and names in
 * memory, with delays, stalls, cuts and reordering.
 *
 * In a run of eddy/test.h, eddy/tcp.h, eddy/unix.h, eddy/dns.h and all that uses them work in
 * memory.  The functions here set how that network behaves.  Any task of the run
 * may call them; they apply to later connections and transfers.
 *
 * Unix sockets (eddy/unix.h) work in memory too.  There the path of a listener is a
 * name without a file: it ends with the listener, so modes and stale files have to
 * be tested on the real system.
 */
#ifndef EDDY_TEST_NET_H
#define EDDY_TEST_NET_H

#include "eddy/def.h"
#include "eddy/dns.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_TEST_CUT_END = 1,   /* the receiver gets the bytes before the cut, then the end */
        EDDY_TEST_CUT_RESET = 2, /* the same, then a reset */
};

/* How bytes travel on a connection, each way.  All zero: at once and in one piece. */
struct eddy_test_link {
        int64_t delay_ns EDDY_UNSET; /* bytes, connections and ends arrive later by this time */
        /* and by up to this time more, from the seed: connections may overtake, bytes of one
         * connection stay in order */
        int64_t jitter_ns EDDY_UNSET;
        int chop EDDY_UNSET; /* transfers move a random part of the possible bytes, from the seed */
        uint32_t buffer_bytes EDDY_UNSET; /* between the two ends, each way; 0: 64 KiB */

        /* accepts and connects may be reported out of order, from the seed */
        int reorder EDDY_UNSET;

        /* The side whose sent bytes count below: the accepting side, or (0) the other. */
        int by_server EDDY_UNSET;
        int cut EDDY_UNSET; /* EDDY_TEST_CUT_* after that side has sent cut_bytes; 0: none */
        uint64_t cut_bytes EDDY_UNSET;
        int64_t stall_ns EDDY_UNSET; /* pause its bytes for this time after stall_bytes; 0: none */
        uint64_t stall_bytes EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET;
};

/*
 * Set how later connections behave.  NULL restores the initial behaviour.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN  not in a run of the kit
 *         -EINVAL             a number is out of range
 */
EDDY_API int eddy_test_link_set(const struct eddy_test_link *link);

/*
 * Make a connected pair of streams in memory.  'link' is as above ('by_server'
 * means the first end); NULL: that of eddy_test_link_set().
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN, -EINVAL, -ENOMEM, -EMFILE
 * Owns: returns (owned) both.
 */
EDDY_API EDDY_MUST_USE int eddy_test_stream_pair(const struct eddy_test_link *link,
                                                 eddy_stream **ret_first, eddy_stream **ret_second);

/*
 * Give 'name' these 'n' addresses from now on; 0: the name exists without
 * addresses.  A name that was never added does not exist.  "localhost" is always
 * this host.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN, -ENOMEM
 *         -EINVAL  the name is never looked up (too long, an address, localhost),
 *                  or there are too many addresses
 *         -ENOSPC  there are EDDY_TEST_NAMES_MAX names already
 */
enum { EDDY_TEST_NAMES_MAX = 32, EDDY_TEST_DEAD_MAX = 8 };
EDDY_API int eddy_test_name_add(const char *name, const struct eddy_address *addresses, size_t n);

/*
 * Drop all packets to an address, as a firewall does: connects to it end in
 * EDDY_E_NET_TIMED_OUT after two minutes.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN; -ENOSPC  there are EDDY_TEST_DEAD_MAX already
 */
EDDY_API int eddy_test_address_dead(const struct eddy_address *address);

/*
 * Set the duration of later jobs of threads to 'job_ns' of virtual time (above 0;
 * with a seed up to twice that).  The default is a millisecond.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN, -EINVAL
 */
EDDY_API int eddy_test_thread_job_ns(int64_t job_ns);

EDDY_END_DECLS

#endif
