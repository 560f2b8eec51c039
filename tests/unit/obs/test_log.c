/*
 * test_log.c - lines of a log: both formats, levels, context, repeats, cut lines, options.
 */
#include <errno.h>
#include <pthread.h>

#include "obs_test.h"

#define JSON(level, message, values)                                                               \
        "{\"time\":\"T\",\"level\":\"" level "\",\"message\":\"" message "\"" values "}\n"

/* --- formats --- */

static int log_json(void *arg)
{
        (void) arg;
        obs_open((struct eddy_log_opts){ .level = EDDY_LOG_DEBUG }, 0);
        eddy_log_debug(obs.log, "a");
        CHECK_STR(obs_lines(), JSON("debug", "a", ""));
        eddy_log_info(obs.log, "request \"served\"\n", eddy_log_str("path", "/users"),
                      eddy_log_int("status", 200), eddy_log_ms("ms", 1300000));
        CHECK_STR(obs_lines(), JSON("info", "request \\\"served\\\"\\n",
                                    ",\"path\":\"/users\",\"status\":200,\"ms\":1.3"));
        eddy_log_warning(obs.log, "b", eddy_log_bool("x", true));
        eddy_log_error(obs.log, "c", eddy_log_result("err", -EPIPE));
        CHECK_STR(obs_lines(), JSON("warning", "b", ",\"x\":true")
                                       JSON("error", "c", ",\"err\":\"EPIPE: Broken pipe\""));
        obs_close();
        return 0;
}

TEST(a_line_is_an_object_of_json)
{
        obs_run(log_json);
}

static int log_console(void *arg)
{
        (void) arg;
        obs_open((struct eddy_log_opts){ .level = EDDY_LOG_DEBUG, .format = EDDY_LOG_CONSOLE }, 0);
        eddy_log_debug(obs.log, "a");
        eddy_log_info(obs.log, "request\x1b[2J served", eddy_log_str("path", "/users"),
                      eddy_log_str("name", "A B"));
        eddy_log_warning(obs.log, "b");
        eddy_log_error(obs.log, "c", eddy_log_int("n", 1));
        CHECK_STR(obs_lines(), "T debug  a \n"
                               "T info   request\\u001b[2J served  path=/users name=\"A B\"\n"
                               "T warn   b \n"
                               "T error  c  n=1\n");
        obs_close();
        obs_open((struct eddy_log_opts){ .format = EDDY_LOG_COLOUR }, 0);
        eddy_log_error(obs.log, "c", eddy_log_int("n", 1));
        CHECK_STR(obs_lines(), "T \x1b[31merror\x1b[0m  c  \x1b[36mn\x1b[0m=1\n");
        obs_close();
        return 0;
}

TEST(a_line_on_a_terminal_is_for_people)
{
        obs_run(log_console);
}

static int log_long(void *arg)
{
        static char message[5000], value[20000];
        const char *text;
        eddy_log *log;
        size_t bytes;

        (void) arg;
        memset(message, '\x01', sizeof(message) - 1);
        memset(value, 'v', sizeof(value) - 1);
        for (int format = EDDY_LOG_JSON; format <= EDDY_LOG_COLOUR; format++) {
                obs_open((struct eddy_log_opts){ .format = format }, 0);
                log = obs.log;
                /* A message of 2,000 bytes; a value too long; values up to the end of the line. */
                eddy_log_info(log, message);
                text = obs_lines();
                CHECK_EQ(obs_count(text, "\\u0001"), 2000);
                eddy_log_info(log, "m", eddy_log_str("a", value), eddy_log_int("b", 1));
                text = obs_lines();
                CHECK(strstr(text, format == EDDY_LOG_JSON ? "\"m\",\"cut\":true}\n"
                                                           : "m  cut=true\n") != NULL);
                for (bytes = 16200; bytes < 16400; bytes++) {
                        size_t length;

                        eddy_log_info(log, "m", eddy_log_text("a", value, bytes));
                        CHECK_EQ(eddy_log_flush(log), 0);
                        length = strlen(obs_read());
                        CHECK(length <= EDDY_LOG_LINE_MAX);
                        CHECK_EQ(obs_count(obs.text, "\n"), 1);
                        CHECK((length > bytes) != (strstr(obs.text, "cut") != NULL));
                        if (format == EDDY_LOG_JSON)
                                CHECK_EQ(eddy_json_check(obs.text, length, NULL, NULL), 0);
                }
                obs_close();
        }
        return 0;
}

