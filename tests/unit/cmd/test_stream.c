/*
 * test_stream.c - an answer to a request for a stream is recognised by its bytes, wherever they are
 * split, and one that was cut is never an answer.
 */
#include "test.h"

#include <errno.h>

#include "batch/stream/stream.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "starve.h"

#define CHUNK(text, reason)                                                                        \
        "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text                                \
        "\"},\"finish_reason\":" reason "}]}"
#define CHAT(text, reason)                                                                         \
        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"" text       \
        "\"},\"finish_reason\":" reason "}],\"object\":\"chat.completion\"}"

/* Take a stream in two parts, or byte by byte if 'split' is beyond its end. Returns the result. */
static int run_split(const char *text, size_t split, struct ed_draft *body,
                     char fault[ED_STREAM_FAULT_BYTES])
{
        size_t bytes = strlen(text), first = split <= bytes ? split : 0;
        size_t step = split <= bytes ? bytes : 1;
        struct ed_stream stream;
        int err = ed_stream_init(&stream);

        CHECK_EQ(err, 0);
        err = ed_stream_take(&stream, text, first);
        for (size_t at = first; at < bytes && err == 0; at += step)
                err = ed_stream_take(&stream, text + at, bytes - at < step ? bytes - at : step);
        err = ed_stream_end(&stream, body, fault);
        ed_stream_fini(&stream);
        return err;
}

static void check_stream(const char *text, int expected, const char *expected_text)
{
        for (size_t split = 0; split <= strlen(text) + 1; split++) {
                char fault[ED_STREAM_FAULT_BYTES];
                struct ed_draft body = { 0 };

                CHECK_EQ(run_split(text, split, &body, fault), expected);
                ed_draft_add(&body, "", 1);
                CHECK_STR(expected == 0 ? body.data : fault, expected_text);
                ed_draft_fini(&body);
        }
}

TEST(form_is_found_by_the_first_bytes)
{
        /* Events, whatever precedes them. */
        check_stream("data: " CHUNK("a", "\"stop\"") "\n\n", 0, CHAT("a", "\"stop\""));
        check_stream("\xef\xbb\xbf\r\n: ping\n\nevent: e\nid: 1\nretry: 5\ndata:" CHUNK(
                             "a", "null") "\n\ndata: [DONE]\n\n",
                     0, CHAT("a", "null"));
        /* The answer of a server that ignores "stream". */
        check_stream("{\"choices\":[]}", 0, "{\"choices\":[]}");
        check_stream("\xef\xbb\xbf {\n \"a\": 1\n}\n", 0, "\xef\xbb\xbf {\n \"a\": 1\n}\n");
        check_stream("[{\"a\":1}]", 0, "[{\"a\":1}]");
        check_stream("not a stream", 0, "not a stream");
        check_stream("date", 0, "date");
        check_stream("{\"a\":1}\n{\"b\":2}\n", 0, "{\"a\":1}\n{\"b\":2}\n");
}

TEST(lines_and_lists_are_streams_too)
{
        static const char line[] = "{\"response\":\"a\",\"done\":false}\r\n";
        static const char list[] = "[{\"candidates\":[{\"finishReason\":null}]}\n,\r\n"
                                   "{\"candidates\":[{\"finishReason\":\"STOP\"}]}]\n";
        char text[256];

        snprintf(text, sizeof(text), "%s\n%s{\"response\":\"b\",\"done\":true}", line, line);
        check_stream(text, 0, "{\"response\":\"aab\",\"done\":true}");
        check_stream("{\"response\":\"b\",\"done\":true}", 0, "{\"response\":\"b\",\"done\":true}");
        check_stream(line, EDDY_E_HTTP_TRUNCATED,
                     "the stream ended before the answer was complete");
        snprintf(text, sizeof(text), "%s{\"resp", line);
        check_stream(text, EDDY_E_HTTP_TRUNCATED,
                     "the stream ended before the answer was complete");
        snprintf(text, sizeof(text), "%s{\"error\":\"no memory\"}\n", line);
        check_stream(text, EDDY_E_HTTP_INVALID_RESPONSE,
                     "the stream reported an error: \"no memory\"");
        check_stream(list, 0, "{\"candidates\":[{\"finishReason\":\"STOP\"}]}");
        check_stream("[{\"candidates\":[{}]}]", EDDY_E_HTTP_TRUNCATED,
                     "the stream ended before the answer was complete");
}

