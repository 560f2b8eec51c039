/*
 * io/dns_query.c - a query to c-ares: its sockets, its timeouts, its answer.
 *
 * Each family is a call of its own, because c-ares reports a call only when it is complete. The
 * calls get names that c-ares does not search for: the list of search domains is followed here, so
 * both parts of an answer are about the same name. For the same reason /etc/hosts is read for both
 * families at once. The list is the C library's: c-ares 1.22 and later do not hand theirs out.
 *
 * c-ares names the descriptors to watch. The table reports only changes, so a descriptor with
 * unread data after its turn is registered again. c-ares is never destroyed inside its own
 * callbacks: callbacks only record results, and settle() acts on them.
 */
#include "io/dns_query.h"

#include <ares.h>
#include <arpa/inet.h>
#include <errno.h>
#include <resolv.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "io/found.h"
#include "sys/thread/thread.h"

/* The limits of c-ares: 2, 4 and 8 s for each server. */
enum { TIMEOUT_MS = 2000, TRIES = 3 };

/*
 * The ends of a query that do not depend on the state of c-ares. An answer takes a few steps, and a
 * query to three servers that are silent 42 s.
 */
enum { STEPS_MAX = 10000 };

#define GIVE_UP_NS EDDY_SEC(120)

static struct ed_once library_once = ED_ONCE_INIT;
static int library_status;

static void library_init(void)
{
        library_status =
                ares_library_init_mem(ARES_LIB_INIT_ALL, eddy_malloc, eddy_free, eddy_realloc);
}

static int error_of(int status)
{
        switch (status) {
        case ARES_ENOTFOUND:
                return EDDY_E_DNS_NOT_FOUND;
        case ARES_ENODATA:
                return EDDY_E_DNS_NO_ADDRESS;
        case ARES_EBADNAME:
                return EDDY_E_DNS_BAD_NAME;
        case ARES_ENOMEM:
                return -ENOMEM;
        default:
                return EDDY_E_DNS_FAILED;
        }
}

static bool address_of(const struct ares_addrinfo_node *node, struct eddy_address *ret_address)
{
        struct eddy_address address = { .family = (uint16_t) node->ai_family };

        if (node->ai_family == AF_INET6) {
                const struct sockaddr_in6 *in6 = (const void *) node->ai_addr;

                address.scope_id = in6->sin6_scope_id;
                memcpy(address.bytes, &in6->sin6_addr, 16);
        } else if (node->ai_family == AF_INET) {
                const struct sockaddr_in *in = (const void *) node->ai_addr;

                memcpy(address.bytes, &in->sin_addr, 4);
        } else {
                return false;
        }
        *ret_address = address;
        return true;
}

/*
 * Returns the shortest time to live of any part of an answer. RFC 2181, 8: a value with its first
 * bit set, negative here, means 0.
 */
static int64_t ttl_of(const struct ares_addrinfo *info)
{
        int64_t ttl_ns = EDDY_DNS_TTL_MAX_NS;

        for (const struct ares_addrinfo_node *node = info->nodes; node; node = node->ai_next)
                if ((int64_t) node->ai_ttl * 1000000000 < ttl_ns)
                        ttl_ns = (int64_t) node->ai_ttl * 1000000000;
        for (const struct ares_addrinfo_cname *cname = info->cnames; cname; cname = cname->next)
                if ((int64_t) cname->ttl * 1000000000 < ttl_ns)
                        ttl_ns = (int64_t) cname->ttl * 1000000000;
        return ttl_ns;
}

static void part_fail(struct ed_dns_answer *part, int result)
{
        part->result = result;
        part->ttl_ns = result == -ENOMEM ? 0 : EDDY_DNS_TTL_FAILED_NS;
}

/* Take the addresses of a family. */
static void take_part(struct ed_dns_answer *part, uint16_t family, const struct ares_addrinfo *info)
{
        int n = 0;

        for (const struct ares_addrinfo_node *node = info->nodes; node; node = node->ai_next)
                if (n < EDDY_DNS_ADDRESSES_MAX && node->ai_family == family &&
                    address_of(node, &part->addresses[n]))
                        n++;
        part->result = n;
        part->ttl_ns = ttl_of(info);
        if (n == 0)
                part_fail(part, EDDY_E_DNS_NO_ADDRESS);
}

static void on_part(struct ed_dns_answer *part, uint16_t family, int status,
                    struct ares_addrinfo *info)
{
        if (status == ARES_SUCCESS && info)
                take_part(part, family, info);
        else
                part_fail(part, error_of(status));
        if (info)
                ares_freeaddrinfo(info);
}

