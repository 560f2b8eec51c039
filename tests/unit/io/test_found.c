/*
 * test_found.c - names whose families are answered apart (RFC 8305, 3): when connecting begins, which
 * addresses join it, what is kept, and what is left after a cancel.
 */
#include <errno.h>
#include <sys/socket.h>

#include "cancel_at.h"
#include "fake_dns.h"
#include "io/dns.h"
#include "io_test.h"

static struct fake_dns dns;

static void use_dns(int timeout_ms)
{
        struct ed_question_opts opts = { .servers = dns.address,
                                         .timeout_ms = timeout_ms,
                                         .tries = 1 };

        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &opts), 0);
        io_clock_advance(0);
}

/* The server answers; on a busy machine that may take its thread a while. */
enum { PATIENCE_MS = 60000 };

static void run(eddy_task_fn *fn)
{
        fake_dns_start(&dns);
        io_run(fn);
        fake_dns_stop(&dns);
}

/* -- connections that are not really made ------------------------------------------- */

static struct {
        int ipv4, ipv6; /* what a connect returns */
        int tries;
        struct {
                int family;
                int64_t at_ns;
        } tried[64];
} net;

static int (*real_socket)(struct ed_sys *sys, int family, int kind);
static int (*real_watch)(struct ed_sys *sys, int fd, struct ed_target *target);
static int last_fd; /* of an attempt in progress; -1: none */

static int socket_of_any(struct ed_sys *sys, int family, int kind)
{
        return real_socket(sys, AF_INET, kind);
}

static int connect_fake(struct ed_sys *sys, int fd, const struct eddy_endpoint *to)
{
        int i = net.tries++ % 64, result;

        net.tried[i].family = to->address.family;
        net.tried[i].at_ns = eddy_now();
        result = to->address.family == AF_INET6 ? net.ipv6 : net.ipv4;
        if (result == -EINPROGRESS)
                last_fd = fd;
        return result;
}

/* An attempt in progress has no events; the sockets of c-ares have. */
static int watch_others(struct ed_sys *sys, int fd, struct ed_target *target)
{
        if (fd != last_fd)
                return real_watch(sys, fd, target);
        last_fd = -1;
        return 0;
}

static void use_net(int ipv6, int ipv4)
{
        struct io_tables *tables = io_tables();

        if (tables->socket.connect != connect_fake) {
                real_socket = tables->socket.open;
                real_watch = tables->poll.watch;
        }
        memset(&net, 0, sizeof(net));
        net.ipv6 = ipv6;
        net.ipv4 = ipv4;
        last_fd = -1;
        tables->socket.open = socket_of_any;
        tables->poll.watch = watch_others;
        tables->socket.connect = connect_fake;
}

struct connecting {
        const char *host;
        const struct eddy_tcp_connect_opts *opts;
        eddy_stream *stream;
        int result;
};

static int connect_call(void *arg)
{
        struct connecting *c = arg;

        c->stream = NULL;
        c->result = eddy_tcp_connect(c->host, 80, c->opts, &c->stream);
        if (c->result == 0)
                eddy_stream_close(c->stream);
        return c->result;
}

static int connect_task(void *arg)
{
        (void) connect_call(arg);
        return 0;
}

static int connect_to(const char *host)
{
        struct connecting c = { .host = host };

        return connect_call(&c);
}

/* Wait for a condition that the server's thread or a lookup brings about; the clock stays. */
#define WAIT_FOR(condition)                                                                        \
        do {                                                                                       \
                CHECK_EQ(eddy_sleep(0), 0);                                                        \
        } while (!(condition))

/* -- the delay ------------------------------------------------------------------------ */

static int never(void *arg)
{
        int64_t start;

        use_dns(PATIENCE_MS);
        use_net(-ENETUNREACH, 0);
        start = eddy_now();
        CHECK_EQ(connect_to("no6.test"), 0);
        CHECK_EQ(net.tries, 1);
        CHECK_EQ(net.tried[0].family, AF_INET);
        CHECK(net.tried[0].at_ns - start >= EDDY_MS(50));
        CHECK(net.tried[0].at_ns - start < EDDY_MS(52));

        /* The next one shares the lookup, and waits for nothing. */
        start = eddy_now();
        CHECK_EQ(connect_to("no6.test"), 0);
        CHECK_EQ(eddy_now(), start);
        CHECK_EQ(dns.queries, 1);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 1);

        /* Half an answer is not kept, and its lookup ends. */
        io_clock_advance(EDDY_SEC(1));
        WAIT_FOR(ed_dns_lookups(ed_loop_current) == 0);
        CHECK_EQ(ed_dns_cached(ed_loop_current), 0);
        CHECK_EQ(connect_to("no6.test"), 0);
        CHECK_EQ(dns.queries, 2);
        return 0; /* with a lookup that goes on */
}

