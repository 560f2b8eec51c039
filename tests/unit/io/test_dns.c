/*
 * test_dns.c - looking names up: what servers answer, keeping and sharing of
 * answers, cancelling.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include "cancel_at.h"
#include "fake_dns.h"
#include "io/dns.h"
#include "io_test.h"

static struct fake_dns dns;

/* The server answers; on a busy machine that may take its thread a while. */
enum { PATIENCE_MS = 20000 };

static void use_dns(int timeout_ms)
{
        struct ed_question_opts opts = { .servers = dns.address,
                                         .timeout_ms = timeout_ms,
                                         .tries = 2 };

        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &opts), 0);
}

static void run(eddy_task_fn *fn)
{
        fake_dns_start(&dns);
        io_run(fn);
        fake_dns_stop(&dns);
}

struct asking {
        const char *host;
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];
        int result;
};

static int ask_call(void *arg)
{
        struct asking *a = arg;

        return a->result = eddy_dns_lookup(a->host, a->list, EDDY_DNS_ADDRESSES_MAX);
}

static int ask_task(void *arg)
{
        (void) ask_call(arg);
        return 0;
}

static int ask(const char *host)
{
        static struct asking a;

        a = (struct asking){ .host = host };
        return ask_call(&a);
}

/* -- answers ---------------------------------------------------------------------- */

static int answers(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];

        use_dns(PATIENCE_MS);
        CHECK_EQ(eddy_dns_lookup("a.test", list, 16), 1);
        CHECK_EQ(list[0].family, AF_INET);
        CHECK(memcmp(list[0].bytes, "\xc0\x00\x02\x01", 4) == 0);
        CHECK_EQ(eddy_dns_lookup("aaaa.test", list, 16), 1);
        CHECK_EQ(list[0].family, AF_INET6);
        CHECK_EQ(list[0].bytes[15], 1);
        CHECK_EQ(eddy_dns_lookup("both.test", list, 16), 2);
        CHECK_EQ(list[0].family, AF_INET6);
        CHECK_EQ(list[1].family, AF_INET);
        CHECK_EQ(eddy_dns_lookup("alias.test", list, 16), 1);
        CHECK_EQ(list[0].bytes[3], 1);
        /* More than fit: neither family crowds the other out. */
        CHECK_EQ(eddy_dns_lookup("many.test", list, 16), 16);
        CHECK_EQ(list[0].family, AF_INET6);
        CHECK_EQ(list[2].family, AF_INET6);
        CHECK_EQ(list[4].family, AF_INET);
        CHECK_EQ(eddy_dns_lookup("many.test", list, 1), 1);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        return 0;
}

TEST(addresses_come_in_the_order_in_which_to_try_them)
{
        run(answers);
}

static int failures(void *arg)
{
        struct asking a = { .host = "nx.test" };

        use_dns(PATIENCE_MS);
        memset(a.list, 0xaa, sizeof(a.list));
        CHECK_EQ(ask_call(&a), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(a.list[0].family, 0xaaaa);
        CHECK_EQ(ask("none.test"), EDDY_E_DNS_NO_ADDRESS);
        use_dns(20);
        CHECK_EQ(ask("fail.test"), EDDY_E_DNS_FAILED);
        CHECK_EQ(ask("refused.test"), EDDY_E_DNS_FAILED);
        CHECK_EQ(ask("silent.test"), EDDY_E_DNS_FAILED);
        CHECK_EQ(ask("wrongid.test"), EDDY_E_DNS_FAILED);
        CHECK_EQ(ask("cut.test"), EDDY_E_DNS_FAILED);
        CHECK_EQ(ask("a b.test"), EDDY_E_DNS_BAD_NAME);
        return 0;
}

TEST(each_failure_has_its_error)
{
        run(failures);
}

static int oddities(void *arg)
{
        use_dns(PATIENCE_MS);
        CHECK_EQ(ask("garbage.test"), 1);
        CHECK_EQ(ask("stream.test"), 1); /* too long for UDP */
        CHECK_EQ(ask("pieces.test"), 1);
        CHECK_EQ(ask("later.test"), 1);
        return 0;
}

TEST(garbage_is_passed_over_and_long_answers_come_by_tcp)
{
        run(oddities);
}

static int nobody(void *arg)
{
        struct ed_question_opts opts = { .servers = dns.address, .timeout_ms = 100, .tries = 1 };

        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &opts), 0);
        CHECK_EQ(ask("a.test"), EDDY_E_DNS_FAILED);
        opts.servers = "not a server";
        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &opts), 0);
        CHECK_EQ(ask("a2.test"), EDDY_E_DNS_FAILED);
        return 0;
}