static void on_ipv6(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
        struct ed_question *question = arg;

        (void) timeouts;
        on_part(&question->parts[ED_QUESTION_IPV6], AF_INET6, status, info);
}

static void on_ipv4(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
        struct ed_question *question = arg;

        (void) timeouts;
        on_part(&question->parts[ED_QUESTION_IPV4], AF_INET, status, info);
}

/* The addresses of both families, from /etc/hosts. */
static void on_hosts(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
        struct ed_question *question = arg;

        (void) timeouts;
        for (int i = 0; i < ED_QUESTION_PARTS; i++)
                if (status == ARES_SUCCESS && info)
                        take_part(&question->parts[i], i == ED_QUESTION_IPV6 ? AF_INET6 : AF_INET,
                                  info);
                else
                        part_fail(&question->parts[i], error_of(status));
        if (info)
                ares_freeaddrinfo(info);
}

static unsigned parts_done(const struct ed_question *question)
{
        unsigned n = 0;

        for (int i = 0; i < ED_QUESTION_PARTS; i++)
                n += question->parts[i].result != -EINPROGRESS;
        return n;
}

bool ed_question_is_done(const struct ed_question *question)
{
        return parts_done(question) == ED_QUESTION_PARTS;
}

/* Returns true if the name has no address of that family, and that is certain. */
static bool is_absent(const struct ed_dns_answer *part)
{
        return part->result == EDDY_E_DNS_NOT_FOUND || part->result == EDDY_E_DNS_NO_ADDRESS;
}

void ed_question_answer(const struct ed_question *question, struct ed_dns_answer *ret_answer)
{
        struct eddy_address found[ED_FOUND_MAX];
        int error = question->exists ? EDDY_E_DNS_NO_ADDRESS : EDDY_E_DNS_NOT_FOUND;
        size_t n = 0;

        ret_answer->ttl_ns = EDDY_DNS_TTL_MAX_NS;
        for (int i = 0; i < ED_QUESTION_PARTS; i++) {
                const struct ed_dns_answer *part = &question->parts[i];

                if (part->result > 0) {
                        memcpy(found + n, part->addresses, (size_t) part->result * sizeof(*found));
                        n += (size_t) part->result;
                } else if (!is_absent(part)) {
                        error = part->result;
                }
                /* A family that failed is asked for again soon. */
                if ((part->result > 0 || !is_absent(part)) && part->ttl_ns < ret_answer->ttl_ns)
                        ret_answer->ttl_ns = part->ttl_ns;
        }
        if (n > 0) {
                ret_answer->result = (int) ed_dns_order(found, n, AF_INET6, ret_answer->addresses,
                                                        EDDY_DNS_ADDRESSES_MAX);
        } else {
                ret_answer->result = error;
                ret_answer->ttl_ns = error == -ENOMEM ? 0 : EDDY_DNS_TTL_FAILED_NS;
        }
}

/* -- the search list --------------------------------------------------------- */

static int dots_of(const char *name)
{
        int dots = 0;

        for (; *name; name++)
                dots += *name == '.';
        return dots;
}

/*
 * Write entry 'i' of the names to ask for, as resolvers sort them: with a dot at its end, so that
 * c-ares does not search. Returns false after the last entry; an entry that is too long for
 * a name is empty.
 */
static bool entry_write(const struct __res_state *list, const char *name, unsigned i, char *text,
                        size_t room)
{
        size_t bytes = strlen(name);
        const char *domain = "";
        unsigned domains = 0, own; /* 'own': the place of 'name' */
        int length;

        while (domains < MAXDNSRCH && list->dnsrch[domains])
                domains++;
        own = dots_of(name) >= (int) list->ndots ? 0 : domains;
        if (name[bytes - 1] == '.')
                own = domains = 0;
        if (i > domains)
                return false;
        if (i != own)
                domain = list->dnsrch[i < own ? i : i - 1];
        if (strcmp(domain, ".") == 0)
                domain = "";
        length = snprintf(text, room, "%s%s%s", name, *domain ? "." : "", domain);
        if (length < 0 || (size_t) length + 1 >= room)
                text[0] = '\0';
        else if (text[length - 1] != '.')
                memcpy(text + length, ".", 2);
        return true;
}

