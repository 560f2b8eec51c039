/*
 * io/dns_query.c - a query to c-ares: its sockets, its timeouts, its answer.
 *
 * c-ares names the descriptors to watch. The table reports only changes, so a descriptor with
 * unread data after its turn is registered again. c-ares is never destroyed inside its own
 * callbacks: callbacks only record results, and settle() acts on them.
 */
#include "io/dns_query.h"

#include <ares.h>
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/alloc.h"
#include "eddy/error.h"

enum { TIMEOUT_MS = 2000, TRIES = 3, FOUND_MAX = 2 * EDDY_DNS_ADDRESSES_MAX };

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
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

size_t ed_dns_order(const struct eddy_address *list, size_t n, struct eddy_address *ret_list,
                    size_t max)
{
        size_t at[2] = { 0, 0 }; /* position in each family: IPv6, others */
        size_t count = 0;
        int other = 0;

        while (count < max && (at[0] < n || at[1] < n)) {
                size_t *next = &at[other];

                while (*next < n && (list[*next].family != AF_INET6) != other)
                        (*next)++;
                if (*next < n)
                        ret_list[count++] = list[(*next)++];
                other = !other;
        }
        return count;
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

/* Take a limited number of addresses from each family, so that neither displaces the other. */
static void take_answer(struct ed_dns_answer *answer, const struct ares_addrinfo *info)
{
        struct eddy_address found[FOUND_MAX] = { { 0 } };
        size_t n = 0, of_family[2] = { 0, 0 };

        for (const struct ares_addrinfo_node *node = info->nodes; node; node = node->ai_next) {
                size_t *count = &of_family[node->ai_family == AF_INET6];

                if (*count < EDDY_DNS_ADDRESSES_MAX && address_of(node, &found[n])) {
                        (*count)++;
                        n++;
                }
        }
        answer->result = (int) ed_dns_order(found, n, answer->addresses, EDDY_DNS_ADDRESSES_MAX);
        answer->ttl_ns = ttl_of(info);
        if (n == 0) {
                answer->result = EDDY_E_DNS_NO_ADDRESS;
                answer->ttl_ns = EDDY_DNS_TTL_FAILED_NS;
        }
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
        struct ed_question *question = arg;
        struct ed_dns_answer *answer = &question->answer;

        (void) timeouts;
        question->done = true;
        if (status == ARES_SUCCESS && info) {
                take_answer(answer, info);
        } else {
                answer->result = error_of(status);
                answer->ttl_ns = answer->result == -ENOMEM ? 0 : EDDY_DNS_TTL_FAILED_NS;
        }
        if (info)
                ares_freeaddrinfo(info);
}

/* After c-ares has run: report the end, or arm its next timeout. */
static void settle(struct ed_question *question)
{
        struct timeval tv;
        int64_t wait_ns;

        if (question->done) {
                ed_timer_cancel(&question->loop->timers, &question->timer);
                if (question->on_done)
                        question->on_done(question);
                return;
        }
        if (!ares_timeout(question->channel, NULL, &tv))
                return;
        /* Add a millisecond, so that c-ares' own clock has passed the timeout. */
        wait_ns = (int64_t) tv.tv_sec * 1000000000 + (int64_t) tv.tv_usec * 1000 + 1000000;
        ed_timer_arm(&question->loop->timers, &question->timer,
                     ed_loop_now(question->loop) + wait_ns);
}

static void on_timer(struct ed_timer *timer)
{
        struct ed_question *question = ed_container_of(timer, struct ed_question, timer);

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
        if (reads && s->fd == fd && sys->ops->is_readable(sys, fd)) {
                sys->ops->unwatch(sys, fd);
                if (sys->ops->watch(sys, fd, target) < 0)
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
                sys->ops->unwatch(sys, fd);
                ed_loop_forget(question->loop, &s->target);
                s->fd = -1;
                return;
        }
        if (!s) {
                s = find_socket(question, -1);
                /* A descriptor without an entry is handled by its timeout. */
                if (!s || sys->ops->watch(sys, fd, &s->target) < 0)
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
                .lookups = (char *) "fb",
                .sock_state_cb = on_socket_state,
                .sock_state_cb_data = question,
        };
        int status;

        pthread_once(&library_once, library_init);
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

int ed_question_ask(struct ed_question *question, struct ed_loop *loop, const char *name,
                    const struct ed_question_opts *opts,
                    void (*on_done)(struct ed_question *question))
{
        const struct ares_addrinfo_hints hints = {
                .ai_flags = ARES_AI_NOSORT, /* ed_dns_order() sorts */
                .ai_family = AF_UNSPEC,
                .ai_socktype = SOCK_STREAM,
        };
        int err;

        question->loop = loop;
        question->done = false;
        question->on_done = NULL;
        ed_timer_init(&question->timer, on_timer);
        for (int i = 0; i < ED_QUESTION_SOCKETS; i++)
                question->sockets[i] = (struct ed_question_socket){ .target = { on_events },
                                                                    .question = question,
                                                                    .fd = -1 };
        err = channel_open(question, opts);
        if (err < 0)
                return err;
        ares_getaddrinfo(question->channel, name, NULL, &hints, on_answer, question);
        settle(question);
        question->on_done = on_done;
        return 0;
}

void ed_question_fini(struct ed_question *question)
{
        ed_timer_cancel(&question->loop->timers, &question->timer);
        ares_destroy(question->channel);
}
