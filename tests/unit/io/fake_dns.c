/*
 * fake_dns.c - see fake_dns.h.
 */
#include "fake_dns.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

enum { TYPE_A = 1, TYPE_CNAME = 5, TYPE_AAAA = 28, MESSAGE_MAX = 2048, KEPT_MAX = 8 };

struct message {
        uint8_t bytes[MESSAGE_MAX];
        size_t n;
};

/* Queries that are answered later. */
static struct kept {
        struct message query;
        struct sockaddr_in from;
} kept[KEPT_MAX];

static int kept_count;

static void put16(struct message *m, unsigned value)
{
        m->bytes[m->n++] = (uint8_t) (value >> 8);
        m->bytes[m->n++] = (uint8_t) value;
}

static void put32(struct message *m, uint32_t value)
{
        put16(m, value >> 16);
        put16(m, value & 0xffff);
}

/* A record of the name at 'name' (an offset), with an address that ends in 'last'. */
static void put_address(struct message *m, unsigned name, unsigned type, uint32_t ttl, uint8_t last)
{
        put16(m, 0xc000 | name);
        put16(m, type);
        put16(m, 1);
        put32(m, ttl);
        if (type == TYPE_A) {
                put16(m, 4);
                put32(m, 0xc0000200u | last); /* 192.0.2.x */
        } else {
                put16(m, 16);
                put32(m, 0x20010db8u); /* 2001:db8::x */
                put32(m, 0);
                put32(m, 0);
                put32(m, last);
        }
        m->bytes[7]++;
}

static bool is_label(const uint8_t *at, const char *label)
{
        return at[0] == strlen(label) && memcmp(at + 1, label, at[0]) == 0;
}

/* The domain is the label after the name's first label. */
static bool is_in(const uint8_t *label, const char *domain)
{
        return is_label(label + label[0] + 1, domain);
}

/* Whether the name has an address of that type. */
static bool has_address(const uint8_t *label, unsigned type)
{
        if (is_label(label, "both") || is_label(label, "second") || is_label(label, "nx4fail6"))
                return true;
        if (is_label(label, "split"))
                return is_in(label, type == TYPE_A ? "first" : "second");
        if (is_label(label, "aaaa") || is_label(label, "no4") || is_label(label, "fail4"))
                return type == TYPE_AAAA;
        return type == TYPE_A;
}

static bool is_silent(const uint8_t *label, unsigned type)
{
        return is_label(label, "silent") || is_label(label, type == TYPE_A ? "no4" : "no6");
}

static bool is_unknown(const uint8_t *label, unsigned type)
{
        if (is_label(label, "nx"))
                return true;
        return is_in(label, "first") && (is_label(label, "second") ||
                                         is_label(label, type == TYPE_A ? "nx4fail6" : "nx6fail4"));
}

static bool is_failure(const uint8_t *label, unsigned type)
{
        if (is_label(label, "fail") || is_label(label, type == TYPE_A ? "fail4" : "fail6"))
                return true;
        return is_in(label, "first") && is_label(label, type == TYPE_A ? "nx6fail4" : "nx4fail6");
}

/* The records for a name; returns the response code. */
static unsigned answer(struct message *m, const uint8_t *label, unsigned type)
{
        char text[64] = { 0 };
        uint32_t ttl = 300;

        memcpy(text, label + 1, label[0]);
        if (is_unknown(label, type))
                return 3;
        if (is_failure(label, type))
                return 2;
        if (is_label(label, "refused"))
                return 5;
        if (strncmp(text, "ttl", 3) == 0)
                ttl = strcmp(text, "ttlneg") == 0 ? 0x80000000u
                                                  : (uint32_t) strtoul(text + 3, NULL, 10);
        if (is_label(label, "none"))
                return 0;
        if (is_label(label, "alias")) {
                unsigned at;

                put16(m, 0xc00c);
                put16(m, TYPE_CNAME);
                put16(m, 1);
                put32(m, 5);
                put16(m, 8);
                at = (unsigned) m->n;
                memcpy(m->bytes + m->n, "\1a\4test", 8);
                m->n += 8;
                m->bytes[7]++;
                if (type == TYPE_A)
                        put_address(m, at, type, ttl, 1);
                return 0;
        }
        if (is_label(label, "many")) {
                for (uint8_t i = 1; i <= (type == TYPE_A ? 20 : 2); i++)
                        put_address(m, 12, type, ttl, i);
                return 0;
        }
        if (has_address(label, type))
                put_address(m, 12, type, ttl, 1);
        return 0;
}