TEST(a_long_line_is_cut_between_values)
{
        obs_run(log_long);
}

static int log_cut_character(void *arg)
{
        static char message[3001];

        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 0);
        for (int first = 0; first < 3; first++) {
                memset(message, 'a', 3);
                for (int i = first; i + 3 <= 3000; i += 3)
                        memcpy(message + i, "\xe2\x82\xac", 3);
                eddy_log_info(obs.log, message);
                CHECK(strstr(obs_lines(), "\xef\xbf\xbd") == NULL);
                CHECK_EQ(obs_count(obs.text, "\xe2\x82\xac"), (2000 - first) / 3);
                CHECK(strstr(obs.text, "\"cut\":true") != NULL);
        }
        obs_close();
        return 0;
}

TEST(a_message_is_cut_between_characters)
{
        obs_run(log_cut_character);
}

static int log_garbage(void *arg)
{
        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 0);
        for (int i = 0; i < 2000; i++) {
                char message[20], value[20];

                for (size_t k = 0; k < sizeof(message); k++) {
                        message[k] = (char) eddy_test_chance(256);
                        value[k] = (char) eddy_test_chance(256);
                }
                message[sizeof(message) - 1] = '\0';
                eddy_log_info(obs.log, message, eddy_log_text("v", value, sizeof(value)));
                CHECK_EQ(eddy_log_flush(obs.log), 0);
                (void) obs_read();
                CHECK_EQ(obs_count(obs.text, "\n"), 1);
                CHECK_EQ(eddy_json_check(obs.text, obs.bytes, NULL, NULL), 0);
        }
        obs_close();
        return 0;
}

TEST(garbage_becomes_json)
{
        struct eddy_test_opts opts = { .seed = 7 };

        CHECK_EQ(eddy_test_run(log_garbage, NULL, &opts, NULL), 0);
}

/* --- levels --- */

static int log_levels(void *arg)
{
        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 0);
        for (int level = EDDY_LOG_DEBUG; level <= EDDY_LOG_NONE; level++) {
                eddy_log_set_level(obs.log, (enum eddy_log_level) level);
                eddy_log_debug(obs.log, "m");
                eddy_log_info(obs.log, "m");
                eddy_log_warning(obs.log, "m");
                eddy_log_error(obs.log, "m");
                CHECK_EQ(obs_count(obs_lines(), "\n"), EDDY_LOG_NONE - level);
                for (int of = EDDY_LOG_DEBUG; of <= EDDY_LOG_NONE; of++)
                        CHECK_EQ(eddy_log_has(obs.log, (enum eddy_log_level) of),
                                 of >= level && of < EDDY_LOG_NONE);
        }
        obs_close();
        return 0;
}

TEST(lower_levels_are_not_written)
{
        obs_run(log_levels);
}

static int log_null(void *arg)
{
        struct eddy_log_stats stats;

        (void) arg;
        eddy_log_info(NULL, "m", eddy_log_int("a", 1));
        eddy_log_set_level(NULL, EDDY_LOG_DEBUG);
        eddy_log_stats(NULL, &stats);
        CHECK_EQ(stats.lines, 0);
        CHECK(!eddy_log_has(NULL, EDDY_LOG_ERROR));
        CHECK_EQ(eddy_log_flush(NULL), 0);
        eddy_log_close(NULL);
        return 0;
}

TEST(a_null_log_is_ignored)
{
        obs_run(log_null);
}

