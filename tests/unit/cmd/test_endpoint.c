/*
 * test_endpoint.c - where requests go and when: the limits of each endpoint, pauses, windows, the
 * choice among base URLs. On the simulated clock.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "batch/run/endpoint.h"
#include "batch/shard_setup.h"
#include "common/outcome.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/test.h"
#include "eddy/time.h"
#include "engine/room.h"

enum { TAKEN_MAX = 4000 };

static struct ed_endpoints endpoints;
static struct ed_room room;

/* When each request was taken, and by which endpoint. */
static struct {
        int64_t at_ns;
        const struct ed_endpoint *endpoint;
} taken[TAKEN_MAX];

static int taken_count;

static eddy_task_fn *main_fn;

static int main_whole(void *arg)
{
        int err = main_fn(arg);

        ed_endpoints_fini(&endpoints);
        return err;
}

static void run(eddy_task_fn *fn)
{
        struct eddy_test_result result;

        main_fn = fn;
        taken_count = 0;
        CHECK_EQ(eddy_test_run(main_whole, NULL, NULL, &result), 0);
}

static void endpoints_make(const struct ed_endpoint_limits *limits, const char *const *bases)
{
        struct ed_endpoint *leader;

        ed_room_init(&room, 1, false);
        ed_endpoints_init(&endpoints, limits, &room);
        for (; *bases; bases++)
                CHECK_EQ(ed_endpoints_add_base(&endpoints, *bases, &leader), 0);
}

/* Take a request, and pass the turn on. */
static struct ed_endpoint *take(const char *url, uint64_t tokens)
{
        struct eddy_reservation reservation;
        struct ed_endpoint *endpoint = NULL;

        CHECK_EQ(ed_endpoint_take(&endpoints, url, tokens, 0, &endpoint, &reservation), 0);
        ed_endpoint_pass(&endpoints, endpoint, url);
        taken[taken_count].at_ns = eddy_now();
        taken[taken_count++].endpoint = endpoint;
        return endpoint;
}

/* Returns the most requests that one endpoint took in any window of that length. */
static int most_in(const struct ed_endpoint *endpoint, int64_t window_ns)
{
        int most = 0;

        for (int first = 0; first < taken_count; first++) {
                int count = 0;

                for (int i = first; i < taken_count; i++)
                        count += taken[i].endpoint == endpoint &&
                                 taken[i].at_ns - taken[first].at_ns <= window_ns;
                most = count > most ? count : most;
        }
        return most;
}

static const char *const one_base[] = { "http://a", NULL };
static const char *const two_bases[] = { "http://a:1/v1", "http://b:2", NULL };

/* A shard that is killed again and again, each time after some requests, and begins again at once. */
static struct ed_batch_settings shard_settings;

static int shard_main(void *arg)
{
        static const int runs[] = { 1, 40, 3, 1, 90, 200, 2, 77, 5, 150 };
        int64_t start_ns = eddy_now();
        uint64_t tokens = shard_settings.tpm / 2 + 1; /* a run may use most of a minute at once */

        (void) arg;
        for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
                int64_t pause_ns = ed_shard_setup_pause(&shard_settings, i > 0);

                CHECK(i > 0 || pause_ns == 0);
                endpoints_make(&(struct ed_endpoint_limits){ .rpm = shard_settings.rpm,
                                                             .tpm = shard_settings.tpm,
                                                             .burst_ns = shard_settings.burst_ns,
                                                             .begin_ns = eddy_now() + pause_ns },
                               one_base);
                for (int n = 0; n < runs[i] && eddy_now() - start_ns < EDDY_MIN(30); n++)
                        ed_endpoint_give(take("/x", shard_settings.tpm > 0 ? tokens : 0));
                ed_endpoints_fini(&endpoints);
        }
        return 0;
}

/* Returns the most requests in any minute. They are in order. */
static int most_in_a_minute(void)
{
        int most = 0;

        for (int first = 0, end = 0; first < taken_count; first++) {
                while (end < taken_count && taken[end].at_ns - taken[first].at_ns <= EDDY_MIN(1))
                        end++;
                most = end - first > most ? end - first : most;
        }
        return most;
}