static unsigned type_of(const struct message *query)
{
        const uint8_t *end = query->bytes + 12;

        while (*end)
                end += *end + 1;
        return end[2];
}

/* The reply to a query; its length is 0 when there is to be none. */
static void reply(struct fake_dns *dns, const struct message *query, bool by_tcp,
                  struct message *ret)
{
        const uint8_t *label = query->bytes + 12, *end = label;
        unsigned type;

        ret->n = 0;
        if (query->n < 17)
                return;
        while (*end)
                end += *end + 1;
        type = type_of(query);
        dns->asked++;
        if (type == TYPE_A)
                dns->queries++;
        ret->n = (size_t) (end + 5 - query->bytes);
        memcpy(ret->bytes, query->bytes, ret->n);
        ret->bytes[2] |= 0x80;
        ret->bytes[3] = 0x80;
        memset(ret->bytes + 6, 0, 6);
        if ((is_label(label, "stream") || is_label(label, "pieces")) && !by_tcp)
                ret->bytes[2] |= 0x02;
        else
                ret->bytes[3] |= (uint8_t) answer(ret, label, type);
        if (is_label(label, "cut"))
                ret->n -= 3;
        if (is_label(label, "wrongid"))
                ret->bytes[0] ^= 0xff;
        if (is_silent(label, type))
                ret->n = 0;
        if (is_label(label, "later"))
                poll(NULL, 0, 30);
}

static void answer_udp(struct fake_dns *dns, const struct message *query,
                       const struct sockaddr_in *from)
{
        static struct message out; /* one thread serves */
        const struct sockaddr *to = (const struct sockaddr *) from;

        reply(dns, query, false, &out);
        if (is_label(query->bytes + 12, "garbage"))
                sendto(dns->udp, "\x01garbage", 8, 0, to, sizeof(*from));
        if (out.n == 0)
                return;
        sendto(dns->udp, out.bytes, out.n, 0, to, sizeof(*from));
        dns->answers++;
}

static bool is_late(struct fake_dns *dns, const struct message *query)
{
        int late = dns->late;

        return late != 0 && type_of(query) == (late == AF_INET ? TYPE_A : TYPE_AAAA);
}

static void answer_kept(struct fake_dns *dns)
{
        int left = 0;

        for (int i = 0; i < kept_count; i++)
                if (is_late(dns, &kept[i].query))
                        kept[left++] = kept[i];
                else
                        answer_udp(dns, &kept[i].query, &kept[i].from);
        kept_count = left;
}

static void serve_udp(struct fake_dns *dns)
{
        struct sockaddr_in from;
        socklen_t bytes = sizeof(from);
        static struct message query; /* one thread serves */
        ssize_t n = recvfrom(dns->udp, query.bytes, sizeof(query.bytes), 0,
                             (struct sockaddr *) &from, &bytes);

        if (n <= 0)
                return;
        query.n = (size_t) n;
        if (n < 17 || !is_late(dns, &query))
                answer_udp(dns, &query, &from);
        else if (kept_count < KEPT_MAX)
                kept[kept_count++] = (struct kept){ query, from };
}