TEST(last_event_needs_no_empty_line)
{
        check_stream("data: " CHUNK("a", "null") "\n\ndata: [DONE]", 0, CHAT("a", "null"));
        check_stream("data: " CHUNK("a", "\"stop\"") "\r\n", 0, CHAT("a", "\"stop\""));
        check_stream("data: " CHUNK("a", "null") "\n\ndata: {\"choi", EDDY_E_HTTP_TRUNCATED,
                     "the stream ended before the answer was complete");
}

TEST(nothing_after_the_end_counts)
{
        check_stream("data: " CHUNK("a", "\"stop\"") "\n\ndata: [DONE]\n\ndata: <html>\n\n", 0,
                     CHAT("a", "\"stop\""));
}

TEST(answer_that_was_cut_is_found)
{
        static const char cut[] = "the answer ended within a JSON text";
        static const char early[] = "the stream ended before the answer was complete";
        static const char none[] = "the answer is an empty stream";

        check_stream("data: " CHUNK("a", "null") "\n\n", EDDY_E_HTTP_TRUNCATED, early);
        check_stream("{\"choices\":[{\"text\":\"}]}", EDDY_E_HTTP_TRUNCATED, cut);
        check_stream("{\"a\":\"\\\"", EDDY_E_HTTP_TRUNCATED, cut);
        check_stream("\n[{\"a\":1},", EDDY_E_HTTP_TRUNCATED, cut);
        check_stream("{\n  \"a\": 1,\n", EDDY_E_HTTP_TRUNCATED, cut);
        check_stream("{\"a\":1}\n{\"b\":", EDDY_E_HTTP_TRUNCATED, cut);
        check_stream("", EDDY_E_HTTP_TRUNCATED, none);
        check_stream("\xef\xbb\xbf\r\n ", EDDY_E_HTTP_TRUNCATED, none);
        check_stream(": ping\n\n: ping\n\n", EDDY_E_HTTP_TRUNCATED, none);
        check_stream("data: [DONE]\n\n", EDDY_E_HTTP_TRUNCATED, none);
}

TEST(stream_that_gives_no_answer_says_why)
{
        check_stream("data: <html>\n\n", EDDY_E_HTTP_INVALID_RESPONSE,
                     "an event of the stream is not valid: \"<html>\"");
        check_stream("event: error\ndata: {\"m\":1}\n\n", EDDY_E_HTTP_INVALID_RESPONSE,
                     "the stream reported an error: {\"m\":1}");
        check_stream("data: {\"type\":\"x\"}\n\ndata: [DONE]\n\n", EDDY_E_HTTP_INVALID_RESPONSE,
                     "the events of the stream are of an unknown kind: send the request without "
                     "\"stream\"");
}

TEST(each_allocation_may_fail)
{
        static const char *const texts[] = { "data: " CHUNK("a", "\"stop\"") "\n\n",
                                             "{\"choices\":[]}",
                                             "{\"response\":\"a\",\"done\":true}\n",
                                             "data: {\"candidates\":[{\"content\":{\"parts\":[{"
                                             "\"text\":\"a\"}]},\"finishReason\":\"STOP\"}]}\n\n",
                                             "data: {\"type\":\"message-end\",\"delta\":"
                                             "{\"message\":{\"tool_plan\":\"p\"}}}\n\n" };

        eddy_alloc_set(starve, NULL);
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                int err = -ENOMEM;

                for (int n = 0; err == -ENOMEM && n < 500; n++) {
                        char fault[ED_STREAM_FAULT_BYTES];
                        struct ed_draft body = { 0 };
                        struct ed_stream stream;

                        allocations_left = n;
                        err = ed_stream_init(&stream);
                        for (const char *at = texts[i]; err == 0 && *at; at++)
                                err = ed_stream_take(&stream, at, 1);
                        if (stream.assembly)
                                err = ed_stream_end(&stream, &body, fault);
                        ed_stream_fini(&stream);
                        ed_draft_fini(&body);
                }
                CHECK_EQ(err, 0);
        }
}