TEST(shard_that_is_killed_and_begins_again_stays_within_its_limits)
{
        static const uint64_t rpms[] = { 1, 2, 7, 60, 75, 600 };
        static const int64_t bursts_ns[] = { 0, EDDY_MS(100), EDDY_SEC(10), EDDY_SEC(45) };

        for (size_t r = 0; r < sizeof(rpms) / sizeof(rpms[0]); r++)
                for (size_t b = 0; b < sizeof(bursts_ns) / sizeof(bursts_ns[0]); b++) {
                        shard_settings = (struct ed_batch_settings){ .shard = { 3, 8 },
                                                                     .rpm = rpms[r],
                                                                     .burst_ns = bursts_ns[b] };
                        run(shard_main);
                        CHECK(most_in_a_minute() <= (int) rpms[r]);
                        CHECK(rpms[r] < 60 ? taken_count > 20 : taken_count > 500);
                }
        shard_settings = (struct ed_batch_settings){ .shard = { 3, 8 }, .tpm = 1000 };
        run(shard_main);
        CHECK_EQ(most_in_a_minute(), 1);
}

static int limited_main(void *arg)
{
        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .rpm = 600 }, two_bases);
        for (int i = 0; i < 2600; i++)
                ed_endpoint_give(take("/x", 0));
        return 0;
}

TEST(each_endpoint_has_its_own_requests_a_minute_in_any_window)
{
        run(limited_main);
        for (int i = 0; i < 2; i++) {
                CHECK(most_in(taken[i].endpoint, EDDY_MIN(1)) <= 600);
                CHECK(most_in(taken[i].endpoint, EDDY_SEC(1)) <= 11);
        }
        /* 1,200 a minute together. */
        CHECK(taken[taken_count - 1].at_ns - taken[0].at_ns < EDDY_SEC(135));
        CHECK(taken[taken_count - 1].at_ns - taken[0].at_ns > EDDY_SEC(120));
}

static int burst_main(void *arg)
{
        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .rpm = 600, .burst_ns = EDDY_MIN(1) },
                       one_base);
        for (int i = 0; i < 1300; i++)
                ed_endpoint_give(take("/x", 0));
        return 0;
}

TEST(burst_never_raises_the_bound_of_a_minute)
{
        run(burst_main);
        CHECK(most_in(taken[0].endpoint, EDDY_MIN(1)) <= 600);
        CHECK(taken[599].at_ns - taken[0].at_ns < EDDY_SEC(1));
}

static int pause_main(void *arg)
{
        struct ed_endpoint *a, *b;
        int64_t paused_ns;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ 0 }, two_bases);
        a = take("/x", 0);
        b = take("/x", 0);
        CHECK(a != b);
        paused_ns = eddy_now();
        CHECK_EQ(ed_endpoint_throttle(&endpoints, a, EDDY_SEC(3), 0), EDDY_SEC(3));
        for (int i = 0; i < 100; i++)
                CHECK(take("/x", 0) == b);
        CHECK_EQ(eddy_now(), paused_ns);
        CHECK_EQ(eddy_sleep(EDDY_SEC(3)), 0);
        ed_endpoint_give(a);
        CHECK(take("/x", 0) == a);
        CHECK_EQ(a->pauses, 1);
        CHECK_EQ(a->paused_ns, EDDY_SEC(3));
        return 0;
}

TEST(pause_stops_one_endpoint_and_not_the_other)
{
        run(pause_main);
}