TEST(without_a_server_the_lookup_fails)
{
        fake_dns_start(&dns);
        fake_dns_stop(&dns); /* its port is closed now */
        io_run(nobody);
}

static int unasked(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];

        use_dns(PATIENCE_MS);
        CHECK_EQ(eddy_dns_lookup("localhost", list, 16), 2);
        CHECK_EQ(list[0].family, AF_INET6);
        CHECK_EQ(list[0].bytes[15], 1);
        CHECK_EQ(list[1].family, AF_INET);
        CHECK_EQ(list[1].bytes[0], 127);
        CHECK_EQ(eddy_dns_lookup("db.LOCALHOST.", list, 16), 2);
        CHECK_EQ(ask("a.invalid"), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(ask("192.0.2.7"), 1);
        CHECK_EQ(ask("2001:db8::7"), 1);
        CHECK_EQ(ask("127.1"), EDDY_E_DNS_BAD_NAME);
        CHECK_EQ(dns.queries, 0);
        CHECK_EQ(ed_dns_cached(ed_loop_current), 0);
        return 0;
}

TEST(names_that_need_no_lookup_are_not_looked_up)
{
        run(unasked);
}

/* -- keeping ------------------------------------------------------------------------ */

static int kept(void *arg)
{
        use_dns(PATIENCE_MS);
        io_clock_advance(0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(ask(i == 1 ? "TTL2.test" : "ttl2.test"), 1);
        CHECK_EQ(dns.queries, 1);
        io_clock_advance(EDDY_MS(1900));
        CHECK_EQ(ask("ttl2.test"), 1);
        CHECK_EQ(dns.queries, 1);
        io_clock_advance(EDDY_MS(101));
        CHECK_EQ(ask("ttl2.test"), 1);
        CHECK_EQ(dns.queries, 2);

        /* Not at all, and never longer than our own limit. */
        CHECK_EQ(ask("ttl0.test"), 1);
        CHECK_EQ(ask("ttl0.test"), 1);
        CHECK_EQ(dns.queries, 4);
        CHECK_EQ(ask("ttlneg.test"), 1);
        CHECK_EQ(ask("ttlneg.test"), 1);
        CHECK_EQ(dns.queries, 6);
        CHECK_EQ(ask("ttl99999.test"), 1);
        io_clock_advance(EDDY_DNS_TTL_MAX_NS);
        CHECK_EQ(ask("ttl99999.test"), 1);
        CHECK_EQ(dns.queries, 8);

        /* The alias may be kept for 5 s, whatever its target may. */
        CHECK_EQ(ask("alias.test"), 1);
        io_clock_advance(EDDY_SEC(4));
        CHECK_EQ(ask("alias.test"), 1);
        CHECK_EQ(dns.queries, 9);
        io_clock_advance(EDDY_SEC(1));
        CHECK_EQ(ask("alias.test"), 1);
        CHECK_EQ(dns.queries, 10);
        return 0;
}

/* B16: kept for its TTL. */
TEST(answers_are_kept_for_their_ttl)
{
        run(kept);
}

static int failures_kept(void *arg)
{
        int asked;

        use_dns(PATIENCE_MS);
        io_clock_advance(0);
        CHECK_EQ(ask("none.test"), EDDY_E_DNS_NO_ADDRESS);
        asked = dns.queries;
        CHECK_EQ(ask("none.test"), EDDY_E_DNS_NO_ADDRESS);
        CHECK_EQ(dns.queries, asked);
        io_clock_advance(EDDY_DNS_TTL_FAILED_NS);
        CHECK_EQ(ask("none.test"), EDDY_E_DNS_NO_ADDRESS);
        CHECK(dns.queries > asked);
        return 0;
}

/* B16: Failures are cached too. */
TEST(failures_are_kept_for_a_second)
{
        run(failures_kept);
}

/* -- sharing and cancelling ----------------------------------------------------------- */

static int shared(void *arg)
{
        static struct asking a[5];
        eddy_task *tasks[5];
        eddy_scope scope;

        use_dns(PATIENCE_MS);
        dns.held = true;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 5; i++) {
                a[i] = (struct asking){ .host = "a.test" };
                CHECK_EQ(eddy_scope_start_task(&scope, ask_task, &a[i], NULL, &tasks[i]), 0);
        }
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 1);
        CHECK_EQ(ed_loop_current->waits, 5);
        /* The first to ask goes; the others get their answer. */
        eddy_task_cancel(tasks[0]);
        eddy_task_cancel(tasks[3]);
        dns.held = false;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 5; i++) {
                CHECK_EQ(a[i].result, i % 3 == 0 ? -ECANCELED : 1);
                eddy_task_release(tasks[i]);
        }
        CHECK_EQ(dns.queries, 1);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        return 0;
}

