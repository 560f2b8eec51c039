/*
 * io/dns_query.h - a query for one name, from /etc/hosts and the name servers, by c-ares.
 *
 * Each query has a separate channel: it can be cancelled without effect on others, uses the
 * system's current configuration, and sends from an unpredictable port.
 */
#ifndef ED_IO_DNS_QUERY_H
#define ED_IO_DNS_QUERY_H

#include "io/dns_cache.h"
#include "loop/loop.h"

/* Servers and limits; all zero: the system's settings. */
struct ed_question_opts {
        const char *servers; /* "127.0.0.1:53,[::1]:53"; NULL: the system's */
        int timeout_ms;      /* of the first try; doubled for each further try; 0: 2 s */
        int tries;           /* per server; 0: 3 */
};

struct ares_channeldata;
struct ed_question;

enum { ED_QUESTION_SOCKETS = 16 };

struct ed_question_socket {
        struct ed_target target;
        struct ed_question *question;
        int fd;      /* -1: unused */
        bool writes; /* c-ares wants to write */
};

struct ed_question {
        struct ed_loop *loop;
        struct ares_channeldata *channel;
        struct ed_timer timer;
        bool done;
        struct ed_dns_answer answer; /* valid once done */
        void (*on_done)(struct ed_question *question);
        struct ed_question_socket sockets[ED_QUESTION_SOCKETS];
};

/*
 * Start the query. On success either the answer is available at once ('done'), or 'on_done' is
 * called once from the loop when it is; 'on_done' may end the query.
 *
 * Errors: -ENOMEM; EDDY_E_DNS_FAILED  c-ares could not be set up
 */
EDDY_MUST_USE int ed_question_ask(struct ed_question *question, struct ed_loop *loop,
                                  const char *name, const struct ed_question_opts *opts,
                                  void (*on_done)(struct ed_question *question));

/* Cancel the query, or free it after its end. */
void ed_question_fini(struct ed_question *question);

/*
 * Sort addresses in the order in which to try them (RFC 8305, 4): IPv6 first, then the families
 * alternate, each in the given order. Returns their number, at most 'max'.
 */
size_t ed_dns_order(const struct eddy_address *list, size_t n, struct eddy_address *ret_list,
                    size_t max);

#endif
