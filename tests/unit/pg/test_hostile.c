/*
 * Hostile servers: lengths, errors at each step of a log-in, floods, bytes before TLS, wrong SCRAM,
 * copies that are ended, messages out of place. Each ends with an error that has a text, or with the
 * deadline; memory is bounded. Answers are read in any pieces.
 */
#include "eddy/pg_pipeline.h"
#include "eddy/pg_stream.h"
#include "io/dns.h"
#include "pg_fake.h"

enum { RESULT_MAX = 1 << 20, MEMORY_MAX = 12 << 20, ANY_END = 1, ANY_ERROR = 2 };

#define LONG_NS  EDDY_SEC(60) /* an error is expected, on any machine */
#define SHORT_NS EDDY_MS(30)  /* the deadline is expected */

static struct pg_bytes script;
static struct eddy_pg_fault fault;

static struct pg_bytes *begin(void)
{
        script.bytes = 0;
        script.is_repeated = false;
        script.repeat_from = 0;
        return &script;
}

/* A text that can be shown, without the password. */
static void check_text(const char *what, const char *text)
{
        size_t n = strlen(text);

        for (size_t i = 0; i < n; i++)
                if ((unsigned char) text[i] < ' ')
                        test_fail(__FILE__, __LINE__, "%s: a control character", what);
        if (n == 0 || strstr(text, "sesame"))
                test_fail(__FILE__, __LINE__, "%s: \"%s\"", what, text);
}

/* --- log-ins --- */

static int connect_within(struct pg_fake *fake, const char *more, int64_t timeout_ns,
                          eddy_pg **ret_pg)
{
        char conninfo[300];
        struct eddy_pg_opts opts = { .conninfo = conninfo,
                                     .result_max = RESULT_MAX,
                                     .cancel_timeout_ns = EDDY_MS(20),
                                     .ret_fault = &fault };
        int err;

        memset(&fault, 0, sizeof(fault));
        snprintf(conninfo, sizeof(conninfo), "%s %s", fake->conninfo, more);
        EDDY_SCOPE (limit, &err, .timeout_ns = timeout_ns) {
                err = eddy_pg_connect(&opts, ret_pg);
        }
        return err;
}

/* A log-in that fails. */
static void log_in(struct pg_fake *fake, const char *what, const char *more, int expected)
{
        size_t before = pg_held();
        eddy_scope scope;
        eddy_pg *pg = NULL;
        int err;

        eddy_scope_begin(&scope, NULL);
        pg_fake_start(fake, &scope);
        err = connect_within(fake, more, expected == EDDY_E_PG_CONNECT ? LONG_NS : SHORT_NS, &pg);
        /* Without the memory for what it says, libpq does not wait for it. */
        if (expected == ANY_END && (err == -ETIMEDOUT || err == EDDY_E_PG_CONNECT))
                expected = err;
        if (err != expected)
                test_fail(__FILE__, __LINE__, "%s: %s: %s", what, eddy_error_name(err), fault.text);
        if (err == EDDY_E_PG_CONNECT)
                check_text(what, fault.text);
        CHECK(!pg);
        pg_fake_stop(fake, &scope);
        if (fake->held_max > before + MEMORY_MAX)
                test_fail(__FILE__, __LINE__, "%s: %zu bytes", what, fake->held_max - before);
}

/* In one piece, and byte by byte. */
static void log_in_by(const struct pg_bytes *login, const char *what, int expected)
{
        struct pg_fake whole = { .login = login }, bytes = { .login = login, .piece = 1 };

        log_in(&whole, what, "", expected);
        log_in(&bytes, what, "", expected);
}

struct message {
        const char *what;
        char type;
        int64_t length; /* 0: that of the body */
        const char *body;
        size_t bytes;
        int expected;
};

#define BODY(text) (text), sizeof(text) - 1

static void put_message(struct pg_bytes *out, const struct message *message)
{
        int64_t length = message->length ? message->length : (int64_t) message->bytes + 4;

        pg_put_lying(out, message->type, length, message->body, message->bytes);
}

