/*
 * io/dns_name.h - parsing a host name before any lookup.
 *
 * Each name has one spelling: names in lower case and ASCII, addresses only in canonical form.
 * Other spellings such as 127.1 and 0x7f.1 can bypass address filters, so they are refused and
 * never looked up.
 */
#ifndef ED_IO_DNS_NAME_H
#define ED_IO_DNS_NAME_H

#include "base/def.h"
#include "eddy/dns.h"

enum ed_name_kind {
        ED_NAME_ADDRESS,  /* an address: no lookup */
        ED_NAME_LOOPBACK, /* localhost and below: always this machine */
        ED_NAME_NONE,     /* .invalid: never exists */
        ED_NAME_ASK,
};

struct ed_name {
        enum ed_name_kind kind;
        struct eddy_address address;      /* for ED_NAME_ADDRESS */
        char text[EDDY_DNS_NAME_MAX + 2]; /* for the other kinds; a final dot is kept */
};

/*
 * Errors: EDDY_E_DNS_BAD_NAME  not a name and not a canonical address
 *         -ENOMEM
 */
EDDY_MUST_USE ED_SHARED int ed_name_parse(const char *host, struct ed_name *ret_name);

/*
 * Parse an address in canonical form: dotted decimal without leading zeros, or IPv6 in any spelling
 * of RFC 4291, with an interface's number after a '%'. Errors: EDDY_E_DNS_BAD_NAME.
 */
EDDY_MUST_USE int ed_address_parse(const char *text, struct eddy_address *ret_address);

/* Returns the loopback address. */
void ed_address_loopback(uint16_t family, struct eddy_address *ret_address);

#endif
