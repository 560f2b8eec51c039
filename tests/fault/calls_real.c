/*
 * calls_real.c - the worlds of what a simulation does not have: signals, and
 * questions to a name server; see every_call.h.  On the real clock, so under
 * fewer schedules, whose points are not the same each time.
 */
#include "every_call.h"

#include <signal.h>
#include <unistd.h>

#include "fake_dns.h"
#include "io/dns.h"
#include "loop/loop.h"

static void short_pause(void)
{
        (void) eddy_sleep(EDDY_US(200) * (int64_t) world_chance(3));
}

/* --- signals --- */

enum { SIGNALS = 3 };

static struct {
        eddy_signal *signal;
        int got;
        bool pending; /* raised, and not given yet */
} post;

static int await_signal(void *arg)
{
        int signo = eddy_signal_wait(post.signal);

        (void) arg;
        if (signo < 0)
                return signo;
        CHECK_EQ(signo, SIGUSR1);
        CHECK(post.pending);
        post.pending = false;
        post.got++;
        return 0;
}

static int await_signals(void *arg)
{
        int err = 0;

        while (post.got < SIGNALS && err == 0) {
                err = victim_call(await_signal, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

/* Each when the last one was given: two before that would be one. */
static int raise_signals(void *arg)
{
        (void) arg;
        for (int i = 0; i < SIGNALS; i++) {
                do
                        short_pause();
                while (post.pending);
                post.pending = true;
                CHECK_EQ(kill(getpid(), SIGUSR1), 0);
        }
        return 0;
}

/* One that came and was not taken by who was cancelled is there for the next. */
static int world_signal(void *arg)
{
        static const int signos[] = { SIGUSR1 };
        eddy_scope raising, waiting;

        memset(&post, 0, sizeof(post));
        CHECK_EQ(eddy_signal_open(signos, 1, &post.signal), 0);
        world_begin(SIGNALS);
        eddy_scope_begin(&raising, NULL);
        world_start(&raising, raise_signals, NULL, 1);
        eddy_scope_begin(&waiting, NULL);
        world_start(&waiting, await_signals, arg, 1);
        CHECK_EQ(eddy_scope_end(&waiting), 0);
        while (post.got < SIGNALS)
                CHECK_EQ(await_signal(NULL), 0);
        CHECK_EQ(eddy_scope_end(&raising), 0);
        CHECK(!post.pending);
        eddy_signal_close(post.signal);
        return 0;
}
EVERY_POINT_ON(signal, eddy_signal_wait, on_epoll)

/* --- names --- */

static struct fake_dns dns;

static int look_up(void *arg)
{
        static const char *const names[] = { "a.test", "a2.test", "both.test", "nx.test",
                                             "stream.test" };
        struct eddy_address addresses[4];
        int n = eddy_dns_lookup(names[world_chance(5)], addresses, 4);

        (void) arg;
        CHECK((n > 0 && n <= 4) || n == EDDY_E_DNS_NOT_FOUND || n == -ECANCELED);
        return n < 0 ? n : 0;
}

static int look_up_names(void *arg)
{
        for (int i = 0; i < 2; i++) {
                (void) victim_call(look_up, arg);
                short_pause();
        }
        return 0;
}

/* Several ask for one name at a time: who is cancelled takes no answer from the others. */
static int world_lookup_asked(void *arg)
{
        struct ed_question_opts opts = { .servers = dns.address, .timeout_ms = 20000, .tries = 2 };
        int n = 2 + (int) world_chance(3);
        eddy_scope scope;

        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &opts), 0);
        world_begin(2 * n);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, look_up_names, arg, n);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        /* Its descriptors are also this process's, and would be reported as left. */
        fake_dns_settle(&dns);
        return 0;
}

TEST(cancel_at_every_point_of_lookup_asked)
{
        fake_dns_start(&dns);
        every_point("lookup_asked", world_lookup_asked, &on_epoll);
        fake_dns_stop(&dns);
}
ALSO(lookup_asked, eddy_dns_lookup)
