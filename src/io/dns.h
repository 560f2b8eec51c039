/*
 * io/dns.h - looking up a name in parts; for tests, servers and counters of the loop's resolver.
 */
#ifndef ED_IO_DNS_H
#define ED_IO_DNS_H

#include "io/dns_query.h"
#include "io/found.h"

/*
 * As eddy_dns_lookup(), for a caller that tries one address after the other. Returns 0 with the
 * first addresses: at once if the family that came first is IPv6, else 50 ms later at the latest
 * (RFC 8305, 3). If 'found->lookup' is set, the lookup continues for the other family until
 * ed_found_end(), and 'found' must stay where it is. '*found' is set on success only.
 *
 * Suspends: yes.
 */
ED_SHARED EDDY_MUST_USE int ed_found_look_up(const char *host, struct ed_found *found);

/*
 * Wait until the lookup for the other family has ended.
 *
 * Suspends: yes.
 * Errors: -ECANCELED.
 */
EDDY_MUST_USE int ed_found_wait(struct ed_found *found);

/* The caller needs no further addresses. Harmless without a lookup. */
ED_SHARED void ed_found_end(struct ed_found *found);

/*
 * Use these servers from now on; see struct ed_question_opts. The string is borrowed until the
 * loop's end. Errors: -ENOMEM.
 */
EDDY_MUST_USE int ed_dns_set_servers(struct ed_loop *loop, const struct ed_question_opts *opts);

/*
 * Return the number of lookups in progress, and of cached answers. Only tests call them; the loop's
 * resolver, which they read, is known to dns.c alone.
 */
size_t ed_dns_lookups(struct ed_loop *loop);
size_t ed_dns_cached(struct ed_loop *loop);

#endif
