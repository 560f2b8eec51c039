/*
 * io/dns.h - for tests: servers and counters of the loop's resolver.
 */
#ifndef ED_IO_DNS_H
#define ED_IO_DNS_H

#include "io/dns_query.h"

/*
 * Use these servers from now on; see struct ed_question_opts. The string is borrowed until the
 * loop's end. Errors: -ENOMEM.
 */
EDDY_MUST_USE int ed_dns_set_servers(struct ed_loop *loop, const struct ed_question_opts *opts);

/* Return the number of lookups in progress, and of cached answers. */
size_t ed_dns_lookups(struct ed_loop *loop);
size_t ed_dns_cached(struct ed_loop *loop);

#endif