TEST(ipv6_addresses_that_never_come_cost_50_ms)
{
        run(never);
}

static int never_listed(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];
        int64_t start;

        use_dns(PATIENCE_MS);
        start = eddy_now();
        CHECK_EQ(eddy_dns_lookup("no6.test", list, 16), 1);
        CHECK_EQ(list[0].family, AF_INET);
        CHECK(eddy_now() - start >= EDDY_MS(50));
        CHECK(eddy_now() - start < EDDY_MS(52));
        start = eddy_now();
        CHECK_EQ(eddy_dns_lookup("no6.test", list, 16), 1);
        CHECK_EQ(eddy_now(), start);
        return 0;
}

TEST(a_list_of_addresses_waits_50_ms_for_ipv6)
{
        run(never_listed);
}

static int late(void *arg)
{
        struct connecting c = { .host = "both.test", .result = 1 };
        eddy_scope scope;
        int64_t start;

        use_dns(PATIENCE_MS);
        use_net(0, -EINPROGRESS);
        dns.late = AF_INET6;
        start = eddy_now();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, connect_task, &c);
        WAIT_FOR(dns.answers == 1);
        while (net.tries == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK(eddy_now() - start < EDDY_MS(55));
        CHECK_EQ(net.tried[0].family, AF_INET);
        io_clock_advance(EDDY_SEC(3));
        io_settle();
        CHECK_EQ(c.result, 1);
        /* The IPv4 address does not answer: the IPv6 address joins, and is tried at once. */
        start = eddy_now();
        dns.late = 0;
        WAIT_FOR(c.result != 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(c.result, 0);
        CHECK_EQ(net.tries, 2);
        CHECK_EQ(net.tried[1].family, AF_INET6);
        CHECK_EQ(net.tried[1].at_ns, start);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        CHECK_EQ(ed_dns_cached(ed_loop_current), 1); /* the whole answer */
        return 0;
}

TEST(ipv6_addresses_that_are_late_join_the_race)
{
        run(late);
}

static int at_once(void *arg)
{
        int64_t start;

        use_dns(PATIENCE_MS);
        use_net(0, -ECONNREFUSED);
        start = eddy_now();
        CHECK_EQ(connect_to("no4.test"), 0);
        CHECK_EQ(eddy_now(), start);
        CHECK_EQ(net.tries, 1);
        CHECK_EQ(net.tried[0].family, AF_INET6);
        return 0;
}

TEST(ipv6_addresses_are_tried_at_once)
{
        run(at_once);
}

/* A task connects: the IPv6 address has failed, and the answer for A is held back. */
static void begin_without_ipv4(eddy_scope *scope, struct connecting *c)
{
        use_dns(PATIENCE_MS);
        use_net(-ENETUNREACH, 0);
        dns.late = AF_INET;
        eddy_scope_begin(scope, NULL);
        eddy_scope_start(scope, connect_task, c);
        WAIT_FOR(net.tries == 1);
}

static int broken(void *arg)
{
        struct connecting c = { .host = "both.test", .result = 1 };
        eddy_scope scope;

        begin_without_ipv4(&scope, &c);
        CHECK_EQ(net.tried[0].family, AF_INET6);
        io_clock_advance(EDDY_SEC(3));
        io_settle();
        CHECK_EQ(c.result, 1); /* not lost: an address may come */
        dns.late = 0;
        WAIT_FOR(c.result != 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(c.result, 0);
        CHECK_EQ(net.tries, 2);
        CHECK_EQ(net.tried[1].family, AF_INET);
        return 0;
}

TEST(ipv4_addresses_that_are_late_are_used_if_ipv6_is_broken)
{
        run(broken);
}

static int one_fails(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];
        int64_t start;
        int asked;

        use_dns(PATIENCE_MS);
        use_net(0, 0);
        start = eddy_now();
        CHECK_EQ(connect_to("fail6.test"), 0);
        CHECK_EQ(net.tried[0].family, AF_INET);
        CHECK_EQ(connect_to("fail4.test"), 0);
        CHECK_EQ(net.tried[1].family, AF_INET6);
        CHECK_EQ(eddy_dns_lookup("fail4.test", list, 16), 1);
        CHECK_EQ(eddy_now(), start); /* a failure is an answer */
        /* The family that failed is asked for again after a second. */
        CHECK_EQ(eddy_dns_lookup("fail6.test", list, 16), 1);
        asked = dns.asked;
        CHECK_EQ(eddy_dns_lookup("fail6.test", list, 16), 1);
        CHECK_EQ(dns.asked, asked);
        io_clock_advance(EDDY_SEC(1));
        CHECK_EQ(eddy_dns_lookup("fail6.test", list, 16), 1);
        CHECK(dns.asked > asked);
        return 0;
}

TEST(the_family_that_answers_is_used_if_the_other_fails)
{
        run(one_fails);
}

static int both_fail(void *arg)
{
        use_dns(20);
        use_net(0, 0);
        CHECK_EQ(connect_to("fail.test"), EDDY_E_DNS_FAILED);
        CHECK_EQ(connect_to("silent.test"), EDDY_E_DNS_FAILED);
        use_dns(PATIENCE_MS);
        CHECK_EQ(connect_to("nx.test"), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(connect_to("none.test"), EDDY_E_DNS_NO_ADDRESS);
        CHECK_EQ(net.tries, 0);
        /* Both are there, and nothing can be connected to. */
        use_net(-ENETUNREACH, -ECONNREFUSED);
        CHECK_EQ(connect_to("both.test"), -ECONNREFUSED);
        CHECK_EQ(net.tries, 2);
        return 0;
}

TEST(names_without_an_answer_fail)
{
        run(both_fail);
}

static int outlived(void *arg)
{
        /* The server is silent for IPv4: the race is lost when the lookup ends. */
        use_dns(20);
        use_net(-ENETUNREACH, 0);
        CHECK_EQ(connect_to("no4.test"), -ENETUNREACH);
        CHECK_EQ(net.tries, 1);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        return 0;
}

TEST(the_race_is_lost_when_no_more_addresses_can_come)
{
        run(outlived);
}

/* -- what else waits ---------------------------------------------------------------------- */

static int of_local_family(void *arg)
{
        struct eddy_endpoint local = { .kind = EDDY_ENDPOINT_IP,
                                       .address = { .family = AF_INET,
                                                    .bytes = { 127, 0, 0, 1 } } };
        struct eddy_tcp_connect_opts opts = { .local = &local };
        struct connecting c = { .host = "both.test", .opts = &opts, .result = 1 };
        eddy_scope scope;

        use_dns(PATIENCE_MS);
        use_net(0, 0);
        dns.late = AF_INET;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, connect_task, &c);
        WAIT_FOR(dns.answers == 1);
        io_settle();
        CHECK_EQ(net.tries, 0);
        dns.late = 0;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(c.result, 0);
        CHECK_EQ(net.tries, 1);
        CHECK_EQ(net.tried[0].family, AF_INET);
        c.host = "aaaa.test";
        CHECK_EQ(connect_call(&c), EDDY_E_DNS_NO_ADDRESS);
        return 0;
}

TEST(a_local_address_takes_the_family_that_fits)
{
        run(of_local_family);
}

static int refused_sockets;

static int socket_of_ipv4(struct ed_sys *sys, int family, int kind)
{
        if (family == AF_INET)
                return real_socket(sys, family, kind);
        refused_sockets++;
        return -EAFNOSUPPORT;
}

static int udp_task(void *arg)
{
        eddy_udp *udp = NULL;
        int *result = arg;

        *result = eddy_udp_connect("both.test", 80, NULL, &udp);
        eddy_udp_close(udp);
        return 0;
}

static int by_udp(void *arg)
{
        eddy_scope scope;
        int result = 1;

        use_dns(PATIENCE_MS);
        use_net(-ENETUNREACH, 0);
        io_tables()->socket.open = socket_of_ipv4;
        dns.late = AF_INET;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, udp_task, &result);
        WAIT_FOR(refused_sockets == 1);
        CHECK_EQ(result, 1);
        dns.late = 0;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(result, 0);
        CHECK_EQ(net.tries, 1);

        /* Cancelled while it waits for the rest. */
        io_clock_advance(EDDY_DNS_TTL_MAX_NS);
        dns.late = AF_INET;
        result = 1;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, udp_task, &result);
        WAIT_FOR(refused_sockets == 2);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(result, -ECANCELED);
        return 0;
}