/* One connection, as many queries as come in it. */
static void serve_tcp(struct fake_dns *dns)
{
        int fd = accept(dns->tcp, NULL, NULL);
        static struct message query, out; /* one thread serves */
        uint8_t size[2];

        while (recv(fd, size, 2, MSG_WAITALL) == 2) {
                query.n = (size_t) (size[0] << 8 | size[1]);
                if (recv(fd, query.bytes, query.n, MSG_WAITALL) != (ssize_t) query.n)
                        break;
                reply(dns, &query, true, &out);
                memmove(out.bytes + 2, out.bytes, out.n);
                out.bytes[0] = (uint8_t) (out.n >> 8);
                out.bytes[1] = (uint8_t) out.n;
                if (is_label(query.bytes + 12, "pieces")) {
                        (void) !send(fd, out.bytes, 2, MSG_NOSIGNAL);
                        poll(NULL, 0, 2);
                        (void) !send(fd, out.bytes + 2, out.n, MSG_NOSIGNAL);
                } else {
                        (void) !send(fd, out.bytes, out.n + 2, MSG_NOSIGNAL);
                }
        }
        close(fd);
}

static void *serve(void *arg)
{
        struct fake_dns *dns = arg;
        struct pollfd fds[3] = { { dns->udp, POLLIN, 0 },
                                 { dns->tcp, POLLIN, 0 },
                                 { dns->stop[0], POLLIN, 0 } };

        for (;;) {
                poll(fds, 3, kept_count > 0 ? 1 : -1);
                if (fds[2].revents)
                        return NULL;
                answer_kept(dns);
                if (dns->held) {
                        poll(NULL, 0, 1);
                        continue;
                }
                if (fds[0].revents)
                        serve_udp(dns);
                if (fds[1].revents)
                        serve_tcp(dns);
        }
}

/* Both sockets on one port. */
static void bind_both(struct fake_dns *dns)
{
        struct sockaddr_in address = { .sin_family = AF_INET };
        socklen_t bytes = sizeof(address);
        int room = 1 << 20;

        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (;;) {
                dns->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                dns->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                address.sin_port = 0;
                CHECK_EQ(bind(dns->udp, (struct sockaddr *) &address, bytes), 0);
                CHECK_EQ(getsockname(dns->udp, (struct sockaddr *) &address, &bytes), 0);
                if (bind(dns->tcp, (struct sockaddr *) &address, bytes) == 0)
                        break;
                close(dns->udp);
                close(dns->tcp);
        }
        (void) setsockopt(dns->udp, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
        CHECK_EQ(listen(dns->tcp, 8), 0);
        snprintf(dns->address, sizeof(dns->address), "127.0.0.1:%d", ntohs(address.sin_port));
}

void fake_dns_start(struct fake_dns *dns)
{
        pthread_t thread;

        bind_both(dns);
        atomic_init(&dns->queries, 0);
        atomic_init(&dns->answers, 0);
        atomic_init(&dns->asked, 0);
        atomic_init(&dns->late, 0);
        kept_count = 0;
        atomic_init(&dns->held, false);
        CHECK_EQ(pipe(dns->stop), 0);
        CHECK_EQ(pthread_create(&thread, NULL, serve, dns), 0);
        dns->thread = (unsigned long) thread;
}

void fake_dns_stop(struct fake_dns *dns)
{
        CHECK_EQ(write(dns->stop[1], "x", 1), 1);
        CHECK_EQ(pthread_join((pthread_t) dns->thread, NULL), 0);
        close(dns->stop[0]);
        close(dns->stop[1]);
        close(dns->udp);
        close(dns->tcp);
}

/* It serves one after another, so whoever is last finds the others gone. */
void fake_dns_settle(struct fake_dns *dns)
{
        struct sockaddr_in address;
        socklen_t bytes = sizeof(address);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        char end;

        CHECK(fd >= 0);
        CHECK_EQ(getsockname(dns->tcp, (struct sockaddr *) &address, &bytes), 0);
        CHECK_EQ(connect(fd, (struct sockaddr *) &address, bytes), 0);
        CHECK_EQ(shutdown(fd, SHUT_WR), 0);
        CHECK_EQ(recv(fd, &end, 1, 0), 0);
        close(fd);
}
