/*
 * test_assembly.c - events of a stream become the object that the same request returns without
 * "stream", nothing that they have is lost, and hostile streams meet a limit.
 */
#include "test.h"

#include <errno.h>

#include "batch/stream/assembly.h"
#include "batch/stream/events.h"
#include "eddy/alloc.h"
#include "eddy/json.h"
#include "starve.h"

enum { WHOLE = 1 << 0, TOKEN = 1 << 1 };

/* Take a stream, byte by byte. */
static struct ed_assembly *assemble(const char *stream, int expected)
{
        struct ed_assembly *assembly;
        struct ed_events events = { 0 };
        int err = ed_assembly_new(&assembly);

        CHECK_EQ(err, 0);
        for (const char *at = stream; *at && err == 0; at++)
                err = ed_events_take(&events, at, 1, ed_assembly_take, assembly);
        CHECK_EQ(err, expected);
        ed_events_fini(&events);
        return assembly;
}

static void check_body(const struct ed_assembly *assembly, const char *expected)
{
        struct ed_draft body = { 0 };

        CHECK_EQ(ed_assembly_write(assembly, &body), 0);
        CHECK_EQ(eddy_json_check(body.data, body.bytes, NULL, NULL), 0);
        ed_draft_add(&body, "", 1);
        CHECK_STR(body.data, expected);
        ed_draft_fini(&body);
}

#define EVENTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void check_stream(const char *const *events, int flags, const char *expected)
{
        struct ed_assembly *assembly;
        static char stream[8192];
        size_t bytes = 0;

        for (stream[0] = '\0'; *events; events++)
                bytes += (size_t) snprintf(stream + bytes, sizeof(stream) - bytes, "%s", *events);
        CHECK(bytes < sizeof(stream));
        assembly = assemble(stream, 0);
        check_body(assembly, expected);
        CHECK_EQ(ed_assembly_is_whole(assembly), (flags & WHOLE) != 0);
        CHECK_EQ(ed_assembly_has_token(assembly), (flags & TOKEN) != 0);
        ed_assembly_free(assembly);
}

#define CHUNK(members)  "data: {" members "}\n\n"
#define CHOICE(members) CHUNK("\"choices\":[{\"index\":0," members "}]")
#define DELTA(members)  CHOICE("\"delta\":{" members "}")
#define CHAT(message, rest)                                                                        \
        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," message "},"             \
        "\"finish_reason\":null" rest "}],\"object\":\"chat.completion\"}"

TEST(chat_completion_is_assembled_from_its_chunks)
{
        /* With usage in a chunk of its own, and members that only some servers have. */
        static const char head[] = "\"id\":\"c-1\",\"object\":\"chat.completion.chunk\","
                                   "\"created\":17,\"model\":\"m\",\"service_tier\":\"default\","
                                   "\"system_fingerprint\":\"fp\",\"usage\":null,\"choices\":[";
        static const char *const tails[] = {
                "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},"
                "\"logprobs\":null,\"finish_reason\":null}]",
                "{\"index\":0,\"delta\":{\"content\":\"Hel\"},\"logprobs\":null,"
                "\"finish_reason\":null}],\"obfuscation\":\"x\"",
                "{\"index\":0,\"delta\":{\"content\":\"lo\\n\"},\"finish_reason\":null}]",
                "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"timings\":{\"n\":1}",
        };
        char stream[4096];
        int n = 0;

        for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
                n += snprintf(stream + n, sizeof(stream) - (size_t) n, "data: {%s%s}\r\n\r\n", head,
                              tails[i]);
        n += snprintf(stream + n, sizeof(stream) - (size_t) n,
                      "data: {\"id\":\"c-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n"
                      "data: [DONE]\n\n");
        check_stream(EVENTS(stream), WHOLE | TOKEN,
                     "{\"id\":\"c-1\",\"object\":\"chat.completion\",\"created\":17,"
                     "\"model\":\"m\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp\","
                     "\"usage\":{\"prompt_tokens\":1},\"choices\":[{\"index\":0,\"message\":"
                     "{\"role\":\"assistant\",\"content\":\"Hello\\n\",\"refusal\":null},"
                     "\"finish_reason\":\"stop\",\"logprobs\":null}],\"timings\":{\"n\":1}}");
}