static int first_run(void *arg)
{
        static const struct message list[] = {
                { "a negative length", 'R', -1, BODY("\0\0\0\0"), EDDY_E_PG_CONNECT },
                { "the longest length", 'R', INT32_MAX, BODY("\0\0\0\0"), EDDY_E_PG_CONNECT },
                { "the least length", 'R', INT32_MIN, BODY("\0\0\0\0"), EDDY_E_PG_CONNECT },
                { "a length without its own", 'R', 3, BODY("\0\0\0\0"), EDDY_E_PG_CONNECT },
                { "no method", 'R', 4, BODY(""), EDDY_E_PG_CONNECT },
                { "a method that is not known", 'R', 0, BODY("\0\0\0\143"), EDDY_E_PG_CONNECT },
                { "GSS", 'R', 0, BODY("\0\0\0\7"), EDDY_E_PG_CONNECT },
                { "GSS that goes on", 'R', 0, BODY("\0\0\0\10abc"), EDDY_E_PG_CONNECT },
                { "SSPI", 'R', 0, BODY("\0\0\0\11"), EDDY_E_PG_CONNECT },
                { "no mechanism", 'R', 0, BODY("\0\0\0\12\0"), EDDY_E_PG_CONNECT },
                { "a mechanism without end", 'R', 0, BODY("\0\0\0\12SCRAM"), EDDY_E_PG_CONNECT },
                { "another mechanism", 'R', 0, BODY("\0\0\0\12PLAIN\0"), EDDY_E_PG_CONNECT },
                { "SCRAM-PLUS without TLS", 'R', 0, BODY("\0\0\0\12SCRAM-SHA-256-PLUS\0"),
                  EDDY_E_PG_CONNECT },
                { "SCRAM that goes on", 'R', 0, BODY("\0\0\0\13r=x"), EDDY_E_PG_CONNECT },
                { "SCRAM that ends", 'R', 0, BODY("\0\0\0\14v=x"), EDDY_E_PG_CONNECT },
                { "MD5 without its salt", 'R', 0, BODY("\0\0\0\5"), EDDY_E_PG_CONNECT },
                { "an error of a negative length", 'E', -5, BODY("no\0"), EDDY_E_PG_CONNECT },
                { "an error without fields", 'E', 0, BODY("\0"), EDDY_E_PG_CONNECT },
                { "an error without ends", 'E', 0, BODY("Sx"), EDDY_E_PG_CONNECT },
                { "a notice", 'N', 0, BODY("SNOTICE\0Mhello\0\0"), EDDY_E_PG_CONNECT },
                { "a message that is not known", '?', 0, BODY("abc"), EDDY_E_PG_CONNECT },
                { "another version", 'v', 0, BODY("\0\3\0\0\0\0\0\0"), EDDY_E_PG_CONNECT },
                { "a web server", 'H', 1414680655, BODY("/1.1 400 Bad Request\r\n"),
                  EDDY_E_PG_CONNECT },
                { "half a message", 'R', 100, BODY("\0\0\0\12"), -ETIMEDOUT },
        };

        (void) arg;
        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
                put_message(begin(), &list[i]);
                log_in_by(&script, list[i].what, list[i].expected);
        }
        return 0;
}

TEST(a_first_answer_that_is_not_valid_is_refused)
{
        io_run_and_wait(first_run);
}

static int later_run(void *arg)
{
        static const struct message list[] = {
                { "a key that is too short", 'K', 0, BODY("\0\0\0\1"), -ETIMEDOUT },
                { "a setting without end", 'S', 0, BODY("name"), -ETIMEDOUT },
                { "a row", 'D', 0, BODY("\0\1\0\0\0\1x"), -ETIMEDOUT },
                { "a negative row", 'D', -2, BODY("\0\1"), EDDY_E_PG_CONNECT },
                { "columns", 'T', 0, BODY("\0\0"), EDDY_E_PG_CONNECT },
                { "a copy", 'G', 0, BODY("\0\0\0"), EDDY_E_PG_CONNECT },
                { "an error", 'E', 0, BODY("SFATAL\0C57P03\0Mstarting up\0\0"), EDDY_E_PG_CONNECT },
                { "a message that is not known", '?', 0, BODY("abc"), EDDY_E_PG_CONNECT },
                { "a huge message that is not known", '?', INT32_MAX, BODY("a"),
                  EDDY_E_PG_CONNECT },
                { "a second question", 'R', 0, BODY("\0\0\0\3"), EDDY_E_PG_CONNECT },
                { "nothing more", 'N', 0, BODY("SNOTICE\0Mhello\0\0"), -ETIMEDOUT },
                { "a huge notice", 'N', INT32_MAX, BODY("SNOTICE\0Mhello\0\0"), ANY_END },
        };

        (void) arg;
        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
                pg_put(begin(), 'R', "\0\0\0", 4);
                put_message(&script, &list[i]);
                log_in_by(&script, list[i].what, list[i].expected);
        }
        return 0;
}

TEST(a_log_in_that_goes_wrong_after_its_first_answer_is_refused)
{
        io_run_and_wait(later_run);
}