/* B16: one question for all; one waiter's cancel harms no other. */
TEST(callers_with_one_name_share_one_lookup)
{
        run(shared);
}

static int all_cancelled(void *arg)
{
        struct asking a[3];
        eddy_scope scope;
        int fds;

        use_dns(PATIENCE_MS);
        fds = io_open_fds();
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++) {
                a[i] = (struct asking){ .host = "silent.test" };
                eddy_scope_start(&scope, ask_task, &a[i]);
        }
        io_settle();
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 1);
        CHECK(io_open_fds() > fds);
        eddy_scope_cancel(&scope);
        /* At once, before the tasks have even run. */
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        CHECK_EQ(io_open_fds(), fds);
        (void) eddy_scope_end(&scope);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(a[i].result, -ECANCELED);
        /* Nothing of it is kept: the name can be asked for again. */
        CHECK_EQ(ed_dns_cached(ed_loop_current), 0);
        return 0;
}

/* B16: all cancelled, the lookup is cancelled. */
TEST(a_lookup_without_a_waiter_is_taken_back)
{
        run(all_cancelled);
}

static int cancelled(void *arg)
{
        struct asking a = { .host = "a.test" };
        bool reached;

        use_dns(PATIENCE_MS);
        dns.held = true;
        CHECK_EQ(cancel_at(0, ask_call, &a, &reached), -ECANCELED);
        CHECK_EQ(ed_dns_cached(ed_loop_current), 0);
        CHECK_EQ(dns.queries, 0);
        CHECK_EQ(cancel_at(1, ask_call, &a, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        dns.held = false;
        CHECK_EQ(cancel_at(2, ask_call, &a, &reached), 1);
        CHECK(!reached); /* a lookup has one wait */
        CHECK_EQ(cancel_at(1, ask_call, &a, &reached), 1);
        CHECK(!reached); /* and none when the answer is known */
        a.host = "silent.test";
        CHECK_EQ(eddy_call_timeout(ask_call, &a, EDDY_MS(5)), -ETIMEDOUT);
        CHECK_EQ(a.result, -ECANCELED);
        return 0;
}

TEST(a_lookup_can_be_cancelled_at_each_point)
{
        run(cancelled);
}

/* The lookup has ended and its task has not run yet: the answer is delivered. */
static int answered_then_cancelled(void *arg)
{
        struct asking a = { .host = "a.test", .result = 1000 };
        eddy_scope scope;

        use_dns(PATIENCE_MS);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, ask_task, &a);
        /* This task is queued before the one that the answer wakes. */
        while (ed_dns_cached(ed_loop_current) == 0)
                CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(a.result, 1000);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(a.result, 1);
        return 0;
}

TEST(an_answer_that_came_before_the_cancel_is_delivered)
{
        run(answered_then_cancelled);
}

static void cancel_scope(void *arg)
{
        eddy_scope_cancel(arg);
}

/* The answer is there, but an event that was reported before it in its turn takes the question back. */
static int cancelled_in_the_turn(void *arg)
{
        struct asking a = { .host = "a.test" };
        struct io_pair pair;
        eddy_scope scope;

        use_dns(PATIENCE_MS);
        io_pair_open(&pair);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_stream_watch_idle(pair.a, cancel_scope, &scope), 0);
        dns.held = true;
        eddy_scope_start(&scope, ask_task, &a);
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 1);
        /* First this becomes ready, then the answers; the loop sees neither before. */
        CHECK_EQ(eddy_stream_write(pair.b, "x", 1), 0);
        dns.held = false;
        while (dns.answers < 2) /* of both families */
                poll(NULL, 0, 1);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(a.result, -ECANCELED);
        io_pair_close(&pair);
        return 0;
}