static int use_foreign(void *arg)
{
        (void) arg;
        eddy_log_info(obs.log, "foreign");
        CHECK_EQ(eddy_log_flush(obs.log), EDDY_E_RUN_OTHER_LOOP);
        eddy_log_close(obs.log);
        return 0;
}

static void *run_foreign(void *arg)
{
        eddy_log_info(obs.log, "no loop");
        CHECK_EQ(eddy_run(use_foreign, arg, NULL), 0);
        return NULL;
}

static int log_on_two_loops(void *arg)
{
        pthread_t thread;

        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 0);
        CHECK_EQ(pthread_create(&thread, NULL, run_foreign, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        eddy_log_info(obs.log, "m");
        CHECK_STR(obs_lines(), JSON("info", "m", ""));
        obs_close();
        return 0;
}

TEST(other_loops_cannot_use_a_log)
{
        obs_run(log_on_two_loops);
}

static int open_badly(void *arg)
{
        struct eddy_log_opts bad[] = { { .level = -2 },
                                       { .level = 4 },
                                       { .format = -1 },
                                       { .format = 4 },
                                       { .buffer_bytes = EDDY_LOG_LINE_MAX },
                                       { .path = "/tmp/x", .stream = (eddy_stream *) 8 } };
        eddy_log *log = NULL;

        (void) arg;
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_EQ(eddy_log_open(&bad[i], &log), -EINVAL);
        CHECK(log == NULL);
        return 0;
}

TEST(options_out_of_range_are_refused)
{
        eddy_log *log;

        obs_run(open_badly);
        CHECK_EQ(eddy_log_open(NULL, &log), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_log_bind(eddy_log_int("a", 1)), EDDY_E_RUN_NOT_RUNNING);
}

/* --- context --- */

static int child(void *arg)
{
        (void) arg;
        eddy_log_info(obs.log, "child");
        CHECK_EQ(eddy_log_bind(eddy_log_str("user", "eve")), 0);
        eddy_log_info(obs.log, "child");
        return 0;
}

static int log_context(void *arg)
{
        eddy_scope scope;

        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 0);
        CHECK_EQ(eddy_log_bind(eddy_log_int("request", 7), eddy_log_str("user", "ada")), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, child, NULL);
        CHECK_EQ(eddy_log_bind(eddy_log_int("request", 8)), 0); /* the child has 7 */
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_log_info(obs.log, "m", eddy_log_int("a", 1));
        CHECK_STR(obs_lines(),
                  JSON("info", "child", ",\"request\":7,\"user\":\"ada\"")
                          JSON("info", "child", ",\"request\":7,\"user\":\"eve\"")
                                  JSON("info", "m", ",\"user\":\"ada\",\"request\":8,\"a\":1"));
        eddy_log_info(obs.log, "m", eddy_log_int("a", 1), eddy_log_str("user", "x"));
        CHECK_STR(obs_lines(), JSON("info", "m", ",\"request\":8,\"a\":1,\"user\":\"x\""));
        CHECK_EQ(eddy_log_unbind(), 0);
        eddy_log_info(obs.log, "m");
        CHECK_STR(obs_lines(), JSON("info", "m", ""));
        CHECK_EQ(eddy_log_bind(eddy_log_int("level", 1)), 0);
        CHECK_EQ(eddy_log_bind(eddy_log_int("level", 2)), 0);
        eddy_log_info(obs.log, "m");
        CHECK_STR(obs_lines(), JSON("info", "m", ",\"level_\":2"));
        eddy_log_info(obs.log, "m", eddy_log_int("level", 3));
        CHECK_STR(obs_lines(), JSON("info", "m", ",\"level_\":3"));
        obs_close();
        return 0;
}

TEST(context_is_inherited_and_a_later_value_wins)
{
        obs_run(log_context);
}