TEST(usage_in_the_chunk_that_stops_is_kept)
{
        check_stream(EVENTS(DELTA("\"content\":\"a\""),
                            CHUNK("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
                                  "\"length\"}],\"usage\":{\"total_tokens\":3}"),
                            CHUNK("\"choices\":[],\"usage\":null")),
                     WHOLE | TOKEN,
                     "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
                     "\"a\"},\"finish_reason\":\"length\"}],\"object\":\"chat.completion\","
                     "\"usage\":{\"total_tokens\":3}}");
}

TEST(strings_are_joined_as_they_are_spelled)
{
        check_stream(EVENTS(DELTA("\"content\":\"\\ud83d\""), DELTA("\"content\":\"\\ude00 \\\\\""),
                            DELTA("\"content\":\"n\\u0000\"")),
                     TOKEN, CHAT("\"content\":\"\\ud83d\\ude00 \\\\n\\u0000\"", ""));
        check_stream(
                EVENTS(DELTA("\"reasoning_content\":\"a\",\"reasoning\":\"x\",\"content\":null"),
                       DELTA("\"reasoning_content\":\"b\",\"reasoning\":\"y\""),
                       DELTA("\"refusal\":\"n\""), DELTA("\"refusal\":\"o\"")),
                TOKEN,
                CHAT("\"content\":null,\"reasoning_content\":\"ab\",\"reasoning\":\"xy\","
                     "\"refusal\":\"no\"",
                     ""));
}

TEST(tool_calls_are_assembled_by_index)
{
        check_stream(
                EVENTS(DELTA("\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"type\":\"function\","
                             "\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]"),
                       DELTA("\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":"
                             "{\"name\":\"f\",\"arguments\":\"{\\\"x\\\"\"}}]"),
                       DELTA("\"tool_calls\":[{\"index\":0,\"id\":\"\",\"function\":"
                             "{\"name\":null,\"arguments\":\":1}\"}},"
                             "{\"index\":1,\"function\":{\"arguments\":\"{}\"}}]")),
                TOKEN,
                CHAT("\"content\":null,\"tool_calls\":["
                     "{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"},"
                     "\"type\":\"function\"},"
                     "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"g\","
                     "\"arguments\":\"{}\"}}]",
                     ""));
        /* Without an index: by the id, else the last. */
        check_stream(
                EVENTS(DELTA("\"tool_calls\":[{\"id\":\"a\",\"function\":{\"arguments\":\"1\"}}]"),
                       DELTA("\"tool_calls\":[{\"id\":\"b\",\"function\":{\"arguments\":"
                             "\"2\"}}]"),
                       DELTA("\"tool_calls\":[{\"function\":{\"arguments\":\"3\"}},"
                             "{\"id\":\"a\",\"function\":{\"arguments\":\"4\"}}]")),
                TOKEN,
                CHAT("\"content\":null,\"tool_calls\":["
                     "{\"id\":\"a\",\"function\":{\"arguments\":\"14\"},\"type\":\"function\"},"
                     "{\"id\":\"b\",\"function\":{\"arguments\":\"23\"},\"type\":"
                     "\"function\"}]",
                     ""));
        check_stream(EVENTS(DELTA("\"function_call\":{\"name\":\"f\",\"arguments\":\"[\"}"),
                            DELTA("\"function_call\":{\"arguments\":\"]\"}")),
                     TOKEN,
                     CHAT("\"content\":null,\"function_call\":{\"name\":\"f\",\"arguments\":"
                          "\"[]\"}",
                          ""));
}