static int alone_main(void *arg)
{
        struct ed_endpoint *a;
        int64_t start_ns;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ 0 }, one_base);
        a = take("/x", 0);
        ed_endpoint_give(a);
        start_ns = eddy_now();
        ed_endpoint_throttle(&endpoints, a, EDDY_SEC(3), 0);
        /* Requests that were in flight together are a single refusal, and the longest pause holds. */
        CHECK_EQ(ed_endpoint_throttle(&endpoints, a, EDDY_SEC(1), 0), EDDY_SEC(3));
        CHECK_EQ(ed_endpoint_throttle(&endpoints, a, -1, 0), EDDY_SEC(3));
        CHECK_EQ(a->pauses, 1);
        ed_endpoint_give(take("/x", 0));
        CHECK_EQ(eddy_now() - start_ns, EDDY_SEC(3));
        /* Without a time the pauses double, up to a minute: half of it and a random part. */
        for (int i = 1; i < 12; i++) {
                int64_t pause_ns = EDDY_SEC(1) << (i < 6 ? i : 6), before_ns = eddy_now();

                pause_ns = pause_ns > EDDY_SEC(60) ? EDDY_SEC(60) : pause_ns;
                ed_endpoint_throttle(&endpoints, a, -1, 0);
                ed_endpoint_give(take("/x", 0));
                CHECK_EQ(eddy_now() - before_ns, pause_ns / 2);
        }
        ed_endpoint_answered(&endpoints, a, "/", eddy_now());
        start_ns = eddy_now();
        ed_endpoint_throttle(&endpoints, a, -1, 0);
        ed_endpoint_give(take("/x", 0));
        CHECK_EQ(eddy_now() - start_ns, EDDY_MS(500));
        return 0;
}

TEST(pauses_without_a_time_double_until_an_answer)
{
        run(alone_main);
}

static const struct eddy_ratelimit seen_used_up = {
        .limit = 60, .remaining = 0, .reset_ns = EDDY_SEC(3), .window_ns = -1
};
static const struct eddy_ratelimit seen_free = {
        .limit = 60, .remaining = 60, .reset_ns = EDDY_SEC(3), .window_ns = -1
};

static void obey(struct ed_endpoint *endpoint, struct eddy_ratelimit requests)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        seen.requests = requests;
        ed_endpoint_obey(endpoint, seen, EDDY_MIN(60));
}

static int counted_main(void *arg)
{
        struct ed_endpoint *a, *b;
        int64_t start_ns;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ 0 }, two_bases);
        a = take("/x", 0);
        b = take("/x", 0);
        start_ns = eddy_now();
        /* A refusal without Retry-After, whose headers name 3 s: a pause of its own within it. */
        obey(a, seen_used_up);
        ed_endpoint_throttle(&endpoints, a, -1, 0);
        CHECK_EQ(a->pauses, 1);
        CHECK_EQ(a->pause_end_ns - start_ns, EDDY_SEC(3));
        CHECK_EQ(ed_endpoint_paused(a), 0);
        CHECK_EQ(ed_endpoints_resume(&endpoints), 0);
        obey(b, seen_used_up);
        CHECK_EQ(ed_endpoints_resume(&endpoints) - start_ns, EDDY_SEC(3));
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        CHECK_EQ(ed_endpoint_paused(a), EDDY_SEC(2));
        /* The server takes requests again before the time that it named. */
        obey(b, seen_free);
        CHECK_EQ(ed_endpoint_paused(b), EDDY_SEC(2));
        CHECK_EQ(ed_endpoints_resume(&endpoints), 0);
        /* Pauses that overlap are one. */
        CHECK_EQ(eddy_sleep(EDDY_MS(500)), 0);
        obey(a, seen_used_up);
        CHECK_EQ(eddy_sleep(EDDY_SEC(60)), 0);
        CHECK_EQ(a->pauses, 1);
        CHECK_EQ(ed_endpoint_paused(a), EDDY_MS(5500));
        obey(a, seen_free);
        CHECK_EQ(a->pauses, 1);
        obey(a, seen_used_up);
        CHECK_EQ(a->pauses, 2);
        /* Less than a second for each request is the pace of a limit. */
        obey(b, (struct eddy_ratelimit){ 60, 0, EDDY_SEC(3), -1, true });
        CHECK_EQ(b->pauses, 1);
        CHECK_EQ(ed_endpoint_paused(a), EDDY_MS(5500));
        CHECK_EQ(ed_endpoint_paused(b), EDDY_SEC(2));
        return 0;
}

TEST(pauses_of_refusals_and_of_headers_are_counted_as_one_time)
{
        run(counted_main);
}

static int give_later(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        ed_endpoint_give(arg);
        return 0;
}