/* Puts an error instead of, and after, each message of a log-in. */
static int error_run(void *arg)
{
        static struct pg_bytes good;

        (void) arg;
        good.bytes = 0;
        pg_put_login(&good);
        for (size_t at = 0; at < good.bytes;) {
                pg_put_raw(begin(), good.data, at);
                pg_put_error(&script, 'E', "FATAL", "53300", "sorry, too many clients already");
                log_in_by(&script, "an error", EDDY_E_PG_CONNECT);
                CHECK(strstr(fault.text, "too many clients"));
                at += 1 + ((size_t) (unsigned char) good.data[at + 3] << 8) +
                      (unsigned char) good.data[at + 4];
        }
        return 0;
}

TEST(an_error_at_each_step_of_a_log_in_is_reported)
{
        io_run_and_wait(error_run);
}

static int cut_run(void *arg)
{
        static struct pg_bytes good;

        (void) arg;
        good.bytes = 0;
        pg_put_login(&good);
        for (size_t at = 1; at < good.bytes; at++) {
                struct pg_fake ends = { .login = &good, .limit = at, .ends = true };
                struct pg_fake stays = { .login = &good, .limit = at };

                log_in(&ends, "an end", "", EDDY_E_PG_CONNECT);
                if (at % 8 == 0)
                        log_in(&stays, "silence", "", -ETIMEDOUT);
        }
        return 0;
}

TEST(a_log_in_that_ends_after_any_byte_fails)
{
        io_run_and_wait(cut_run);
}

/* --- TLS --- */

static void tls_answer(const char *what, const char *bytes, size_t n, const char *more)
{
        struct pg_fake fake = { .tls = &script };

        pg_put_raw(begin(), bytes, n);
        log_in(&fake, what, more, EDDY_E_PG_CONNECT);
        CHECK_EQ(fake.tls_requests, 1);
        CHECK_EQ(fake.packets, 0); /* no name, no password */
}

static int tls_run(void *arg)
{
        static const char plain[] = "SR\0\0\0\10\0\0\0\0Z\0\0\0\5I";

        (void) arg;
        tls_answer("bytes before TLS", plain, sizeof(plain) - 1, "sslmode=require");
        tls_answer("one byte before TLS", "SR", 2, "sslmode=require");
        tls_answer("no TLS", "N", 1, "sslmode=require");
        tls_answer("no TLS", "N", 1, "sslmode=verify-full sslrootcert=/nowhere");
        tls_answer("an answer that is not known", "?", 1, "sslmode=require");
        tls_answer("an error", "EFATAL:  no\n", 12, "sslmode=require");
        return 0;
}

TEST(plaintext_before_tls_is_refused)
{
        io_run_and_wait(tls_run);
}

static int no_tls_run(void *arg)
{
        struct pg_fake fake = { .tls = NULL };
        eddy_scope scope;
        eddy_pg *pg = NULL;
        int err;

        (void) arg;
        /* The address is taken from hostaddr, and one that is not loopback has TLS or nothing. */
        eddy_scope_begin(&scope, NULL);
        pg_fake_start(&fake, &scope);
        err = connect_within(&fake, "host=db.example hostaddr=127.0.0.1,0.0.0.0", LONG_NS, &pg);
        CHECK_EQ(err, EDDY_E_PG_CONNECT);
        CHECK(!pg);
        CHECK_EQ(fake.packets, 0);
        pg_fake_stop(&fake, &scope);
        return 0;
}

TEST(off_the_loopback_nothing_is_sent_without_tls)
{
        io_run_and_wait(no_tls_run);
}

/* --- SCRAM --- */

static void scram(const char *what, const char *text, bool breaks_nonce)
{
        struct pg_fake fake = { .talk = pg_fake_scram,
                                .scram = text,
                                .breaks_nonce = breaks_nonce };

        log_in(&fake, what, "", EDDY_E_PG_CONNECT);
}

static int scram_run(void *arg)
{
        (void) arg;
        scram("a proof that is wrong", "s=c2FsdHNhbHQ=,i=4096", false);
        CHECK(strstr(fault.text, "incorrect server signature"));
        scram("another nonce", "s=c2FsdHNhbHQ=,i=4096", true);
        CHECK(strstr(fault.text, "nonce mismatch"));
        scram("no iterations", "s=c2FsdHNhbHQ=,i=0", false);
        CHECK(strstr(fault.text, "iteration count"));
        scram("negative iterations", "s=c2FsdHNhbHQ=,i=-1", false);
        scram("iterations that are no number", "s=c2FsdHNhbHQ=,i=many", false);
        scram("a number and more", "s=c2FsdHNhbHQ=,i=4096x", false);
        scram("no salt", "i=4096", false);
        scram("a salt that is not base64", "s=!,i=4096", false);
        scram("garbage after it", "s=c2FsdHNhbHQ=,i=4096,x=y", false);
        scram("an extension", "m=must,s=c2FsdHNhbHQ=,i=4096", false);
        return 0;
}

