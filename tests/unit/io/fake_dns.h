/*
 * fake_dns.h - a name server for tests, on a thread of its own: UDP and TCP
 * on a free port of the loopback.  What it answers depends on the name's
 * first label:
 *
 *   a, a2..    one IPv4 address, TTL 300      aaaa     one IPv6 address
 *   both       one of each                    none     exists, no address
 *   nx         does not exist                 fail     SERVFAIL
 *   refused    REFUSED                        silent   no answer
 *   ttlN       as a, with that TTL            ttlneg   with the TTL 2^31
 *   many       20 IPv4, 2 IPv6                alias    a CNAME (TTL 5) of a
 *   cut        the answer ends in its middle  wrongid  another id, then silence
 *   garbage    random bytes, then as a        later    as a, after 30 ms
 *   stream     too long for UDP: as a by TCP
 *   pieces     the same, the answer in two pieces
 *   no6        one IPv4 address, silent for IPv6; no4: the other way round
 *   fail6      one IPv4 address, SERVFAIL for IPv6; fail4: the other way round
 *   split      IPv4 in "first.test", IPv6 in "second.test"
 *   second     one of each in "second.test", does not exist in "first.test"
 *   nx4fail6   as second, but SERVFAIL for IPv6 in "first.test"; nx6fail4: the other way round
 */
#ifndef ED_FAKE_DNS_H
#define ED_FAKE_DNS_H

#include <stdatomic.h>
#include <stdbool.h>

struct fake_dns {
        int udp, tcp, stop[2];
        unsigned long thread;
        char address[32];   /* "127.0.0.1:12345" */
        atomic_int queries; /* for IPv4 addresses */
        atomic_int asked;   /* queries of either family */
        atomic_int late; /* AF_INET or AF_INET6: such queries are answered when this has changed */
        atomic_int answers; /* sent by UDP, for either family */
        atomic_bool held;   /* queries are left in the sockets */
};

void fake_dns_start(struct fake_dns *dns);
void fake_dns_stop(struct fake_dns *dns);

/* Wait until it is done with the connections that were made so far, and has closed them. */
void fake_dns_settle(struct fake_dns *dns);

#endif