TEST(items_of_logprobs_are_appended)
{
        check_stream(EVENTS(CHOICE("\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":"
                                   "[{\"token\":\"a\"}],\"refusal\":null}"),
                            CHOICE("\"delta\":{},\"logprobs\":null"),
                            CHOICE("\"delta\":{\"content\":\"b\"},\"logprobs\":"
                                   "{\"content\":[{\"token\":\"b\"},{\"token\":\"c\"}],"
                                   "\"refusal\":null}")),
                     TOKEN,
                     CHAT("\"content\":\"ab\"",
                          ",\"logprobs\":{\"content\":[{\"token\":\"a\"},{\"token\":\"b\"},"
                          "{\"token\":\"c\"}],\"refusal\":null}"));
}

TEST(unknown_members_are_kept_and_the_last_wins)
{
        check_stream(
                EVENTS(CHOICE("\"delta\":{\"x\":\"1\",\"y\":[1],\"z\":{\"a\":1}},\"stop_reason\":5,"
                              "\"filters\":{\"hate\":{\"on\":true}}"),
                       CHOICE("\"delta\":{\"x\":\"2\",\"y\":[2],\"z\":{\"b\":2}},"
                              "\"stop_reason\":6,\"filters\":{}")),
                TOKEN,
                CHAT("\"content\":null,\"x\":\"2\",\"y\":[1,2],\"z\":{\"a\":1,\"b\":2}",
                     ",\"stop_reason\":6,\"filters\":{\"hate\":{\"on\":true}}"));
        /* Details of reasoning, by their index. Content as an array, then as a string. */
        check_stream(EVENTS(DELTA("\"reasoning_details\":[{\"index\":0,\"format\":\"f\",\"text\":"
                                  "\"a\"}]"),
                            DELTA("\"reasoning_details\":[{\"index\":0,\"format\":\"f\","
                                  "\"text\":\"b\"}]")),
                     TOKEN,
                     CHAT("\"content\":null,\"reasoning_details\":[{\"index\":0,\"format\":\"f\","
                          "\"text\":\"ab\"}]",
                          ""));
        check_stream(
                EVENTS(DELTA("\"content\":[{\"type\":\"thinking\"}]"), DELTA("\"content\":\"a\"")),
                TOKEN, CHAT("\"content\":[{\"type\":\"thinking\"},\"a\"]", ""));
        check_stream(EVENTS(DELTA("\"content\":\"a\""), DELTA("\"content\":[5]")), TOKEN,
                     CHAT("\"content\":[\"a\",5]", ""));
}

TEST(choices_are_assembled_by_index_and_all_must_finish)
{
        static const char one[] = CHUNK(
                "\"object\":\"text_completion\",\"choices\":[{\"text\":\"b\",\"index\":1,"
                "\"logprobs\":null,\"finish_reason\":null}]")
                CHUNK("\"object\":\"text_completion\",\"choices\":[{\"text\":\"a\",\"index\":0,"
                      "\"logprobs\":{\"tokens\":[\"a\"]},\"finish_reason\":\"stop\"}]");
        char stream[1024];
        struct ed_assembly *assembly = assemble(one, 0);

        CHECK(!ed_assembly_is_whole(assembly));
        ed_assembly_free(assembly);
        snprintf(stream, sizeof(stream), "%s%s", one,
                 CHUNK("\"choices\":[{\"text\":\"B\",\"index\":1,\"finish_reason\":\"length\"}]")
                         CHUNK("\"choices\":[{\"text\":\"\",\"index\":1,\"finish_reason\":"
                               "\"length\"}]"));
        check_stream(EVENTS(stream), WHOLE | TOKEN,
                     "{\"object\":\"text_completion\",\"choices\":["
                     "{\"index\":0,\"finish_reason\":\"stop\",\"text\":\"a\",\"logprobs\":"
                     "{\"tokens\":[\"a\"]}},"
                     "{\"index\":1,\"finish_reason\":\"length\",\"text\":\"bB\",\"logprobs\":"
                     "null}]}");
}

TEST(role_alone_is_not_a_token_and_a_stream_without_an_end_is_not_whole)
{
        check_stream(EVENTS(DELTA("\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[]")), 0,
                     CHAT("\"content\":\"\",\"tool_calls\":[]", ""));
        check_stream(EVENTS(DELTA("\"content\":\"a\""), "data: [DONE]\n\n"), WHOLE | TOKEN,
                     CHAT("\"content\":\"a\"", ""));
}