TEST(udp_takes_the_later_family_if_the_first_is_refused)
{
        run(by_udp);
}

struct asking {
        const char *host;
        int result;
};

static int ask_task(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];
        struct asking *a = arg;

        a->result = eddy_dns_lookup(a->host, list, 16);
        return 0;
}

/* Those who want a list share the lookup with those who connect, and wait for IPv4. */
static int mixed(void *arg)
{
        struct asking a = { "both.test", 1000 };
        eddy_scope scope;

        use_dns(PATIENCE_MS);
        use_net(0, 0);
        dns.late = AF_INET;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, ask_task, &a);
        CHECK_EQ(connect_to("both.test"), 0);
        CHECK_EQ(net.tried[0].family, AF_INET6);
        CHECK_EQ(connect_to("both.test"), 0);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 1);
        io_clock_advance(EDDY_SEC(3));
        io_settle();
        CHECK_EQ(a.result, 1000);
        dns.late = 0;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(a.result, 2);
        CHECK_EQ(ed_dns_cached(ed_loop_current), 1);
        return 0;
}

TEST(a_list_of_addresses_waits_for_ipv4)
{
        run(mixed);
}

static int kept(void *arg)
{
        use_dns(PATIENCE_MS);
        use_net(0, 0);
        dns.late = AF_INET;
        CHECK_EQ(connect_to("both.test"), 0);
        CHECK_EQ(ed_dns_cached(ed_loop_current), 0);
        /* The lookup goes on without a waiter, and its whole answer is kept. */
        dns.late = 0;
        WAIT_FOR(ed_dns_cached(ed_loop_current) == 1);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        use_net(-ENETUNREACH, 0);
        CHECK_EQ(connect_to("both.test"), 0);
        CHECK_EQ(net.tries, 2);
        CHECK_EQ(dns.asked, 2);
        return 0;
}