static int window_main(void *arg)
{
        struct ed_endpoint *a = NULL;
        eddy_scope scope;
        int64_t start_ns;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ 0 }, one_base);
        for (int i = 0; i < 8; i++)
                a = take("/x", 0);
        ed_endpoint_throttle(&endpoints, a, 0, 0);
        CHECK_EQ(a->window, 4);
        for (int i = 0; i < 4; i++)
                ed_endpoint_give(a);
        /* The window is full: the next request waits until another one ends. */
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, give_later, a);
        start_ns = eddy_now();
        (void) take("/x", 0);
        CHECK(eddy_now() - start_ns >= EDDY_SEC(1));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 4; i++)
                ed_endpoint_answered(&endpoints, a, "/", eddy_now());
        CHECK_EQ(a->window, 5);
        return 0;
}

TEST(refusal_halves_the_requests_in_flight_and_answers_raise_them)
{
        run(window_main);
}

static int tokens_main(void *arg)
{
        struct eddy_reservation reservation;
        struct ed_endpoint *endpoint;
        int64_t start_ns;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .tpm = 6000 }, two_bases);
        CHECK_EQ(ed_endpoint_take(&endpoints, "/x", 6001, 0, &endpoint, &reservation),
                 EDDY_E_LIMITER_AMOUNT);
        start_ns = eddy_now();
        for (int i = 0; i < 40; i++)
                ed_endpoint_give(take("/x", 300));
        /* 12,000 tokens, at two times 6,000 a minute. */
        CHECK(eddy_now() - start_ns > EDDY_SEC(50));
        CHECK(eddy_now() - start_ns < EDDY_SEC(70));
        return 0;
}

TEST(tokens_are_limited_and_more_than_a_minute_has_fails_at_once)
{
        run(tokens_main);
}

static int hosts_main(void *arg)
{
        struct eddy_reservation reservation;
        struct ed_endpoint *a, *b, *c;
        char url[64];
        int err = 0;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ 0 }, two_bases);
        CHECK_EQ(ed_endpoints_add_main(&endpoints, "http://key/x"), 0);
        a = take("http://user:secret@A:1/other", 0);
        b = take("http://c/x?http://a:1", 0);
        c = take("http://C#frag", 0);
        CHECK_STR(a->name, "http://a:1");
        CHECK(a->base != NULL && a->is_main);
        CHECK_STR(b->name, "http://c");
        CHECK(b == c && !b->base && !b->is_main);
        CHECK(take("http://key/y", 0)->is_main);
        CHECK(!take("https://key/y", 0)->is_main);
        CHECK(!take("http://key:81/y", 0)->is_main);
        CHECK(!take("http://a:1@evil/", 0)->is_main);
        for (int i = 0; err == 0 && i < ED_ENDPOINTS_MAX; i++) {
                snprintf(url, sizeof(url), "http://h%d/", i);
                err = ed_endpoint_take(&endpoints, url, 0, 0, &a, &reservation);
                if (err == 0)
                        ed_endpoint_pass(&endpoints, a, url);
        }
        CHECK_EQ(err, ED_E_HOSTS);
        return 0;
}

TEST(host_is_known_by_scheme_name_and_port_and_only_chosen_ones_get_the_key)
{
        run(hosts_main);
}

static int baseless_main(void *arg)
{
        static const char *const none[] = { NULL };
        struct eddy_reservation reservation;
        struct ed_endpoint *endpoint;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ 0 }, none);
        CHECK_EQ(ed_endpoint_take(&endpoints, "/x", 0, 0, &endpoint, &reservation), ED_E_NO_BASE);
        return 0;
}

TEST(path_needs_a_base_url)
{
        run(baseless_main);
}

/* ---- several keys ---------------------------------------------------------------------------- */