TEST(responses_end_with_the_whole_response)
{
        static const char stream[] =
                "event: response.created\ndata: {\"type\":\"response.created\",\"response\":"
                "{\"id\":\"r\",\"status\":\"in_progress\",\"error\":null}}\n\n"
                "event: response.output_text.delta\ndata: {\"type\":"
                "\"response.output_text.delta\",\"delta\":\"a\"}\n\n";
        struct ed_assembly *assembly = assemble(stream, 0);
        struct ed_draft body = { 0 };
        char whole[1024];
        size_t bytes;

        CHECK(!ed_assembly_is_whole(assembly));
        CHECK_EQ(ed_assembly_write(assembly, &body), -EBADMSG);
        ed_assembly_free(assembly);
        snprintf(whole, sizeof(whole), "%s%s", stream,
                 CHUNK("\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"error\":null,"
                       "\"status\":\"completed\"},\"sequence_number\":9"));
        check_stream(EVENTS(whole), WHOLE | TOKEN,
                     "{\"id\":\"r\",\"error\":null,\"status\":\"completed\"}");
        /* The type may be in the stream only. */
        check_stream(EVENTS("event: response.incomplete\ndata: {\"response\":{\"id\":\"r\"}}\n\n"),
                     WHOLE, "{\"id\":\"r\"}");
        assembly = assemble(CHUNK("\"type\":\"response.failed\",\"response\":{\"error\":"
                                  "{\"code\":\"server_error\"}}"),
                            0);
        CHECK(ed_assembly_is_whole(assembly));
        check_body(assembly, "{\"error\":{\"code\":\"server_error\"}}");
        CHECK(memcmp(ed_assembly_error(assembly, &bytes), "{\"code\":\"server_error\"}", 23) == 0);
        CHECK_EQ(bytes, 23);
        ed_assembly_free(assembly);
}

#define NAMED(type, members) "event: " type "\ndata: {\"type\":\"" type "\"" members "}\n\n"
#define BLOCK(index, members)                                                                      \
        NAMED("content_block_start", ",\"index\":" index ",\"content_block\":{" members "}")
#define PIECE(index, members)                                                                      \
        NAMED("content_block_delta", ",\"index\":" index ",\"delta\":{" members "}")
#define STOP(index) NAMED("content_block_stop", ",\"index\":" index)

TEST(messages_of_anthropic_are_assembled)
{
        check_stream(
                EVENTS(NAMED("message_start",
                             ",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":"
                             "\"assistant\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_"
                             "tokens\":25,\"output_tokens\":1}}"),
                       NAMED("ping", ""),
                       BLOCK("0", "\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\""),
                       PIECE("0", "\"type\":\"thinking_delta\",\"thinking\":\"h\""),
                       PIECE("0", "\"type\":\"thinking_delta\",\"thinking\":\"m\""),
                       PIECE("0", "\"type\":\"signature_delta\",\"signature\":\"s\""), STOP("0"),
                       BLOCK("1", "\"type\":\"text\",\"text\":\"\""),
                       PIECE("1", "\"type\":\"text_delta\",\"text\":\"a\""),
                       PIECE("1", "\"type\":\"text_delta\",\"text\":\"b\""),
                       PIECE("1", "\"type\":\"citations_delta\",\"citation\":{\"n\":1}"),
                       PIECE("1", "\"type\":\"citations_delta\",\"citation\":{\"n\":2}"), STOP("1"),
                       BLOCK("2", "\"type\":\"tool_use\",\"id\":\"t\",\"input\":{}"),
                       PIECE("2", "\"type\":\"input_json_delta\",\"partial_json\":\"\""),
                       PIECE("2",
                             "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\\ud83d\""),
                       PIECE("2", "\"type\":\"input_json_delta\",\"partial_json\":\"\\\\ude00\\\": "
                                  "1}\""),
                       STOP("2"), BLOCK("3", "\"type\":\"tool_use\",\"input\":{}"),
                       PIECE("3", "\"type\":\"input_json_delta\",\"partial_json\":\"\""), STOP("3"),
                       BLOCK("4", "\"type\":\"tool_use\",\"input\":{}"),
                       PIECE("4", "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"cut\""),
                       STOP("4"),
                       NAMED("message_delta",
                             ",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_"
                             "tokens\":15},\"context_management\":{\"a\":1}"),
                       NAMED("message_stop", "")),
                WHOLE | TOKEN,
                "{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
                "\"thinking\","
                "\"thinking\":\"hm\",\"signature\":\"s\"},{\"type\":\"text\",\"text\":\"ab\","
                "\"citations\":[{\"n\":1},{\"n\":2}]},{\"type\":\"tool_use\",\"id\":\"t\","
                "\"input\":{\"x\\ud83d\\ude00\": 1}},{\"type\":\"tool_use\",\"input\":{}},"
                "{\"type\":\"tool_use\",\"input\":{},\"partial_json\":\"{\\\"cut\"}],"
                "\"stop_reason\":\"max_tokens\",\"usage\":{\"input_tokens\":25,"
                "\"output_tokens\":15},\"context_management\":{\"a\":1}}");
}