TEST(the_whole_answer_is_kept_after_a_race_that_was_over_sooner)
{
        run(kept);
}

/* -- cancelling and limits ------------------------------------------------------------------ */

static int cancelled(void *arg)
{
        struct connecting c = { .host = "no6.test" };
        bool reached;
        int fds;

        use_dns(PATIENCE_MS);
        use_net(-ENETUNREACH, -EINPROGRESS);
        fds = io_open_fds();
        CHECK_EQ(cancel_at(0, connect_call, &c, &reached), -ECANCELED);
        CHECK_EQ(dns.asked, 0);
        CHECK_EQ(cancel_at(1, connect_call, &c, &reached), -ECANCELED); /* the lookup */
        CHECK(reached);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        CHECK_EQ(net.tries, 0);
        CHECK_EQ(cancel_at(2, connect_call, &c, &reached), -ECANCELED); /* the race */
        CHECK(reached);
        CHECK_EQ(net.tries, 1);
        CHECK_EQ(cancel_at(1, connect_call, &c, &reached), -ECANCELED); /* of a shared lookup */
        CHECK(reached);
        CHECK_EQ(net.tries, 2);
        io_clock_advance(EDDY_SEC(1));
        WAIT_FOR(ed_dns_lookups(ed_loop_current) == 0);
        CHECK_EQ(io_open_fds(), fds);

        /* No attempt is under way: the race waits for the addresses only. */
        c.host = "no4.test";
        CHECK_EQ(cancel_at(2, connect_call, &c, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(net.tries, 3);
        io_clock_advance(EDDY_SEC(1));
        WAIT_FOR(ed_dns_lookups(ed_loop_current) == 0);
        CHECK_EQ(io_open_fds(), fds);
        CHECK_EQ(ed_loop_current->waits, 0);
        return 0;
}

TEST(a_connect_in_two_parts_can_be_cancelled_at_each_point)
{
        run(cancelled);
}

/* A holder keeps its lookup when others do not share it any more. */
static int unshared(void *arg)
{
        struct connecting c = { .host = "both.test", .result = 1 };
        eddy_scope scope;

        begin_without_ipv4(&scope, &c);
        io_clock_advance(EDDY_SEC(1));
        io_settle();
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 1);
        net.ipv6 = 0;
        CHECK_EQ(connect_to("both.test"), 0);
        WAIT_FOR(dns.answers == 2); /* asked anew; the server counts after it has sent */
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 2);
        dns.late = 0;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(c.result, 0);
        WAIT_FOR(ed_dns_lookups(ed_loop_current) == 0);
        CHECK_EQ(ed_dns_cached(ed_loop_current), 1);
        return 0;
}

