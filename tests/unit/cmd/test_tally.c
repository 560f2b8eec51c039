/*
 * test_tally.c - what a file of requests amounts to: kinds are told apart by method, URL without its
 * query, and model; sums do not overflow; the slowest limit decides about the time.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "batch/tally.h"
#include "common/duration.h"
#include "eddy/time.h"

static struct ed_tally tally;

/* Add the request of a line. */
static void line_add(const char *line)
{
        struct ed_request_rules rules = { 0 };
        char error[ED_REQUEST_ERROR_BYTES];
        struct ed_request *request;

        CHECK_EQ(ed_request_read(&rules, line, strlen(line), 1, &request, error), 1);
        ed_tally_add(&tally, request);
        ed_request_free(request);
}

TEST(kinds_differ_in_method_url_and_model)
{
        CHECK_EQ(ed_tally_init(&tally), 0);
        for (int i = 0; i < 3; i++)
                line_add("{\"url\":\"/a\",\"body\":{\"x\":1,\"model\":\"m\"}}");
        for (int i = 0; i < 2; i++)
                line_add("{\"url\":\"/a?q=1\",\"body\":{\"model\":\"n\"}}");
        line_add("{\"url\":\"/a#f\",\"method\":\"PUT\",\"body\":{\"model\":\"m\"}}");
        line_add("https://user:secret@host/a?b");
        line_add("https://host/a");
        ed_tally_order(&tally);
        CHECK_EQ(tally.requests, 8);
        CHECK_EQ(tally.kinds_count, 4);
        CHECK_STR(tally.kinds[0].name, "POST /a");
        CHECK_STR(tally.kinds[0].model, "m");
        CHECK_EQ(tally.kinds[0].count, 3);
        CHECK_STR(tally.kinds[1].name, "GET https://host/a");
        CHECK_STR(tally.kinds[1].model, "");
        CHECK_EQ(tally.kinds[1].count, 2);
        CHECK_STR(tally.kinds[2].model, "n");
        CHECK_STR(tally.kinds[3].name, "PUT /a");
        ed_tally_fini(&tally);
}

TEST(odd_bodies_and_long_urls_are_kinds_without_harm)
{
        char line[1024];

        CHECK_EQ(ed_tally_init(&tally), 0);
        line_add("{\"url\":\"/\",\"body\":[{\"model\":\"m\"}]}");
        line_add("{\"url\":\"/\",\"body\":{\"model\":7}}");
        line_add("{\"url\":\"/\",\"body\":{\"model\":\"\"}}");
        line_add("{\"url\":\"/\",\"body\":{\"model\":\"\\u001b[2J\"}}");
        line_add("{\"url\":\"http://h/a@b@\",\"body\":null,\"method\":\"GET\"}");
        line_add("{\"url\":\"/%C3%A9\",\"method\":\"GET\"}");
        snprintf(line, sizeof(line), "/%0900d", 1);
        line_add(line);
        for (size_t i = 0; i < tally.kinds_count; i++) {
                CHECK(strlen(tally.kinds[i].name) < ED_TALLY_NAME_BYTES);
                for (const char *at = tally.kinds[i].name; *at; at++)
                        CHECK(*at >= 0x20 && *at < 0x7f);
        }
        CHECK(strstr(tally.kinds[tally.kinds_count - 1].name, "...") != NULL);
        ed_tally_fini(&tally);
}

TEST(too_many_kinds_are_counted_together)
{
        char line[64];

        CHECK_EQ(ed_tally_init(&tally), 0);
        for (int round = 0; round < 2; round++)
                for (int i = 0; i < ED_TALLY_KINDS_MAX + 100; i++) {
                        snprintf(line, sizeof(line), "/%d", i);
                        line_add(line);
                }
        CHECK_EQ(tally.kinds_count, ED_TALLY_KINDS_MAX);
        CHECK_EQ(tally.others, 200);
        for (size_t i = 0; i < tally.kinds_count; i++)
                CHECK_EQ(tally.kinds[i].count, 2);
        ed_tally_fini(&tally);
}

TEST(tokens_are_summed_and_do_not_overflow)
{
        CHECK_EQ(ed_tally_init(&tally), 0);
        line_add("{\"url\":\"/\",\"body\":{\"max_tokens\":100}}"); /* 18 bytes */
        line_add("{\"url\":\"/\",\"body\":{\"input\":1}}");        /* 11 bytes */
        line_add("{\"url\":\"/\",\"body\":{\"messages\":1}}");
        line_add("{\"url\":\"/\",\"body\":{\"prompt\":\"x\"}}");
        line_add("{\"url\":\"/v1/responses\",\"body\":{\"input\":1}}");
        CHECK_EQ(tally.input_tokens, 5 + 3 + 4 + 4 + 3);
        CHECK_EQ(tally.output_tokens, 100);
        CHECK_EQ(tally.unlimited, 3);
        for (int i = 0; i < 3; i++)
                line_add("{\"url\":\"/\",\"body\":{\"max_tokens\":18446744073709551615,\"n\":9}}");
        CHECK_EQ(tally.output_tokens, UINT64_MAX);
        ed_tally_fini(&tally);
}

TEST(slowest_limit_decides_about_the_time)
{
        struct ed_tally counts = { .requests = 600, .input_tokens = 1000, .output_tokens = 2000 };
        struct ed_tally_pace pace = { 0 };
        const char *limit;

        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), 0);
        CHECK(!limit);
        pace.rpm = 100;
        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), EDDY_SEC(360));
        CHECK_STR(limit, "--rpm");
        pace.sent = 100; /* several rows in a request */
        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), EDDY_SEC(60));
        pace.sent = 0;
        pace.tpm = 300;
        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), EDDY_SEC(600));
        CHECK_STR(limit, "--tpm");
        pace.servers = 2;
        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), EDDY_SEC(300));
        pace.concurrency = 10;
        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), EDDY_SEC(300));
        pace.latency_ns = EDDY_SEC(10);
        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), EDDY_SEC(600));
        CHECK_STR(limit, "-c");
        counts.output_tokens = UINT64_MAX;
        pace.tpm = 1;
        CHECK_EQ(ed_tally_time(&counts, &pace, &limit), ED_DURATION_MAX_NS);
}