static int keys_main(void *arg)
{
        struct ed_endpoint *one, *two, *other, *host;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .keys = 2 }, one_base);
        CHECK_EQ(ed_endpoints_add_main(&endpoints, "http://b/x"), 0);
        CHECK_EQ(endpoints.count, 4);
        one = take("/x", 0);
        two = take("/x", 0);
        CHECK(one->key == 1 && two->key == 2 && two->leader == one);
        CHECK_STR(one->name, "http://a");
        CHECK_STR(two->shown, "http://a, key 2 of 2");
        /* Absolute URLs have the keys too, if their host is one of the command line. */
        host = take("http://b/y", 0);
        CHECK(host->key == 1 && take("http://b/y", 0)->key == 2);
        CHECK(take("http://a/y", 0)->leader == one);
        other = take("http://c/y", 0);
        CHECK(other->key == 0 && other->shown == other->name);
        /* A pause, and a refusal after an answer, leave the other key. */
        ed_endpoint_throttle(&endpoints, one, EDDY_SEC(3), 0);
        for (int i = 0; i < 10; i++)
                CHECK(take("/x", 0) == two);
        CHECK_EQ(eddy_sleep(EDDY_SEC(3)), 0);
        one->window = UINT32_MAX;
        two->ok = two->key_refusals = 1;
        for (int i = 0; i < 20; i++)
                CHECK(take("/x", 0) == one);
        /* The last key ends the run, and until then requests have another one. */
        CHECK(ed_endpoint_has_other(&endpoints, one, "/x"));
        CHECK(ed_endpoint_shut(&endpoints, one));
        CHECK(take("/x", 0) == two && take("http://a/y", 0) == two);
        CHECK(!ed_endpoint_has_other(&endpoints, two, "/x"));
        CHECK(!ed_endpoint_shut(&endpoints, two));
        ed_endpoint_reopen(one);
        CHECK(take("/x", 0) == one);
        CHECK(ed_endpoint_shut(&endpoints, host) && !ed_endpoint_shut(&endpoints, host->next));
        return 0;
}

TEST(each_pair_of_a_server_and_a_key_is_an_endpoint_of_its_own)
{
        run(keys_main);
}

static int keys_limited_main(void *arg)
{
        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .rpm = 600, .keys = 3 }, one_base);
        for (int i = 0; i < 1900; i++)
                ed_endpoint_give(take("/x", 0));
        for (int i = 0; i < 3; i++)
                CHECK(most_in(taken[i].endpoint, EDDY_MIN(1)) <= 600);
        CHECK(taken[1899].at_ns - taken[0].at_ns < EDDY_SEC(66));
        return 0;
}

TEST(each_key_has_its_own_requests_a_minute)
{
        run(keys_limited_main);
}

/* ---- base URLs that come and go -------------------------------------------------------------- */

static struct ed_endpoints_change change;

/* Take a list, whose URLs are separated by line feeds. */
static void list_take(const char *text)
{
        struct ed_base_urls list = { 0 };
        char why[ED_BASE_URLS_WHY_BYTES];

        CHECK_EQ(ed_base_urls_read(&list, text, strlen(text), why), 0);
        CHECK_EQ(ed_endpoints_list(&endpoints, &list, &change), 0);
        ed_base_urls_fini(&list);
}

static int come_main(void *arg)
{
        struct ed_endpoint *given, *a, *b, *host;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .changes = true },
                       (const char *const[]){ "http://given", NULL });
        list_take("http://a\n");
        given = take("/x", 0);
        a = take("/x", 0);
        host = take("http://host/x", 0);
        CHECK_STR(given->name, "http://given");
        CHECK_STR(a->name, "http://a");
        /* A new one gets requests at once. The former one, once gone, gets none, and keeps its counts. */
        list_take("http://a/\nhttp://b\n");
        CHECK(change.more == 1 && change.fewer == 0);
        b = take("/x", 0);
        CHECK_STR(b->name, "http://b");
        a->sent = 7;
        ed_endpoint_lost(&endpoints, a, 0, &(int64_t){ 0 });
        list_take("http://b");
        CHECK(change.more == 0 && change.fewer == 1 && a->is_gone);
        ed_endpoint_give(a);
        for (int i = 0; i < 10; i++)
                CHECK(take("/x", 0) != a);
        CHECK(ed_endpoint_is_left(a, "/x") && !ed_endpoint_is_left(a, "http://a/x"));
        CHECK(take("http://a/x", 0) == a && take("http://host/x", 0) == host);
        list_take("http://b\nhttp://a\n");
        CHECK(change.more == 1 && change.fewer == 0);
        CHECK(take("/x", 0) == a && a->sent == 7 && a->unreached == 0);
        /* The one of the command line is not of the file. */
        list_take("");
        CHECK_EQ(change.fewer, 2);
        for (int i = 0; i < 10; i++)
                CHECK(take("/x", 0) == given);
        CHECK_EQ(ed_endpoints_usable(&endpoints), 1);
        CHECK_EQ(endpoints.count, 4);
        return 0;
}