#define PARTS(parts, rest) CHUNK("\"candidates\":[{\"content\":{\"parts\":[" parts "]" rest "}]")

TEST(candidates_of_gemini_are_assembled)
{
        check_stream(
                EVENTS(PARTS("{\"text\":\"hm\",\"thought\":true}", ",\"role\":\"model\"}"),
                       PARTS("{\"text\":\"m\",\"thought\":true}", "}"),
                       PARTS("{\"text\":\"a\"}", "}"),
                       PARTS("{\"text\":\"b\"},{\"functionCall\":{\"name\":\"f\"}}", "}"),
                       PARTS("{\"text\":\"c\"}", "},\"index\":0,\"finishReason\":null"),
                       CHUNK("\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":"
                             "{\"promptTokenCount\":1}")),
                WHOLE | TOKEN,
                "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hmm\",\"thought\":true},"
                "{\"text\":\"ab\"},{\"functionCall\":{\"name\":\"f\"}},{\"text\":\"c\"}],"
                "\"role\":\"model\"},\"index\":0,\"finishReason\":\"STOP\"}],"
                "\"usageMetadata\":{\"promptTokenCount\":1}}");
        check_stream(EVENTS(PARTS("{\"text\":\"a\"}", "}")), TOKEN,
                     "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}");
        /* The prompt was refused. */
        check_stream(EVENTS(CHUNK("\"promptFeedback\":{\"blockReason\":\"SAFETY\"}")), WHOLE,
                     "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}");
}

#define COHERE(type, rest) CHUNK("\"type\":\"" type "\"," rest)
#define COHERE_PIECE(type, index, members)                                                         \
        COHERE(type, "\"index\":" index ",\"delta\":{\"message\":{" members "}}")

