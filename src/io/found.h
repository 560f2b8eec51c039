/*
 * io/found.h - the addresses of a name, which may come in two parts: those of the family that is
 * known first, and those of the other family (RFC 8305, 3).
 */
#ifndef ED_IO_FOUND_H
#define ED_IO_FOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "eddy/dns.h"

/* Each family may have EDDY_DNS_ADDRESSES_MAX. */
enum { ED_FOUND_MAX = 2 * EDDY_DNS_ADDRESSES_MAX };

struct ed_lookup;
struct ed_task;

/* On the stack of a task. */
struct ed_found {
        struct eddy_address addresses[ED_FOUND_MAX]; /* in the order in which to try them */
        size_t n;
        size_t tried; /* addresses that have been tried: they keep their places */
        /* The lookup that goes on for the other family; NULL: no further addresses come. */
        struct ed_lookup *lookup;
        /* Called from the loop when that lookup has ended; 'n' may have grown. May be NULL. */
        void (*on_more)(void *arg);
        void *arg;

        /* The resolver's. */
        struct ed_list link;  /* in the lookup, while 'lookup' is set */
        struct ed_task *task; /* waits for addresses; NULL: none waits */
        bool in_parts;        /* the first part is wanted as soon as it is known */
};

/* Begin without an address and without a lookup. */
static inline void ed_found_init(struct ed_found *found)
{
        found->n = found->tried = 0;
        found->lookup = NULL;
        found->on_more = NULL;
        found->task = NULL;
        found->in_parts = false;
}

/* Store the first addresses, at most EDDY_DNS_ADDRESSES_MAX. */
void ed_found_put(struct ed_found *found, const struct eddy_address *addresses, size_t n);

/* Add the addresses of the other family. Those that were not tried yet are sorted again. */
void ed_found_join(struct ed_found *found, const struct eddy_address *addresses, size_t n);

/*
 * Sort addresses in the order in which to try them (RFC 8305, 4): the families alternate, each in
 * the given order, and 'family' (AF_INET or AF_INET6) is first. Returns their number, at most
 * 'max'.
 */
size_t ed_dns_order(const struct eddy_address *list, size_t n, uint16_t family,
                    struct eddy_address *ret_list, size_t max);

#endif