TEST(base_urls_come_go_and_come_back_with_their_counts)
{
        run(come_main);
}

static int listed_limits_main(void *arg)
{
        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .rpm = 600, .changes = true },
                       (const char *const[]){ NULL });
        for (int i = 0; i < 2000; i++) {
                if (i == 0)
                        list_take("http://a");
                if (i == 700)
                        list_take("http://a\nhttp://b");
                if (i == 1000 || i == 1200)
                        list_take(i == 1000 ? "http://b" : "http://b\nhttp://a");
                ed_endpoint_give(take("/x", 0));
        }
        return 0;
}

TEST(each_base_url_that_comes_and_comes_back_has_its_requests_a_minute)
{
        const struct ed_endpoint *a, *b;

        run(listed_limits_main);
        a = taken[0].endpoint;
        b = taken[1100].endpoint;
        CHECK(a != b);
        CHECK(most_in(a, EDDY_MIN(1)) <= 600 && most_in(b, EDDY_MIN(1)) <= 600);
        for (int i = 0; i < taken_count; i++)
                CHECK(taken[i].endpoint == a || (i >= 700 && taken[i].endpoint == b));
}

static int list_later(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_SEC(100)), 0);
        list_take(arg);
        return 0;
}

static int empty_main(void *arg)
{
        static const char *const none[] = { NULL };
        char lists[][16] = { "http://a", "http://b" };
        struct ed_endpoint *a;
        eddy_scope scope;
        int64_t start_ns;

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .changes = true }, none);
        list_take("http://a");
        a = take("/x", 0);
        list_take("");
        CHECK_EQ(ed_endpoints_usable(&endpoints), 0);
        start_ns = eddy_now();
        for (int i = 0; i < 2; i++) {
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, list_later, lists[i]);
                if (i == 0)
                        CHECK(take("/x", 0) == a);
                else
                        CHECK_STR(take("/x", 0)->name, "http://b");
                CHECK_EQ(eddy_scope_end(&scope), 0);
                /* The only one is paused: the next one is not waited for. */
                ed_endpoint_throttle(&endpoints, a, EDDY_MIN(60), 0);
        }
        CHECK(eddy_now() - start_ns < EDDY_SEC(201));
        /* An endpoint that is gone does not end the run. */
        CHECK(ed_endpoint_shut(&endpoints, a));
        return 0;
}

TEST(requests_wait_for_a_list_with_a_server_that_is_free)
{
        run(empty_main);
}

static int begin_main(void *arg)
{
        static const char *const none[] = { NULL };
        const int64_t begin_ns = eddy_now() + EDDY_SEC(20);
        const struct ed_endpoint_limits limits = { .begin_ns = begin_ns, .changes = true };
        struct ed_endpoint *a;

        (void) arg;
        /* A server that could not be reached comes back. */
        endpoints_make(&limits, none);
        list_take("http://a");
        a = endpoints.first;
        ed_endpoint_lost(&endpoints, a, 0, &(int64_t){ 0 });
        list_take("");
        list_take("http://a");
        CHECK_EQ(a->unreached, 0);
        CHECK(take("/x", 0)->leader == a);
        CHECK_EQ(eddy_now(), begin_ns);
        return 0;
}