TEST(chat_of_cohere_is_assembled)
{
        check_stream(
                EVENTS(COHERE("message-start", "\"id\":\"c\",\"delta\":{\"message\":{\"role\":"
                                               "\"assistant\",\"content\":[]}}"),
                       COHERE("tool-plan-delta", "\"delta\":{\"message\":{\"tool_plan\":\"p\"}}"),
                       COHERE("tool-plan-delta", "\"delta\":{\"message\":{\"tool_plan\":\"q\"}}"),
                       COHERE_PIECE("content-start", "0",
                                    "\"content\":{\"type\":\"text\",\"text\":\"\"}"),
                       COHERE_PIECE("content-delta", "0", "\"content\":{\"text\":\"a\"}"),
                       COHERE_PIECE("content-delta", "0", "\"content\":{\"text\":\"b\"}"),
                       COHERE("content-end", "\"index\":0"),
                       COHERE_PIECE("tool-call-start", "0",
                                    "\"tool_calls\":{\"id\":\"t\",\"function\":{\"name\":\"f\","
                                    "\"arguments\":\"\"}}"),
                       COHERE_PIECE("tool-call-delta", "0",
                                    "\"tool_calls\":{\"function\":{\"arguments\":\"{}\"}}"),
                       COHERE("message-end", "\"delta\":{\"finish_reason\":\"COMPLETE\",\"usage\":"
                                             "{\"tokens\":{\"input_tokens\":1}}}"),
                       "data: not taken\n\n"),
                WHOLE | TOKEN,
                "{\"id\":\"c\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
                "\"text\":\"ab\"}],\"tool_plan\":\"pq\",\"tool_calls\":[{\"id\":\"t\","
                "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
                "\"finish_reason\":\"COMPLETE\",\"usage\":{\"tokens\":{\"input_tokens\":1}}}");
        check_stream(EVENTS(COHERE_PIECE("content-delta", "0", "\"content\":{\"text\":\"a\"}")),
                     TOKEN, "{\"message\":{\"content\":[{\"text\":\"a\"}]}}");
}

#define OLLAMA(message, rest) CHUNK("\"model\":\"m\",\"message\":{" message "}," rest)

TEST(lines_of_ollama_are_assembled)
{
        check_stream(
                EVENTS(OLLAMA("\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"h\"",
                              "\"done\":false"),
                       OLLAMA("\"content\":\"a\",\"thinking\":\"m\",\"tool_calls\":[{\"n\":1}]",
                              "\"done\":false"),
                       OLLAMA("\"content\":\"b\",\"tool_calls\":[{\"n\":2}]", "\"done\":false"),
                       OLLAMA("\"content\":\"\"", "\"done\":true,\"eval_count\":2")),
                WHOLE | TOKEN,
                "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"ab\","
                "\"thinking\":\"hm\",\"tool_calls\":[{\"n\":1},{\"n\":2}]},\"done\":true,"
                "\"eval_count\":2}");
        check_stream(EVENTS(CHUNK("\"response\":\"a\",\"done\":false"),
                            CHUNK("\"response\":\"b\",\"done\":false")),
                     TOKEN, "{\"response\":\"ab\",\"done\":false}");
}

TEST(errors_in_a_stream_are_reported)
{
        static const struct {
                const char *stream;
                const char *report; /* NULL: none */
        } cases[] = {
                { "data: {\"error\":{\"code\":5}}\n\n", "{\"code\":5}" },
                { "data: {\"error\":\"bad\",\"choices\":[]}\n\n", "\"bad\"" },
                { "data: {\"error\":true,\"m\":1}\n\n", "{\"error\":true,\"m\":1}" },
                { "data: {\"object\":\"error\",\"m\":1}\n\n", "{\"object\":\"error\",\"m\":1}" },
                { "event: error\ndata: {\"m\":1}\n\n", "{\"m\":1}" },
                { "event: error\ndata: oh \"no\"\n\n", "\"oh \\\"no\\\"\"" },
                { "data: {\"type\":\"error\",\"code\":\"c\"}\n\n",
                  "{\"type\":\"error\",\"code\":\"c\"}" },
                { NAMED("error", ",\"error\":{\"type\":\"overloaded_error\"}"),
                  "{\"type\":\"overloaded_error\"}" },
                { "data: <html>\n\n", NULL },
                { "data: 5\n\n", NULL },
                { "data: {\"choices\":[\n\n", NULL },
                { "data: {\"choices\":[{\"index\":-1,\"delta\":{}}]}\n\n", NULL },
                { NAMED("content_block_delta", ",\"delta\":{}"), NULL },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ed_assembly *assembly = assemble(cases[i].stream, -EBADMSG);
                size_t bytes = 0;
                const char *report = ed_assembly_error(assembly, &bytes);

                CHECK_EQ(report != NULL, cases[i].report != NULL);
                if (report) {
                        CHECK_EQ(bytes, strlen(cases[i].report));
                        CHECK(memcmp(report, cases[i].report, bytes) == 0);
                }
                CHECK_EQ(ed_assembly_take(assembly, "", "[DONE]", 6), -EBADMSG);
                CHECK(!ed_assembly_is_whole(assembly));
                ed_assembly_free(assembly);
        }
        check_stream(EVENTS(CHUNK("\"error\":null,\"choices\":[]"), CHUNK("\"error\":{}")), 0,
                     "{\"error\":{},\"choices\":[]}");
}