TEST(scram_with_a_wrong_nonce_salt_count_or_proof_is_refused)
{
        io_run_and_wait(scram_run);
}

/* --- floods --- */

static void put_flood(char kind)
{
        static const char setting[] = "application_name\0x", news[] = "\0\0\0\1news\0text";

        if (kind == 'N')
                pg_put_error(&script, 'N', "NOTICE", "00000", "and one more");
        else if (kind == 'S')
                pg_put(&script, 'S', setting, sizeof(setting));
        else
                pg_put(&script, 'A', news, sizeof(news));
}

static int flood_run(void *arg)
{
        static const char kinds[] = "NSA";

        (void) arg;
        for (const char *kind = kinds; *kind; kind++) {
                struct pg_fake fake = { .login = &script };

                pg_put(begin(), 'R', "\0\0\0", 4);
                pg_put_repeated(&script);
                put_flood(*kind);
                log_in(&fake, "a flood in a log-in", "", EDDY_E_PG_CONNECT);
        }
        return 0;
}

TEST(a_flood_in_a_log_in_is_refused)
{
        io_run_and_wait(flood_run);
}

static int names_run(void *arg)
{
        struct pg_fake fake = { .login = &script };
        char setting[8] = "00000\0x";

        (void) arg;
        pg_put(begin(), 'R', "\0\0\0", 4);
        for (int i = 0; i < 10000; i++) {
                snprintf(setting, 6, "%05d", i);
                pg_put(&script, 'S', setting, sizeof(setting));
        }
        pg_put_repeated(&script);
        put_flood('N');
        log_in(&fake, "a flood of names", "", EDDY_E_PG_CONNECT);
        CHECK(strstr(fault.text, "too many bytes"));
        return 0;
}

TEST(a_flood_of_settings_in_a_log_in_is_refused)
{
        io_run_and_wait(names_run);
}

/* --- answers --- */

struct asking {
        eddy_pg *pg;
        const char *sql;
        eddy_pg_result *result;
};

static int ask(void *arg)
{
        struct asking *asking = arg;

        return eddy_pg_query(asking->pg, asking->sql, NULL, 0, &asking->result);
}

static void connect_to(struct pg_fake *fake, uint32_t flags, eddy_pg **ret_pg)
{
        struct eddy_pg_opts opts = { .conninfo = fake->conninfo,
                                     .flags = flags,
                                     .result_max = RESULT_MAX,
                                     .cancel_timeout_ns = EDDY_MS(20) };

        CHECK_EQ(eddy_pg_connect(&opts, ret_pg), 0);
}

/*
 * A query that is answered by the script. Returns its result; 'ret_next' is that of the next query,
 * with the answer that the first one has. Returns -EAGAIN if the machine was so slow that the query
 * was not sent before its deadline.
 */
static int query_once(const char *what, size_t piece, int64_t timeout_ns, int *ret_next)
{
        struct pg_fake fake = { .answer = &script, .piece = piece };
        struct asking asking = { .sql = "select 1" };
        size_t before = pg_held();
        struct eddy_pg_fault why;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        pg_fake_start(&fake, &scope);
        connect_to(&fake, EDDY_PG_NO_STATEMENTS, &asking.pg);
        err = eddy_call_timeout(ask, &asking, timeout_ns);
        if (err == -ETIMEDOUT && fake.packets < 2)
                err = -EAGAIN;
        why = *eddy_pg_fault(asking.pg);
        eddy_pg_result_free(asking.result);
        asking.result = NULL;
        if (err != -EAGAIN)
                *ret_next = eddy_call_timeout(ask, &asking, LONG_NS);
        eddy_pg_result_free(asking.result);
        eddy_pg_close(asking.pg);
        pg_fake_stop(&fake, &scope);
        if (fake.held_max > before + MEMORY_MAX)
                test_fail(__FILE__, __LINE__, "%s: %zu bytes", what, fake.held_max - before);
        if (err < 0 && err != -ETIMEDOUT && err != -EAGAIN)
                check_text(what, why.text);
        return err;
}

static int query(const char *what, size_t piece, int64_t timeout_ns, int *ret_next)
{
        int err;

        do
                err = query_once(what, piece, timeout_ns, ret_next);
        while (err == -EAGAIN);
        return err;
}