TEST(a_lookup_is_shared_for_a_second)
{
        run(unshared);
}

enum { MANY = 400 };

TEST_ROOM(struct connecting, many, MANY);
static char names[MANY][32];

static int crowd(void *arg)
{
        eddy_scope scope;
        int64_t start;

        use_dns(PATIENCE_MS);
        use_net(-ENETUNREACH, 0);
        dns.held = true;
        start = eddy_now();
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < MANY; i++) {
                snprintf(names[i], sizeof(names[i]), "no6.t%d", i);
                many[i] = (struct connecting){ .host = names[i] };
                eddy_scope_start(&scope, connect_task, &many[i]);
        }
        io_settle();
        dns.held = false;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < MANY; i++)
                CHECK_EQ(many[i].result, 0);
        /* Lookups without a waiter do not keep their places, here and below. */
        CHECK(eddy_now() - start < EDDY_MS(500));
        use_net(0, 0);
        for (int i = 0; i < MANY; i++) {
                snprintf(names[i], sizeof(names[i]), "no4.t%d", i);
                CHECK_EQ(connect_to(names[i]), 0);
        }
        return 0;
}

TEST(lookups_without_a_waiter_make_room_for_others)
{
        run(crowd);
}

/* -- memory, search domains -------------------------------------------------------------------- */

static int starved(void *arg)
{
        int failures = 0;

        use_dns(50);
        use_net(-ENETUNREACH, 0);
        for (int n = 0;; n++) {
                int result;

                io_fail_allocations(n);
                result = connect_to("both.test");
                io_fail_allocations(-1);
                if (result == 0)
                        break;
                CHECK(result == -ENOMEM || result == EDDY_E_DNS_FAILED || result == -ENETUNREACH);
                io_clock_advance(EDDY_SEC(2));
                WAIT_FOR(ed_dns_lookups(ed_loop_current) == 0);
                failures++;
        }
        CHECK(failures > 5);
        return 0;
}

TEST(every_allocation_of_a_connect_by_name_may_fail)
{
        run(starved);
}

static int searched(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];

        use_dns(PATIENCE_MS);
        /* The IPv6 address in the second domain is of another host. */
        CHECK_EQ(eddy_dns_lookup("split", list, 16), 1);
        CHECK_EQ(list[0].family, AF_INET);
        CHECK_EQ(eddy_dns_lookup("split.second.test", list, 16), 1);
        CHECK_EQ(list[0].family, AF_INET6);
        CHECK_EQ(eddy_dns_lookup("second", list, 16), 2);
        CHECK_EQ(eddy_dns_lookup("nx", list, 16), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(eddy_dns_lookup("none", list, 16), EDDY_E_DNS_NO_ADDRESS);
        dns.asked = 0;
        CHECK_EQ(eddy_dns_lookup("nx.", list, 16), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(dns.asked, 2); /* a final dot: no search */
        CHECK_EQ(eddy_dns_lookup("nx.test", list, 16), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(dns.asked, 8);
        return 0;
}

TEST(both_families_are_of_one_name_of_the_search_list)
{
        CHECK_EQ(setenv("LOCALDOMAIN", "first.test second.test", 1), 0);
        run(searched);
        unsetenv("LOCALDOMAIN");
}

static int searched_past_failures(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];

        use_dns(PATIENCE_MS);
        CHECK_EQ(eddy_dns_lookup("nx4fail6", list, 16), 2);
        CHECK_EQ(eddy_dns_lookup("nx4fail6.first.test.", list, 16), EDDY_E_DNS_NOT_FOUND);
        /* NXDOMAIN for IPv6 alone: the IPv4 address that failed may exist. */
        CHECK_EQ(eddy_dns_lookup("nx6fail4", list, 16), EDDY_E_DNS_FAILED);
        return 0;
}

TEST(a_name_without_an_ipv4_record_is_unknown_though_ipv6_fails)
{
        CHECK_EQ(setenv("LOCALDOMAIN", "first.test second.test", 1), 0);
        run(searched_past_failures);
        unsetenv("LOCALDOMAIN");
}
