/*
 * A c-ares that makes no progress: from some call on, its functions do nothing, or report the same for ever.
 * Each lookup ends by its own limits, and the loop turns meanwhile.
 */
#include <ares.h>
#include <sys/time.h>

#include "../../turning.h"
#include "fake_dns.h"
#include "io/dns.h"
#include "io_test.h"

/* The part that is stuck. */
enum stuck {
        NOTHING,
        NO_INPUT,   /* what has arrived is not read */
        NO_TIMEOUT, /* it waits for nothing */
        TIMEOUTS,   /* a timeout has passed, again and again */
        NO_QUERY,   /* queries are neither sent nor answered */
        KINDS,
};

static const char *const names[] = { "nothing", "no input", "no timeout", "timeouts", "no query" };

static enum stuck stuck;
static unsigned turns, queries;

void __real_ares_process_fd(ares_channel channel, ares_socket_t read_fd, ares_socket_t write_fd);
void __wrap_ares_process_fd(ares_channel channel, ares_socket_t read_fd, ares_socket_t write_fd);
struct timeval *__real_ares_timeout(ares_channel channel, struct timeval *max, struct timeval *tv);
struct timeval *__wrap_ares_timeout(ares_channel channel, struct timeval *max, struct timeval *tv);
void __real_ares_getaddrinfo(ares_channel channel, const char *node, const char *service,
                             const struct ares_addrinfo_hints *hints,
                             ares_addrinfo_callback callback, void *arg);
void __wrap_ares_getaddrinfo(ares_channel channel, const char *node, const char *service,
                             const struct ares_addrinfo_hints *hints,
                             ares_addrinfo_callback callback, void *arg);

void __wrap_ares_process_fd(ares_channel channel, ares_socket_t read_fd, ares_socket_t write_fd)
{
        turns++;
        if (stuck == NOTHING)
                __real_ares_process_fd(channel, read_fd, write_fd);
}

struct timeval *__wrap_ares_timeout(ares_channel channel, struct timeval *max, struct timeval *tv)
{
        if (stuck == NOTHING || stuck == NO_INPUT)
                return __real_ares_timeout(channel, max, tv);
        *tv = (struct timeval){ 0 };
        return stuck == TIMEOUTS ? tv : NULL;
}

void __wrap_ares_getaddrinfo(ares_channel channel, const char *node, const char *service,
                             const struct ares_addrinfo_hints *hints,
                             ares_addrinfo_callback callback, void *arg)
{
        queries++;
        if (stuck != NO_QUERY)
                __real_ares_getaddrinfo(channel, node, service, hints, callback, arg);
}

static struct fake_dns dns;
static int result;

static int ask(void *arg)
{
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];

        result = eddy_dns_lookup(arg, list, EDDY_DNS_ADDRESSES_MAX);
        return 0;
}

static int stuck_run(void *arg)
{
        struct ed_question_opts opts = { .servers = dns.address, .timeout_ms = 60000 };
        int fds;

        (void) arg;
        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &opts), 0);
        fds = io_open_fds();
        for (enum stuck kind = NO_INPUT; kind < KINDS; kind++) {
                char name[] = "a0.test";
                eddy_scope scope;

                name[1] = (char) ('0' + kind);
                io_clock_advance(0);
                turns = queries = 0;
                result = 1000;
                stuck = kind;
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, ask, name);
                /* Two minutes by the clock, at most. */
                for (int i = 0; i < 130 && result == 1000; i++) {
                        io_settle();
                        io_clock_advance(EDDY_SEC(1));
                }
                if (result == 1000)
                        test_fail(__FILE__, __LINE__, "%s: the lookup has no end", names[kind]);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                stuck = NOTHING;
                CHECK_EQ(result, EDDY_E_DNS_FAILED);
                CHECK(turns <= 10000 && queries <= 200);
                CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
                CHECK_EQ(io_open_fds(), fds);
        }
        return 0;
}

TEST(a_c_ares_that_makes_no_progress_does_not_hold_a_lookup)
{
        turning_watch();
        fake_dns_start(&dns);
        io_run(stuck_run);
        fake_dns_stop(&dns);
}