static void query_by(const char *what, int expected)
{
        int64_t timeout_ns = expected == -ETIMEDOUT || expected == ANY_END ? SHORT_NS : LONG_NS;

        for (size_t piece = 0; piece < 2; piece++) {
                int next, err = query(what, piece, timeout_ns, &next);

                if (err != expected &&
                    (expected != ANY_END || (err != -ETIMEDOUT && err != EDDY_E_PG_CLOSED)))
                        test_fail(__FILE__, __LINE__, "%s: %s, then %s", what, eddy_error_name(err),
                                  eddy_error_name(next));
                /* Nothing wrong is taken for a success later. */
                if (err == -ETIMEDOUT || err == EDDY_E_PG_CLOSED)
                        CHECK_EQ(next, EDDY_E_PG_CLOSED);
        }
}

static int answers_run(void *arg)
{
        static const struct message list[] = {
                { "nothing", 'N', 0, BODY("SNOTICE\0Mhello\0\0"), ANY_END },
                { "a negative row", 'D', -1, BODY("\0\1"), EDDY_E_PG_CLOSED },
                { "a huge row", 'D', INT32_MAX, BODY("\0\1"), ANY_END },
                { "a row before its columns", 'D', 0, BODY("\0\1\0\0\0\1x"), ANY_END },
                { "negative columns", 'T', -1, BODY("\0\1"), EDDY_E_PG_CLOSED },
                { "a count of columns without them", 'T', 0, BODY("\377\377"), ANY_END },
                { "columns without end", 'T', 0, BODY("\0\1xxxx"), ANY_END },
                { "a huge tag", 'C', INT32_MAX, BODY("SELECT 1\0"), EDDY_E_PG_CLOSED },
                { "a tag without end", 'C', 0, BODY("SELECT 1"), ANY_END },
                { "a message that is not known", '?', 0, BODY("abc"), ANY_END },
                { "a question of a log-in", 'R', 0, BODY("\0\0\0\3"), ANY_END },
                { "a copy of both ways", 'W', 0, BODY("\0\0\0"), EDDY_E_PG_STATE },
                { "a copy in", 'G', 0, BODY("\0\0\0"), EDDY_E_PG_STATE },
                { "a copy out", 'H', 0, BODY("\0\0\0"), EDDY_E_PG_STATE },
                { "a copy with columns that are missing", 'G', 0, BODY("\0\377\377"), ANY_END },
                { "data of a copy", 'd', 0, BODY("x"), ANY_END },
                { "the end of a copy", 'c', 0, BODY(""), ANY_END },
                { "an error without fields", 'E', 0, BODY("\0"), ANY_END },
                { "an error without end", 'E', 0, BODY("Sx"), ANY_END },
                { "a negative error", 'E', -9, BODY("Sx"), EDDY_E_PG_CLOSED },
                { "a notification without end", 'A', 0, BODY("\0\0\0\1x"), ANY_END },
                { "another function", 'V', 0, BODY("\0\0\0\1x"), ANY_END },
                { "parameters", 't', 0, BODY("\377\377"), ANY_END },
        };

        (void) arg;
        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
                put_message(begin(), &list[i]);
                query_by(list[i].what, list[i].expected);
        }
        return 0;
}

TEST(an_answer_that_is_not_valid_ends_the_connection)
{
        io_run_and_wait(answers_run);
}

/* --- floods of an answer --- */

static void flood_answer(const char *what)
{
        int next, err = query(what, 0, LONG_NS, &next);

        if (err != EDDY_E_PG_TOO_LARGE)
                test_fail(__FILE__, __LINE__, "%s: %s", what, eddy_error_name(err));
        CHECK_EQ(next, EDDY_E_PG_CLOSED);
}

static int answer_floods_run(void *arg)
{
        static const char kinds[] = "NSA";

        (void) arg;
        for (const char *kind = kinds; *kind; kind++) {
                pg_put_repeated(begin());
                put_flood(*kind);
                flood_answer("a flood");
        }
        /* Rows, results, and columns, as many as the format has. */
        pg_put_columns(begin(), 1);
        pg_put_repeated(&script);
        pg_put_row(&script, 1, "a value");
        flood_answer("a flood of rows");
        pg_put_repeated(begin());
        pg_put(&script, 'C', "SELECT 1", 9);
        flood_answer("a flood of results");
        pg_put_columns(begin(), 1600);
        pg_put_repeated(&script);
        pg_put_row(&script, 1600, NULL);
        flood_answer("a flood of wide rows");
        return 0;
}

TEST(a_flood_in_an_answer_is_refused)
{
        io_run_and_wait(answer_floods_run);
}