TEST(streams_of_an_unknown_kind_are_not_assembled)
{
        static const char *const streams[] = {
                "",
                "data: [DONE]\n\n",
                "data:\n\ndata:  \n\n: keep-alive\n\n",
                "data: {\"type\":\"other\",\"text\":\"a\"}\n\n",
                "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        };

        for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
                struct ed_assembly *assembly = assemble(streams[i], 0);
                struct ed_draft body = { 0 };

                CHECK_EQ(ed_assembly_write(assembly, &body), -EBADMSG);
                CHECK_EQ(body.bytes, 0);
                ed_assembly_free(assembly);
        }
        /* Members of a first chunk without choices are kept. */
        check_stream(EVENTS(CHUNK("\"id\":\"a\""), CHUNK("\"choices\":[]")), 0,
                     "{\"id\":\"a\",\"choices\":[]}");
}

/* Take events with a number between 'before' and 'after' until an error. Returns how many. */
static int take_until(const char *before, const char *after, int max, int expected)
{
        struct ed_assembly *assembly;
        struct ed_draft body = { 0 };
        char event[256];
        int i, err = 0;

        CHECK_EQ(ed_assembly_new(&assembly), 0);
        for (i = 0; err == 0 && i < max; i++) {
                int n = snprintf(event, sizeof(event), "%s%d%s", before, i, after);

                err = ed_assembly_take(assembly, "", event, (size_t) n);
        }
        CHECK_EQ(err, expected);
        CHECK_EQ(ed_assembly_write(assembly, &body), expected);
        ed_draft_fini(&body);
        ed_assembly_free(assembly);
        return i;
}

TEST(choices_and_calls_and_members_have_a_maximum)
{
        CHECK_EQ(take_until("{\"choices\":[{\"index\":", ",\"delta\":{}}]}", 128, 0), 128);
        CHECK_EQ(take_until("{\"choices\":[{\"index\":", ",\"delta\":{}}]}", 999, -EMSGSIZE), 129);
        CHECK_EQ(take_until("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":",
                            "}]}"
                            "}]}",
                            9999, -EMSGSIZE),
                 1025);
        CHECK_EQ(take_until("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"id\":\"",
                            "\"}]"
                            "}}]}",
                            9999, -EMSGSIZE),
                 1025);
        CHECK_EQ(take_until("{\"choices\":[],\"m", "\":0}", 999, -EMSGSIZE), 256);
        CHECK_EQ(take_until("{\"type\":\"content_block_delta\",\"index\":", ",\"delta\":{}}", 9999,
                            -EMSGSIZE),
                 1025);
        /* Descending, and without bounds. */
        CHECK_EQ(take_until("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":"
                            "9",
                            "}]}}]}", 1024, 0),
                 1024);
        CHECK_EQ(take_until("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":"
                            "99999999999999999999",
                            "}]}}]}", 9999, 0),
                 9999);
}

enum { EVENT_BYTES = 1 << 20 };

TEST_ROOM(char, large_event, EVENT_BYTES);