static int log_much_context(void *arg)
{
        static char big[EDDY_LOG_CONTEXT_MAX];
        size_t fits = EDDY_LOG_CONTEXT_MAX - strlen(",\"a\":\"\"");

        (void) arg;
        memset(big, 'b', sizeof(big));
        CHECK_EQ(eddy_log_bind(eddy_log_text("a", big, fits + 1)), -ENOSPC);
        CHECK_EQ(eddy_log_bind(eddy_log_text("a", big, fits)), 0);
        CHECK_EQ(eddy_log_bind(eddy_log_int("b", 1)), -ENOSPC);
        obs_open((struct eddy_log_opts){ 0 }, 0);
        eddy_log_info(obs.log, "m");
        CHECK_EQ(obs_count(obs_lines(), "b"), (int) fits);
        /* The same key needs no further room. */
        CHECK_EQ(eddy_log_bind(eddy_log_text("a", big, fits)), 0);
        obs_close();
        CHECK_EQ(eddy_log_unbind(), 0);
        return 0;
}

TEST(context_is_bounded)
{
        obs_run(log_much_context);
}

/* --- repeats --- */

static int log_repeats(void *arg)
{
        struct eddy_log_stats stats;

        (void) arg;
        obs_open((struct eddy_log_opts){ .repeats_max = 2 }, 0);
        /* A second begins. */
        CHECK_EQ(eddy_sleep(EDDY_SEC(1) - eddy_now() % EDDY_SEC(1)), 0);
        for (int i = 0; i < 5; i++) {
                eddy_log_info(obs.log, "again", eddy_log_int("i", i));
                eddy_log_error(obs.log, "again", eddy_log_int("i", i));
        }
        CHECK_STR(obs_lines(),
                  JSON("info", "again", ",\"i\":0") JSON("error", "again", ",\"i\":0")
                          JSON("info", "again", ",\"i\":1") JSON("error", "again", ",\"i\":1"));
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        eddy_log_info(obs.log, "again");
        CHECK_STR(obs_lines(), JSON("warning", "repeated log lines were left out",
                                    ",\"count\":3,\"of\":\"again\"") JSON("info", "again", ""));
        eddy_log_stats(obs.log, &stats);
        CHECK_EQ(stats.repeats, 6);
        CHECK_EQ(stats.lines, 5);
        eddy_log_close(obs.log); /* reports those of the error */
        (void) obs_read();
        CHECK_EQ(obs_count(obs.text, "\"count\":3,\"of\":\"again\""), 1);
        eddy_stream_close(obs.near);
        eddy_stream_close(obs.far);
        return 0;
}

TEST(repeated_lines_are_left_out_and_counted)
{
        obs_run(log_repeats);
}

static int log_in_turn(void *arg)
{
        /* Several pairs have the same place in the table. */
        static const char *const messages[] = {
                "request served", "request begins", "cache is slow",  "connection refused",
                "job started",    "job done",       "queue is full",  "connection lost",
                "job failed",     "timeout",        "user logged in", "retrying",
        };
        size_t n = sizeof(messages) / sizeof(messages[0]);

        (void) arg;
        obs_open((struct eddy_log_opts){ .repeats_max = 2 }, 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1) - eddy_now() % EDDY_SEC(1)), 0);
        for (size_t i = 0; i < 5 * n; i++)
                eddy_log_info(obs.log, messages[i % n]);
        CHECK_EQ(obs_count(obs_lines(), "\n"), 2 * n);
        obs_close();
        return 0;
}

TEST(messages_in_turn_have_each_their_own_limit)
{
        obs_run(log_in_turn);
}

static int log_many_messages(void *arg)
{
        char message[16];

        (void) arg;
        obs_open((struct eddy_log_opts){ .repeats_max = 1, .buffer_bytes = 1 << 20 }, 0);
        for (int i = 0; i < 1000; i++) {
                snprintf(message, sizeof(message), "message %d", i);
                eddy_log_info(obs.log, message);
                CHECK(strstr(obs_lines(), message) != NULL);
        }
        obs_close();
        return 0;
}

TEST(other_messages_are_never_left_out)
{
        obs_run(log_many_messages);
}
