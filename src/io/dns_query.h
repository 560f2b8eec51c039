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

/* Parts of an answer. */
enum { ED_QUESTION_IPV6, ED_QUESTION_IPV4, ED_QUESTION_PARTS };

struct ed_question {
        struct ed_loop *loop;
        struct ares_channeldata *channel;
        struct ed_timer timer; /* quiet */
        const char *name;
        unsigned searched;   /* names of the search list that were asked for */
        bool exists;         /* one of those names exists, without addresses */
        unsigned steps;      /* that c-ares was given */
        int64_t give_up_ns;  /* whatever the state of c-ares is then */
        unsigned parts_done; /* when 'on_news' was called last */
        /* The answer for each family; the result is -EINPROGRESS until it is known. */
        struct ed_dns_answer parts[ED_QUESTION_PARTS];
        void (*on_news)(struct ed_question *question);
        struct ed_question_socket sockets[ED_QUESTION_SOCKETS];
};

/*
 * Start the query. 'name' is borrowed. On success either the answer is complete at once, or
 * 'on_news' is called from the loop each time a part is known; 'on_news' may end the query.
 *
 * Errors: -ENOMEM; EDDY_E_DNS_FAILED  c-ares could not be set up
 */
EDDY_MUST_USE int ed_question_ask(struct ed_question *question, struct ed_loop *loop,
                                  const char *name, const struct ed_question_opts *opts,
                                  void (*on_news)(struct ed_question *question));

/* Returns true if both parts are known. */
bool ed_question_is_done(const struct ed_question *question);

/* Store the whole answer, once both parts are known. */
void ed_question_answer(const struct ed_question *question, struct ed_dns_answer *ret_answer);

/* Cancel the query, or free it after its end. */
void ed_question_fini(struct ed_question *question);

#endif