TEST(assembled_bytes_have_a_maximum)
{
        static const char head[] = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
        static const char tail[] = "\"}}]}";
        struct ed_assembly *assembly;
        int i, err = 0;

        memset(large_event, 'x', EVENT_BYTES);
        memcpy(large_event, head, sizeof(head) - 1);
        memcpy(large_event + EVENT_BYTES - sizeof(tail) + 1, tail, sizeof(tail) - 1);
        CHECK_EQ(ed_assembly_new(&assembly), 0);
        for (i = 0; err == 0 && i < 100; i++)
                err = ed_assembly_take(assembly, "", large_event, EVENT_BYTES);
        CHECK_EQ(err, -EMSGSIZE);
        CHECK_EQ(i, 65);
        ed_assembly_free(assembly);
        /* A value that is replaced counts once. */
        memset(large_event, 'x', EVENT_BYTES);
        memcpy(large_event, "{\"choices\":[],\"id\":\"", 20);
        memcpy(large_event + EVENT_BYTES - 2, "\"}", 2);
        CHECK_EQ(ed_assembly_new(&assembly), 0);
        for (i = 0; i < 200; i++) {
                large_event[20] = (char) ('a' + i % 2);
                CHECK_EQ(ed_assembly_take(assembly, "", large_event, EVENT_BYTES), 0);
        }
        ed_assembly_free(assembly);
}

TEST(deep_events_are_refused_so_that_the_object_is_never_too_deep)
{
        static const char *const heads[] = {
                "{\"choices\":[{\"index\":0,\"delta\":{\"a\":",
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":",
        };

        for (size_t i = 0; i < 2; i++) {
                for (size_t depth = 1; depth < 200; depth++) {
                        struct ed_assembly *assembly;
                        struct ed_draft body = { 0 };
                        char event[2048];
                        size_t n = (size_t) snprintf(event, sizeof(event), "%s", heads[i]);

                        for (size_t k = 0; k < depth; k++, n += 5)
                                memcpy(event + n, "{\"a\":", 5);
                        event[n++] = '1';
                        memset(event + n, '}', depth);
                        n += depth;
                        n += (size_t) snprintf(event + n, sizeof(event) - n, "%s",
                                               i == 0 ? "}}]}" : "}");
                        CHECK_EQ(ed_assembly_new(&assembly), 0);
                        if (ed_assembly_take(assembly, "", event, n) == 0) {
                                CHECK_EQ(ed_assembly_write(assembly, &body), 0);
                                CHECK_EQ(eddy_json_check(body.data, body.bytes, NULL, NULL), 0);
                        } else {
                                CHECK(depth > 100);
                        }
                        ed_draft_fini(&body);
                        ed_assembly_free(assembly);
                }
        }
}

TEST(each_allocation_may_fail)
{
        static const char *const events[] = {
                "{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"abc\","
                "\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"arguments\":\"{\"}}]}}]"
                "}",
                "{\"choices\":[{\"index\":1,\"delta\":{\"content\":[1,2]},\"logprobs\":"
                "{\"content\":[{\"token\":\"abcdefghijklmnopqrstuvwxyz\"}]}}]}",
                "{\"choices\":[{\"index\":0,\"delta\":{\"content\":[3]}}],\"usage\":{}}",
                "{\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":{\"a\":1}}}",
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"input\":{}}}",
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":"
                "\"[1]\"}}",
                "{\"type\":\"content_block_stop\",\"index\":0}",
                "{\"type\":\"message_delta\",\"usage\":{\"b\":1}}",
                "{\"error\":{\"a\":1}}",
        };
        const size_t count = sizeof(events) / sizeof(events[0]);

        eddy_alloc_set(starve, NULL);
        for (size_t from = 0; from < 4; from += 3) {
                int n = 0, err = -ENOMEM;

                for (; err == -ENOMEM && n < 500; n++) {
                        struct ed_assembly *assembly = NULL;
                        struct ed_draft body = { 0 };
                        size_t bytes;

                        allocations_left = n;
                        err = ed_assembly_new(&assembly);
                        for (size_t i = from; err == 0 && i < count; i++)
                                err = ed_assembly_take(assembly, "", events[i], strlen(events[i]));
                        if (err == -ENOMEM && assembly) {
                                CHECK(ed_assembly_error(assembly, &bytes) == NULL);
                                (void) !ed_assembly_write(assembly, &body);
                        }
                        ed_draft_fini(&body);
                        ed_assembly_free(assembly);
                }
                CHECK_EQ(err, -EBADMSG);
                CHECK(n > 15);
        }
}