TEST(an_answer_in_the_turn_of_the_cancel_does_no_harm)
{
        run(cancelled_in_the_turn);
}

/* -- many ------------------------------------------------------------------------------- */

enum { MANY = 400 };

TEST_ROOM(struct asking, many, MANY);
static char names[MANY][32];

static int crowd(void *arg)
{
        eddy_scope scope;

        use_dns(PATIENCE_MS);
        dns.held = true;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < MANY; i++) {
                snprintf(names[i], sizeof(names[i]), "a%d.test", i);
                many[i] = (struct asking){ .host = names[i] };
                eddy_scope_start(&scope, ask_task, &many[i]);
        }
        io_settle();
        CHECK_EQ(ed_dns_lookups(ed_loop_current), MANY);
        dns.held = false;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < MANY; i++)
                CHECK_EQ(many[i].result, 1);
        CHECK_EQ(ed_dns_cached(ed_loop_current), MANY);
        return 0;
}

TEST(more_names_than_are_asked_at_once_wait_their_turn)
{
        run(crowd);
}

static int crowd_cancelled(void *arg)
{
        eddy_scope scope;

        use_dns(PATIENCE_MS);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < MANY; i++) {
                snprintf(names[i], sizeof(names[i]), "silent.t%d", i);
                many[i] = (struct asking){ .host = names[i] };
                eddy_scope_start(&scope, ask_task, &many[i]);
        }
        io_settle();
        CHECK_EQ(ed_dns_lookups(ed_loop_current), MANY);
        eddy_scope_cancel(&scope);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        (void) eddy_scope_end(&scope);
        for (int i = 0; i < MANY; i++)
                CHECK_EQ(many[i].result, -ECANCELED);
        return 0;
}

TEST(tasks_that_wait_their_turn_can_be_cancelled)
{
        run(crowd_cancelled);
}

static int crowd_moves_up(void *arg)
{
        eddy_scope first, second;

        use_dns(PATIENCE_MS);
        dns.held = true;
        eddy_scope_begin(&second, NULL);
        eddy_scope_begin(&first, NULL);
        for (int i = 0; i < MANY; i++) {
                snprintf(names[i], sizeof(names[i]), "a%d.test", i);
                many[i] = (struct asking){ .host = names[i] };
                eddy_scope_start(i < 300 ? &first : &second, ask_task, &many[i]);
        }
        io_settle();
        eddy_scope_cancel(&first);
        (void) eddy_scope_end(&first);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), MANY - 300);
        dns.held = false;
        CHECK_EQ(eddy_scope_end(&second), 0);
        for (int i = 0; i < MANY; i++)
                CHECK_EQ(many[i].result, i < 300 ? -ECANCELED : 1);
        return 0;
}