static int slow_run(void *arg)
{
        struct pg_fake fake = { .login = &script, .piece = 30, .pause_ns = EDDY_MS(1) };

        (void) arg;
        pg_put(begin(), 'R', "\0\0\0", 4);
        pg_put_repeated(&script);
        put_flood('N');
        log_in(&fake, "a slow flood", "", -ETIMEDOUT);
        return 0;
}

TEST(a_slow_server_costs_no_more_than_the_deadline)
{
        io_run_and_wait(slow_run);
}

static int wide_run(void *arg)
{
        static const char *const wrong[] = { "more values than columns", "fewer", "a length",
                                             "none" };

        (void) arg;
        for (int i = 0; i < 4; i++) {
                pg_put_columns(begin(), 3);
                if (i == 2)
                        pg_put(&script, 'D', "\0\3\177\377\377\377x", 7);
                else if (i == 3)
                        pg_put(&script, 'D', "\0\3\377\377\377\376x", 7);
                else
                        pg_put_row(&script, i == 0 ? 40 : 2, "x");
                pg_put(&script, 'C', "SELECT 1", 9);
                pg_put_ready(&script, 'I');
                query_by(wrong[i], ANY_END);
        }
        return 0;
}

TEST(a_row_that_does_not_fit_its_columns_is_refused)
{
        io_run_and_wait(wide_run);
}

/* --- copies --- */

struct copying {
        eddy_pg *pg;
        const char *sql;
        int64_t bytes; /* read or written */
};

static int copy(void *arg)
{
        struct copying *copying = arg;
        static char buf[8192];
        eddy_stream *stream;
        int64_t n = eddy_pg_copy(copying->pg, copying->sql, &stream);
        bool is_in = strstr(copying->sql, "stdin") != NULL;

        if (n < 0)
                return (int) n;
        do {
                n = is_in ? eddy_stream_write(stream, buf, sizeof(buf))
                          : eddy_stream_read(stream, buf, sizeof(buf));
                copying->bytes += n > 0 ? n : (int64_t) sizeof(buf);
        } while (is_in ? n == 0 && copying->bytes < 1 << 20 : n > 0);
        if (is_in)
                n = eddy_stream_shutdown(stream);
        eddy_stream_close(stream);
        return (int) n;
}

static int copy_in(const char *what, const char *sql, bool ends, int expected, size_t piece)
{
        struct pg_fake fake = { .answer = &script, .ends = ends, .piece = piece };
        struct copying copying = { .sql = sql };
        size_t before = pg_held();
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        pg_fake_start(&fake, &scope);
        connect_to(&fake, EDDY_PG_NO_STATEMENTS, &copying.pg);
        err = eddy_call_timeout(copy, &copying,
                                expected == -ETIMEDOUT || expected == ANY_END ? SHORT_NS : LONG_NS);
        if (err != expected && (expected <= 0 || err >= 0))
                test_fail(__FILE__, __LINE__, "%s: %s", what, eddy_error_name(err));
        if (err != -ETIMEDOUT)
                check_text(what, eddy_pg_fault(copying.pg)->text);
        eddy_pg_close(copying.pg);
        pg_fake_stop(&fake, &scope);
        CHECK(pg_held() < before + MEMORY_MAX && fake.held_max < before + MEMORY_MAX);
        return err;
}

/* In one piece, and byte by byte. */
static void copy_by(const char *what, const char *sql, bool ends, int expected)
{
        copy_in(what, sql, ends, expected, 0);
        if (!script.is_repeated)
                copy_in(what, sql, ends, expected, 1);
}

static int copies_run(void *arg)
{
        static const char in[] = "copy t from stdin", out[] = "copy t to stdout";

        (void) arg;
        pg_put(begin(), 'G', "\0\0\0", 3);
        pg_put_error(&script, 'E', "ERROR", "57014", "copy ended");
        pg_put_ready(&script, 'I');
        copy_by("an error in a copy in", in, false, EDDY_E_PG_SERVER);
        pg_put(begin(), 'G', "\0\0\0", 3);
        copy_by("an end in a copy in", in, true, ANY_ERROR);
        pg_put(begin(), 'G', "\0\0\0", 3);
        pg_put(&script, '?', "x", 1);
        copy_by("garbage in a copy in", in, false, ANY_ERROR);
        pg_put(begin(), 'H', "\0\0\0", 3);
        pg_put(&script, 'd', "1\n", 2);
        pg_put_error(&script, 'E', "ERROR", "57014", "copy ended");
        pg_put_ready(&script, 'I');
        copy_by("an error in a copy out", out, false, EDDY_E_PG_SERVER);
        pg_put(begin(), 'H', "\0\0\0", 3);
        pg_put(&script, 'd', "1\n", 2);
        copy_by("an end in a copy out", out, true, ANY_ERROR);
        copy_by("silence in a copy out", out, false, -ETIMEDOUT);
        pg_put_lying(&script, 'd', -1, "1\n", 2);
        copy_by("a negative piece", out, false, ANY_ERROR);
        pg_put(begin(), 'H', "\0\0\0", 3);
        pg_put(&script, 'H', "\0\0\0", 3);
        copy_by("two copies out", out, false, ANY_ERROR);
        pg_put_lying(begin(), 'H', 7, "\0\0\0", 3);
        pg_put_lying(&script, 'd', INT32_MAX, "1\n", 2);
        copy_by("a huge piece", out, false, ANY_END);
        pg_put(begin(), 'H', "\0\0\0", 3);
        pg_put_repeated(&script);
        put_flood('N');
        copy_by("notices in a copy out", out, false, ANY_ERROR);
        return 0;
}

