/*
 * io/question.h - one name asked of /etc/hosts and of the name servers, by
 * c-ares.
 *
 * Each question has a channel of its own: it can be taken back without harm
 * to others, it sees the system's configuration as it is now, and it asks
 * from a port that nobody can foresee.
 */
#ifndef ED_IO_QUESTION_H
#define ED_IO_QUESTION_H

#include "io/dns_cache.h"
#include "loop/loop.h"

/* Whom to ask and for how long; all zero: what the system says. */
struct ed_question_opts {
        const char *servers; /* "127.0.0.1:53,[::1]:53"; NULL: of the system */
        int timeout_ms;      /* of the first try; doubled with each; 0: 2 s */
        int tries;           /* of each server; 0: 3 */
};

struct ares_channeldata;
struct ed_question;

enum { ED_QUESTION_SOCKETS = 16 };

struct ed_question_socket {
        struct ed_target target;
        struct ed_question *question;
        int fd;      /* -1: not in use */
        bool writes; /* c-ares wants to write */
};

struct ed_question {
        struct ed_loop *loop;
        struct ares_channeldata *channel;
        struct ed_timer timer;
        bool done;
        struct ed_dns_answer answer; /* once done */
        void (*on_done)(struct ed_question *question);
        struct ed_question_socket sockets[ED_QUESTION_SOCKETS];
};

/*
 * Ask.  On success the answer is there already (done), or 'on_done' is called
 * once from the loop when it is; it may end the question.
 *
 * Errors: -ENOMEM; EDDY_E_DNS_FAILED  c-ares could not be set up
 */
EDDY_MUST_USE int ed_question_ask(struct ed_question *question, struct ed_loop *loop,
                                  const char *name, const struct ed_question_opts *opts,
                                  void (*on_done)(struct ed_question *question));

/* Take it back, or clear up after its end. */
void ed_question_fini(struct ed_question *question);

/*
 * Addresses in the order in which to try them (RFC 8305, 4): IPv6 first and
 * families in turn, in each the order given.  Returns how many: at most 'max'.
 */
size_t ed_dns_order(const struct eddy_address *list, size_t n, struct eddy_address *ret_list,
                    size_t max);

#endif