/* Ask for the next name. Returns 1, 0 if there is none, or -ENOMEM. */
static int ask_next_name(struct ed_question *question)
{
        struct ares_addrinfo_hints hints = {
                .ai_flags = ARES_AI_NOSORT, /* ed_dns_order() sorts */
                .ai_family = AF_INET,
                .ai_socktype = SOCK_STREAM,
        };
        char text[EDDY_DNS_NAME_MAX + 3] = "";
        struct __res_state list = { 0 };
        bool is_more = true;

        if (res_ninit(&list) < 0)
                return -ENOMEM;
        while (is_more && !text[0])
                is_more = entry_write(&list, question->name, question->searched++, text,
                                      sizeof(text));
        res_nclose(&list);
        if (!is_more)
                return 0;
        for (int i = 0; i < ED_QUESTION_PARTS; i++)
                question->parts[i].result = -EINPROGRESS;
        ares_getaddrinfo(question->channel, text, NULL, &hints, on_ipv4, question);
        hints.ai_family = AF_INET6;
        ares_getaddrinfo(question->channel, text, NULL, &hints, on_ipv6, question);
        return 1;
}

/*
 * Returns true if the name has no address. NXDOMAIN for one family is true of the name (RFC 8020,
 * 2), but some servers say so for AAAA of names that have an A record (RFC 4074, 4.2).
 */
static bool has_no_address(struct ed_question *question)
{
        const struct ed_dns_answer *ipv4 = &question->parts[ED_QUESTION_IPV4];
        struct ed_dns_answer *ipv6 = &question->parts[ED_QUESTION_IPV6];

        if (ipv4->result == EDDY_E_DNS_NOT_FOUND && ipv6->result == EDDY_E_DNS_FAILED)
                ipv6->result = EDDY_E_DNS_NOT_FOUND;
        return is_absent(ipv4) && is_absent(ipv6);
}

/* If a name has no address, ask for the next one. */
static void search(struct ed_question *question)
{
        int more = 1;

        while (more == 1 && has_no_address(question)) {
                for (int i = 0; i < ED_QUESTION_PARTS; i++)
                        question->exists |= question->parts[i].result == EDDY_E_DNS_NO_ADDRESS;
                more = ask_next_name(question);
        }
        for (int i = 0; i < ED_QUESTION_PARTS && more < 0; i++)
                part_fail(&question->parts[i], more);
}

/* -- turns of c-ares ----------------------------------------------------------- */

/* The query does not end by itself. */
static void give_up(struct ed_question *question)
{
        for (int i = 0; i < ED_QUESTION_PARTS; i++)
                if (question->parts[i].result == -EINPROGRESS)
                        part_fail(&question->parts[i], EDDY_E_DNS_FAILED);
}

/* Arm the timer for the next timeout of c-ares. */
static void wait_on(struct ed_question *question)
{
        int64_t at_ns = question->give_up_ns;
        struct timeval tv;

        if (ares_timeout(question->channel, NULL, &tv)) {
                /* Add a millisecond, so that c-ares' own clock has passed the timeout. */
                int64_t next_ns = ed_loop_now(question->loop) + EDDY_SEC(tv.tv_sec) +
                                  EDDY_US(tv.tv_usec) + EDDY_MS(1);

                if (next_ns < at_ns)
                        at_ns = next_ns;
        }
        ed_quiet_timer_arm(question->loop, &question->timer, at_ns);
}

/* After c-ares has run: report what is new, and wait for the rest. */
static void settle(struct ed_question *question)
{
        unsigned done;

        search(question);
        if (++question->steps > STEPS_MAX || ed_loop_now(question->loop) >= question->give_up_ns)
                give_up(question);
        done = parts_done(question);
        if (done == ED_QUESTION_PARTS)
                ed_quiet_timer_cancel(question->loop, &question->timer);
        else
                wait_on(question);
        if (done == question->parts_done)
                return;
        question->parts_done = done;
        if (question->on_news)
                question->on_news(question);
}