TEST(a_copy_that_the_server_ends_is_an_error)
{
        io_run_and_wait(copies_run);
}

/* --- rows --- */

static int all_rows(void *arg)
{
        eddy_pg_cursor *cursor;
        eddy_pg_result *row;
        int found = eddy_pg_cursor_open(arg, "select 1", NULL, 0, &cursor);

        if (found < 0)
                return found;
        do {
                found = eddy_pg_cursor_next(cursor, &row);
        } while (found == 1);
        eddy_pg_cursor_close(cursor);
        return found;
}

static int copy_after_rows_run(void *arg)
{
        static const char kinds[] = "HGW";

        (void) arg;
        for (const char *kind = kinds; *kind; kind++) {
                struct pg_fake fake = { .answer = &script };
                eddy_scope scope;
                eddy_pg *pg;

                pg_put(begin(), '1', NULL, 0);
                pg_put(&script, '2', NULL, 0);
                pg_put_columns(&script, 1);
                pg_put_row(&script, 1, "x");
                pg_put(&script, 'C', "SELECT 1", 9);
                pg_put(&script, *kind, "\0\0\0", 3);
                eddy_scope_begin(&scope, NULL);
                pg_fake_start(&fake, &scope);
                connect_to(&fake, EDDY_PG_NO_STATEMENTS, &pg);
                CHECK_EQ(eddy_call_timeout(all_rows, pg, LONG_NS), EDDY_E_PG_CLOSED);
                check_text("a copy after rows", eddy_pg_fault(pg)->text);
                eddy_pg_close(pg);
                pg_fake_stop(&fake, &scope);
        }
        return 0;
}

TEST(a_copy_after_the_end_of_rows_ends_the_connection)
{
        io_run_and_wait(copy_after_rows_run);
}

/* --- pipelines --- */

static int open_transaction_run(void *arg)
{
        static const char states[] = "TE";

        (void) arg;
        for (const char *state = states; *state; state++) {
                struct pg_fake fake = { .answer = &script };
                struct eddy_pg_opts opts = { .conninfo = fake.conninfo,
                                             .flags = EDDY_PG_NO_STATEMENTS };
                eddy_pg_pipeline *pipeline;
                eddy_scope scope;

                pg_put(begin(), '1', NULL, 0);
                pg_put(&script, '2', NULL, 0);
                pg_put(&script, 'n', NULL, 0);
                pg_put(&script, 'C', "INSERT 0 1", 11);
                pg_put_ready(&script, *state);
                eddy_scope_begin(&scope, NULL);
                pg_fake_start(&fake, &scope);
                CHECK_EQ(eddy_pg_pipeline_new(&opts, NULL, &pipeline), 0);
                CHECK_EQ(
                        eddy_pg_pipeline_write(pipeline, "insert into t values (1)", NULL, 0, NULL),
                        EDDY_E_PG_CLOSED);
                CHECK_STR(eddy_pg_pipeline_fault(pipeline)->text,
                          "a command left a transaction open");
                eddy_pg_pipeline_close(pipeline);
                pg_fake_stop(&fake, &scope);
        }
        return 0;
}

TEST(a_pipeline_whose_session_is_left_in_a_transaction_is_lost)
{
        io_run_and_wait(open_transaction_run);
}

/*
 * The server reports an error to a command that was cancelled, and ends the connection without the
 * end of the answer, as at a shutdown, a failover or pg_terminate_backend().
 */
static bool has_command; /* the server has read it */

