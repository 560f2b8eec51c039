/*
 * io/name.h - what a host's name is, before anybody is asked about it.
 *
 * One spelling for each thing: names in lower case and ASCII, addresses in
 * their canonical form only.  127.1 and 0x7f.1 are other spellings of an
 * address that filters look for, so they are refused and never looked up.
 */
#ifndef ED_IO_NAME_H
#define ED_IO_NAME_H

#include "base/def.h"
#include "eddy/dns.h"

enum ed_name_kind {
        ED_NAME_ADDRESS,  /* an address: nothing to ask */
        ED_NAME_LOOPBACK, /* localhost and below it: this machine, whoever is asked */
        ED_NAME_NONE,     /* .invalid: does not exist, whoever is asked */
        ED_NAME_ASK,
};

struct ed_name {
        enum ed_name_kind kind;
        struct eddy_address address;      /* of ED_NAME_ADDRESS */
        char text[EDDY_DNS_NAME_MAX + 2]; /* of the others; a final dot is kept */
};

/*
 * Errors: EDDY_E_DNS_BAD_NAME  not a name and not a canonical address
 *         -ENOMEM
 */
EDDY_MUST_USE ED_SHARED int ed_name_parse(const char *host, struct ed_name *ret_name);

/*
 * An address in its canonical form: dotted decimal without leading zeros, or
 * IPv6 in any spelling of RFC 4291, with an interface's number after a '%'.
 * Errors: EDDY_E_DNS_BAD_NAME.
 */
EDDY_MUST_USE int ed_address_parse(const char *text, struct eddy_address *ret_address);

/* The address of this machine for itself. */
void ed_address_loopback(uint16_t family, struct eddy_address *ret_address);

#endif