static int begin_place_main(void *arg)
{
        static const char *const none[] = { NULL };
        /* All keys of the place are looked at again and again until then. */
        const int64_t begin_ns = eddy_now() + EDDY_SEC(1);
        const struct ed_endpoint_limits limits = { .begin_ns = begin_ns,
                                                   .keys = ED_ENDPOINTS_BASES_MAX / 2,
                                                   .changes = true };

        (void) arg;
        endpoints_make(&limits, none);
        list_take("http://a");
        list_take("http://b");
        list_take("http://c"); /* takes the place of the first */
        CHECK_EQ(endpoints.forgotten, 1);
        CHECK(take("/x", 0)->leader == endpoints.first);
        CHECK_EQ(eddy_now(), begin_ns);
        return 0;
}

TEST(pause_of_the_begin_holds_for_servers_that_come_back_and_for_those_that_take_a_place)
{
        run(begin_main);
        run(begin_place_main);
}

static int forget_main(void *arg)
{
        static const char *const none[] = { NULL };
        struct ed_endpoint *busy, *first;
        char text[64];

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .keys = 2, .changes = true }, none);
        list_take("http://busy");
        busy = take("/x", 0);
        list_take("http://first");
        first = take("/x", 0);
        ed_endpoint_give(first);
        for (int i = 0; i < ED_ENDPOINTS_BASES_MAX / 2 - 2; i++) {
                snprintf(text, sizeof(text), "http://h%d", i);
                list_take(text);
                CHECK_EQ(eddy_sleep(1), 0);
        }
        CHECK_EQ(endpoints.bases, ED_ENDPOINTS_BASES_MAX);
        CHECK_EQ(endpoints.forgotten, 0);
        /* All places are taken: that of the first that is gone and has no request is used again. */
        list_take("http://last");
        CHECK_EQ(endpoints.bases, ED_ENDPOINTS_BASES_MAX);
        CHECK_EQ(endpoints.forgotten, 1);
        CHECK_STR(first->name, "http://last");
        CHECK_STR(first->next->shown, "http://last, key 2 of 2");
        CHECK(take("/x", 0) == first && take("/x", 0) == first->next && take("/x", 0) == first);
        CHECK(take("http://last/y", 0)->leader == first);
        CHECK(take("http://first/y", 0)->leader != first);
        CHECK_STR(busy->name, "http://busy");
        list_take("http://busy");
        CHECK(take("/x", 0) == busy->next && take("/x", 0)->leader == busy);
        return 0;
}

TEST(places_of_base_urls_that_are_gone_are_used_again_when_there_are_many)
{
        run(forget_main);
}

static int same_name_main(void *arg)
{
        static const char *const none[] = { NULL };
        struct ed_endpoint *same[3];
        char text[64];

        (void) arg;
        endpoints_make(&(struct ed_endpoint_limits){ .changes = true }, none);
        list_take("http://same/0\nhttp://same/1\nhttp://same/2");
        for (int i = 0; i < 3; i++)
                same[i] = take("/x", 0);
        ed_endpoint_give(same[0]);
        ed_endpoint_give(same[2]);
        list_take("http://same/1");
        for (int i = 0; i < ED_ENDPOINTS_BASES_MAX - 3; i++) {
                snprintf(text, sizeof(text), "http://same/1\nhttp://h%d", i);
                list_take(text);
        }
        /* Two places are used again, so one base URL is left for absolute URLs of this name. */
        list_take("http://same/1\nhttp://last0\nhttp://last1");
        CHECK_EQ(endpoints.forgotten, 2);
        CHECK_STR(same[0]->base, "http://last0");
        CHECK_STR(same[2]->base, "http://last1");
        CHECK(take("http://same/y", 0) == same[1]);
        CHECK(take("http://last0/y", 0) == same[0] && take("http://last1/y", 0) == same[2]);
        /* Those that return before their places are used are not used again. */
        list_take("http://same/1\nhttp://h0\nhttp://new");
        CHECK_STR(same[1]->base, "http://same/1");
        CHECK_EQ(endpoints.forgotten, 3);
        list_take("http://h0\nhttp://h1");
        CHECK(change.more == 1 && endpoints.forgotten == 4);
        return 0;
}

TEST(absolute_urls_go_to_a_base_url_of_their_host_that_is_left)
{
        run(same_name_main);
}