TEST(cancelled_waiters_make_room_for_others)
{
        run(crowd_moves_up);
}

/* -- other tables; connecting by name; memory ------------------------------------------- */

static int table_lookup(struct ed_sys *sys, const char *name, struct eddy_address *ret, size_t max)
{
        if (strcmp(name, "known.test") != 0)
                return EDDY_E_DNS_NOT_FOUND;
        ret[0] = (struct eddy_address){ .family = AF_INET, .bytes = { 192, 0, 2, 9 } };
        ret[1] = (struct eddy_address){ .family = AF_INET6, .bytes = { 0x20 } };
        return 2;
}

static int by_table(void *arg)
{
        struct eddy_address list[4];

        ed_loop_current->sys->lookup = table_lookup;
        CHECK_EQ(eddy_dns_lookup("Known.test", list, 4), 2);
        CHECK_EQ(list[0].family, AF_INET6);
        CHECK_EQ(list[1].bytes[3], 9);
        CHECK_EQ(eddy_dns_lookup("unknown.test", list, 4), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(eddy_dns_lookup("localhost", list, 4), 2);
        return 0;
}

TEST(a_table_that_knows_names_is_asked)
{
        io_run(by_table);
}

/* Descriptors of questions that are to be watched: all are refused, or from the second on. */
static int (*kernel_watch)(struct ed_sys *sys, int fd, struct ed_target *target);
static int watches, watches_max;

static int refuse_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return watches++ < watches_max ? kernel_watch(sys, fd, target) : -ENOSPC;
}

static int unwatched(void *arg)
{
        int result = 0;

        kernel_watch = io_tables()->poll.watch;
        io_tables()->poll.watch = refuse_watch;
        use_dns(20);
        /* The answer comes by TCP and is long: its socket is watched anew. */
        for (watches_max = 0; result <= 0 && watches_max < 20; watches_max++) {
                watches = 0;
                result = ask("stream.test");
                CHECK(result > 0 || result == EDDY_E_DNS_FAILED);
                CHECK(watches_max > 0 || result < 0);
                CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
                io_clock_advance(EDDY_SEC(2));
        }
        watches_max = INT_MAX;
        use_dns(PATIENCE_MS);
        CHECK_EQ(ask("stream.test"), 1);
        /* The server serves one after the other: then it has closed its connections. */
        CHECK_EQ(ask("a.test"), 1);
        return 0;
}

TEST(a_lookup_whose_socket_cannot_be_watched_ends_by_its_timeout)
{
        run(unwatched);
}

static int hosts(void *arg)
{
        FILE *file = fopen("/etc/hosts", "r");
        char line[512], address[64], name[256];
        bool found = false;

        if (!file)
                test_skip("there is no /etc/hosts");
        use_dns(PATIENCE_MS);
        while (!found && fgets(line, sizeof(line), file))
                found = sscanf(line, "%63[0-9.] %255[a-z]", address, name) == 2 &&
                        strcmp(name, "localhost") != 0;
        fclose(file);
        if (!found)
                test_skip("/etc/hosts names nothing but localhost");
        CHECK(ask(name) > 0);
        CHECK_EQ(dns.asked, 0);                      /* for no family */
        CHECK_EQ(ed_dns_cached(ed_loop_current), 0); /* it may be edited at any time */
        return 0;
}

TEST(etc_hosts_is_asked_first)
{
        run(hosts);
}

static int starved(void *arg)
{
        int failures = 0;

        use_dns(50);
        for (int n = 0;; n++) {
                int result;

                io_fail_allocations(n);
                result = ask("a.test");
                io_fail_allocations(-1);
                if (result == 1)
                        break;
                CHECK(result == -ENOMEM || result == EDDY_E_DNS_FAILED);
                CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
                io_clock_advance(EDDY_SEC(2));
                failures++;
        }
        CHECK(failures > 5);
        return 0;
}

TEST(every_allocation_of_a_lookup_may_fail)
{
        run(starved);
}