static void on_timer(struct ed_timer *timer)
{
        struct ed_question *question = ed_container_of(timer, struct ed_question, timer);

        ed_quiet_timer_fired(question->loop);
        ares_process_fd(question->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        settle(question);
}

static void on_events(struct ed_target *target, unsigned events)
{
        struct ed_question_socket *s = ed_container_of(target, struct ed_question_socket, target);
        struct ed_question *question = s->question;
        struct ed_sys *sys = question->loop->sys;
        bool reads = events & (ED_EVENT_READ | ED_EVENT_END);
        int fd = s->fd;

        ares_process_fd(question->channel, reads ? fd : ARES_SOCKET_BAD,
                        (events & ED_EVENT_WRITE) && s->writes ? fd : ARES_SOCKET_BAD);
        if (reads && s->fd == fd && sys->poll->is_readable(sys, fd)) {
                sys->poll->unwatch(sys, fd);
                if (sys->poll->watch(sys, fd, target) < 0)
                        s->fd = -1; /* the timeout ends the query */
        }
        settle(question);
}

/* Returns the entry of a descriptor; -1 finds a free one. */
static struct ed_question_socket *find_socket(struct ed_question *question, int fd)
{
        for (int i = 0; i < ED_QUESTION_SOCKETS; i++)
                if (question->sockets[i].fd == fd)
                        return &question->sockets[i];
        return NULL;
}

/* Called when c-ares needs events of a descriptor, or is about to close it. */
static void on_socket_state(void *arg, ares_socket_t fd, int readable, int writable)
{
        struct ed_question *question = arg;
        struct ed_question_socket *s = find_socket(question, fd);
        struct ed_sys *sys = question->loop->sys;

        if (!readable && !writable) {
                if (!s)
                        return;
                sys->poll->unwatch(sys, fd);
                ed_loop_forget(question->loop, &s->target);
                s->fd = -1;
                return;
        }
        if (!s) {
                s = find_socket(question, -1);
                /* A descriptor without an entry is handled by its timeout. */
                if (!s || sys->poll->watch(sys, fd, &s->target) < 0)
                        return;
                s->fd = fd;
        }
        s->writes = writable;
}

static int channel_open(struct ed_question *question, const struct ed_question_opts *opts)
{
        struct ares_options options = {
                .timeout = opts->timeout_ms ? opts->timeout_ms : TIMEOUT_MS,
                .tries = opts->tries ? opts->tries : TRIES,
                .lookups = (char *) "b",
                .sock_state_cb = on_socket_state,
                .sock_state_cb_data = question,
        };
        int status;

        ed_once_call(&library_once, library_init);
        status = library_status;
        if (status == ARES_SUCCESS)
                status = ares_init_options(&question->channel, &options,
                                           ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
                                                   ARES_OPT_SOCK_STATE_CB);
        if (status != ARES_SUCCESS)
                return status == ARES_ENOMEM ? -ENOMEM : EDDY_E_DNS_FAILED;
        if (!opts->servers)
                return 0;
        status = ares_set_servers_ports_csv(question->channel, opts->servers);
        if (status == ARES_SUCCESS)
                return 0;
        ares_destroy(question->channel);
        return status == ARES_ENOMEM ? -ENOMEM : EDDY_E_DNS_FAILED;
}

/*
 * Take the addresses of /etc/hosts, if it has the name. Errors: -ENOMEM.
 * Another channel reads them, because a channel that reads files reads them for each query.
 */
static int ask_hosts(struct ed_question *question)
{
        const struct ares_addrinfo_hints hints = { .ai_flags = ARES_AI_NOSORT,
                                                   .ai_family = AF_UNSPEC,
                                                   .ai_socktype = SOCK_STREAM };
        struct ares_options options = { .lookups = (char *) "f" };
        struct hostent *host;
        ares_channel files;
        int status = ares_gethostbyname_file(question->channel, question->name, AF_UNSPEC, &host);

        if (status != ARES_SUCCESS)
                return status == ARES_ENOMEM ? -ENOMEM : 0;
        ares_free_hostent(host);
        status = ares_init_options(&files, &options, ARES_OPT_LOOKUPS);
        if (status != ARES_SUCCESS)
                return -ENOMEM;
        ares_getaddrinfo(files, question->name, NULL, &hints, on_hosts, question);
        ares_destroy(files);
        return 0;
}

int ed_question_ask(struct ed_question *question, struct ed_loop *loop, const char *name,
                    const struct ed_question_opts *opts,
                    void (*on_news)(struct ed_question *question))
{
        int err;

        question->loop = loop;
        question->name = name;
        question->searched = question->steps = question->parts_done = 0;
        question->exists = false;
        question->give_up_ns = ed_time_after(ed_loop_now(loop), GIVE_UP_NS);
        question->on_news = NULL;
        ed_timer_init(&question->timer, on_timer);
        for (int i = 0; i < ED_QUESTION_SOCKETS; i++)
                question->sockets[i] = (struct ed_question_socket){ .target = { on_events },
                                                                    .question = question,
                                                                    .fd = -1 };
        err = channel_open(question, opts);
        if (err < 0)
                return err;
        for (int i = 0; i < ED_QUESTION_PARTS; i++)
                part_fail(&question->parts[i], EDDY_E_DNS_NOT_FOUND);
        err = ask_hosts(question);
        if (err < 0) {
                ares_destroy(question->channel);
                return err;
        }
        settle(question);
        question->on_news = on_news;
        return 0;
}

void ed_question_fini(struct ed_question *question)
{
        ed_quiet_timer_cancel(question->loop, &question->timer);
        ares_destroy(question->channel);
}