static int answer_the_cancel(struct pg_fake *fake, eddy_stream *stream)
{
        static struct pg_bytes login, last;
        char buf[4096];

        if (login.bytes == 0) {
                pg_put_login(&login);
                pg_put_error(&last, 'E', "ERROR", "57014", "canceling statement");
        }
        if (pg_fake_send(fake, stream, &login) < 0)
                return -1;
        if (eddy_stream_read(stream, buf, sizeof(buf)) <= 0)
                return -1;
        has_command = true;
        while (fake->cancels == 0)
                if (eddy_sleep(EDDY_MS(1)) < 0)
                        return -1;
        (void) pg_fake_send(fake, stream, &last);
        return -1; /* the connection ends */
}

static int turn(void *arg)
{
        int *turns = arg;

        while (eddy_sleep(EDDY_MS(1)) == 0)
                ++*turns;
        return 0;
}

static int read_one(void *pipeline)
{
        return eddy_pg_pipeline_read(pipeline, "select 1", NULL, 0, NULL);
}

static int lost_while_drained_run(void *arg)
{
        struct pg_fake fake = { .talk = answer_the_cancel };
        struct eddy_pg_opts opts = { .conninfo = fake.conninfo };
        eddy_pg_pipeline *pipeline;
        eddy_scope scope, others, reading;
        int turns = 0, before;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        pg_fake_start(&fake, &scope);
        eddy_scope_begin(&others, NULL);
        CHECK_EQ(eddy_scope_start(&others, turn, &turns), 0);
        CHECK_EQ(eddy_pg_pipeline_new(&opts, NULL, &pipeline), 0);
        eddy_scope_begin(&reading, NULL);
        CHECK_EQ(eddy_scope_start(&reading, read_one, pipeline), 0);
        while (!has_command)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_cancel(&reading);
        CHECK_EQ(eddy_scope_end(&reading), 0);
        while (fake.cancels == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        before = turns;
        while (turns < before + 50)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_pg_pipeline_close(pipeline);
        eddy_scope_cancel(&others);
        CHECK(eddy_scope_end(&others) <= 0);
        pg_fake_stop(&fake, &scope);
        return 0;
}

TEST(a_connection_that_is_lost_while_a_cancelled_pipeline_is_drained_does_not_hold_the_loop)
{
        io_run_and_wait(lost_while_drained_run);
}

/* --- silence --- */

static int silent_run(void *arg)
{
        struct pg_fake fake = { .answer = NULL };
        struct eddy_pg_opts opts = { .conninfo = fake.conninfo,
                                     .flags = EDDY_PG_NO_STATEMENTS,
                                     .cancel_timeout_ns = EDDY_MS(20),
                                     .command_timeout_ns = EDDY_MS(20) };
        eddy_task_fn *const calls[] = { NULL, all_rows };
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = NULL;
        struct asking asking = { .sql = "select 1" };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        pg_fake_start(&fake, &scope);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_pg_connect(&opts, &asking.pg), 0);
                CHECK_EQ(calls[i] ? calls[i](asking.pg) : ask(&asking), EDDY_E_PG_TIMED_OUT);
                CHECK_EQ(ask(&asking), EDDY_E_PG_CLOSED); /* the cancel had no answer either */
                eddy_pg_close(asking.pg);
        }
        CHECK_EQ(eddy_pg_pipeline_new(&opts, NULL, &pipeline), 0);
        CHECK_EQ(read_one(pipeline), EDDY_E_PG_TIMED_OUT);
        opts.command_timeout_ns = -1;
        CHECK_EQ(eddy_pg_connect(&opts, &asking.pg), -EINVAL);
        eddy_pg_pipeline_close(pipeline);
        pipeline = NULL;
        pg_fake_stop(&fake, &scope);
        return 0;
}

TEST(a_server_that_is_silent_holds_a_command_for_its_time_at_most)
{
        io_run_and_wait(silent_run);
}

/* --- names --- */

/* The name server takes queries, and does not answer. */
static int unnamed_run(void *arg)
{
        struct pg_fake fake = { .conninfo = "host=db.test dbname=shop" };
        struct eddy_endpoint at;
        char address[32];
        struct ed_question_opts servers = { .servers = address, .timeout_ms = 60000 };
        eddy_udp *silent;
        eddy_pg *pg;

        (void) arg;
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &silent), 0);
        CHECK_EQ(eddy_udp_local(silent, &at), 0);
        snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned) at.port);
        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &servers), 0);
        CHECK_EQ(connect_within(&fake, "", SHORT_NS, &pg), -ETIMEDOUT);
        CHECK_STR(fault.text, "the name lookup of a host had not ended");
        eddy_udp_close(silent);
        return 0;
}

TEST(a_deadline_that_passes_during_the_name_lookup_says_so)
{
        io_run_and_wait(unnamed_run);
}
