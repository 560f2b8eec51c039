/*
 * test_multipart_bombs.c - forms that are made to exhaust a server: each is refused at its limit, or is
 * read, in the memory of one part.
 */
#include "counted.h"
#include "http_test.h"

enum { KIB = 1 << 10, MIB = 1 << 20, PIECES_MAX = 6 };

#define TEN_A       "aaaaaaaaaa"
#define SIXTY_NINE  TEN_A TEN_A TEN_A TEN_A TEN_A TEN_A "aaaaaaaaa"
#define TYPE        "multipart/form-data; boundary="
#define DISPOSITION "Content-Disposition: form-data; name=a"
#define FIELD       "--b\r\n" DISPOSITION "\r\n\r\n"
#define FILE_PART   "--b\r\n" DISPOSITION "; filename=x\r\n\r\n"
#define END         "\r\n--b--\r\n"

/* A text that is sent a number of times. */
struct piece {
        const char *text;
        uint64_t times;
};

enum way { READ, WHOLE, SAVE, WAYS };

struct bomb {
        const char *name;
        const char *rule; /* of a form that is refused; NULL: the form is read */
        uint32_t parts;   /* of a form that is read */
        const char *boundary;
        struct piece pieces[PIECES_MAX];
};

#define REFUSED(name, rule, ...)                                                                   \
        {                                                                                          \
                name, rule, 0, "b",                                                                \
                {                                                                                  \
                        __VA_ARGS__                                                                \
                }                                                                                  \
        }
#define IS_READ(name, parts, ...)                                                                  \
        {                                                                                          \
                name, NULL, parts, "b",                                                            \
                {                                                                                  \
                        __VA_ARGS__                                                                \
                }                                                                                  \
        }
#define P(...)                                                                                     \
        {                                                                                          \
                __VA_ARGS__                                                                        \
        }

#define HEAD_RULE     "the headers of a part are larger than their limit"
#define PARTS_RULE    "the body has more parts than its limit"
#define FIELD_RULE    "a field is larger than its limit"
#define FILE_RULE     "a file is larger than its limit"
#define ONE_RULE      "a part has one Content-Disposition"
#define BEGIN_RULE    "a body begins with its boundary"
#define END_RULE      "nothing follows the last boundary"
#define BOUNDARY_RULE "a boundary is followed by CR LF, and the last one by \"--\""

/* A head of 16 KiB and a number of bytes. */
#define HEAD_FIXED (sizeof(DISPOSITION "\r\nX: \r\n\r\n") - 1)
#define HEAD(more)                                                                                 \
        P("--b\r\n" DISPOSITION "\r\nX: ", 1), P("x", 16 * KIB - HEAD_FIXED + (more)),             \
                P("\r\n\r\n" END, 1)

#define DOTS "--" SIXTY_NINE "."

/* clang-format off */
static const struct bomb bombs[] = {
        IS_READ("1,000 parts", 1000, P(FIELD "\r\n", 1000), P("--b--", 1)),
        REFUSED("1,001 parts", PARTS_RULE, P(FIELD "\r\n", 1001), P("--b--", 1)),
        REFUSED("a million parts", PARTS_RULE, P(FIELD "\r\n", 1000000)),
        IS_READ("a head of 16 KiB", 1, HEAD(0)),
        REFUSED("a head above 16 KiB", HEAD_RULE, HEAD(1)),
        REFUSED("headers without an end", HEAD_RULE, P("--b\r\n", 1), P("A: b\r\n", 5000000)),
        REFUSED("a line without an end", HEAD_RULE, P("--b\r\n", 1), P("x", 32 * MIB)),
        REFUSED("100,000 parameters", HEAD_RULE, P("--b\r\n" DISPOSITION, 1), P(";a=b", 100000),
                P("\r\n\r\n" END, 1)),
        REFUSED("two Content-Dispositions", ONE_RULE, P("--b\r\n", 1), P(DISPOSITION "\r\n", 2),
                P("\r\n" END, 1)),
        REFUSED("400 Content-Dispositions", ONE_RULE, P("--b\r\n", 1), P(DISPOSITION "\r\n", 400),
                P("\r\n" END, 1)),
        IS_READ("a field of 8 MiB", 1, P(FIELD, 1), P("x", 8 * MIB), P(END, 1)),
        REFUSED("a field above 8 MiB", FIELD_RULE, P(FIELD, 1), P("x", 8 * MIB + 1), P(END, 1)),
        REFUSED("a field without an end", FIELD_RULE, P(FIELD, 1), P("x", 64 * MIB)),
        IS_READ("a file at its limit", 1, P(FILE_PART, 1), P("x", MIB), P(END, 1)),
        REFUSED("a file above its limit", FILE_RULE, P(FILE_PART, 1), P("x", MIB + 1), P(END, 1)),
        REFUSED("a file without an end", FILE_RULE, P(FILE_PART, 1), P("x", 64 * MIB)),
        REFUSED("text before the form", BEGIN_RULE, P("x", 32 * MIB)),
        REFUSED("text after the form", END_RULE, P(FIELD END, 1), P("\r\n", 16 * MIB)),
        REFUSED("spaces after a boundary", BOUNDARY_RULE, P("--b", 1), P(" ", 32 * MIB)),
        { "beginnings of the boundary", NULL, 1, SIXTY_NINE ".",
          { P(DOTS "\r\n" DISPOSITION "\r\n\r\n", 1), P("\r\n--" SIXTY_NINE, 28000),
            P("\r\n" DOTS "--", 1) } },
        IS_READ("two million CRs", 1, P(FIELD, 1), P("\r", 2000000), P(END, 1)),
        IS_READ("two million bytes of line ends", 1, P(FIELD, 1), P("\r\n-", 700000), P(END, 1)),
        IS_READ("forms in a form", 1,
                P("--b\r\n" DISPOSITION "\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n", 1),
                P("--c\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n", 20000),
                P("--c--" END, 1)),
};
/* clang-format on */

/* ---- sending ---------------------------------------------------------------------- */

struct sending {
        const struct piece *pieces;
        size_t count, piece; /* the present one */
        uint64_t time;       /* of that piece */
        size_t at;           /* in its text */
};

static int64_t sending_read(void *arg, void *buf, size_t bytes)
{
        struct sending *sending = arg;
        char *out = buf;
        size_t n = 0;

        while (n < bytes && sending->piece < sending->count) {
                const struct piece *piece = &sending->pieces[sending->piece];

                if (sending->time == piece->times || !piece->text) {
                        sending->piece++;
                        sending->time = 0;
                } else if (!piece->text[sending->at]) {
                        sending->at = 0;
                        sending->time++;
                } else if (!piece->text[1]) {
                        size_t left = piece->times - sending->time;
                        size_t some = left < bytes - n ? left : bytes - n;

                        memset(out + n, piece->text[0], some);
                        n += some;
                        sending->time += some;
                } else {
                        out[n++] = piece->text[sending->at++];
                }
        }
        return (int64_t) n;
}

/* ---- reading ---------------------------------------------------------------------- */

static struct {
        enum way way;
        uint32_t parts;
        char rule[100];
} reading;

static int read_part(eddy_http_multipart_reader *form)
{
        static char buf[4096];
        const char *data;
        size_t bytes;
        int64_t n;

        if (reading.way == WHOLE)
                return eddy_http_multipart_whole(form, 0, &data, &bytes);
        if (reading.way == SAVE)
                return eddy_http_multipart_save(form, "/x",
                                                &(struct eddy_http_multipart_save_opts){
                                                        .flags = EDDY_HTTP_MULTIPART_REPLACE },
                                                NULL);
        while ((n = eddy_http_multipart_read(form, buf, sizeof(buf))) > 0)
                ;
        return (int) n;
}

static int read_form(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_multipart_limits limits = { .file_bytes_max = MIB };
        EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *form = NULL;
        struct eddy_http_multipart_part part;
        int err = eddy_http_exchange_multipart(exchange, &limits, &form);

        (void) arg;
        reading.parts = 0;
        while (err >= 0 && (err = eddy_http_multipart_next(form, &part)) > 0) {
                reading.parts++;
                err = read_part(form);
        }
        snprintf(reading.rule, sizeof(reading.rule), "%s", eddy_http_multipart_rule(form));
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

/* Send a form. Returns the status of its answer. */
static int send_form(eddy_http_client *client, const char *boundary, struct sending *sending)
{
        char type[150];
        const struct eddy_http_header header = { "Content-Type", type };
        const struct eddy_http_body_source source = { .read = sending_read,
                                                      .arg = sending,
                                                      .bytes = -1 };
        const struct eddy_http_request request = { .method = "POST",
                                                   .url = "http://a/",
                                                   .headers = &header,
                                                   .headers_count = 1,
                                                   .body_source = &source };
        eddy_http_response *response;
        int status;

        snprintf(type, sizeof(type), TYPE "%s", boundary);
        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        status = eddy_http_response_status(response);
        eddy_http_response_close(response);
        return status;
}

static int send_pieces(const char *boundary, const struct piece *pieces, size_t count)
{
        struct sending sending = { .pieces = pieces, .count = count };
        eddy_http_client *client;
        int status;

        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = read_form), &client), 0);
        status = send_form(client, boundary, &sending);
        eddy_http_client_close(client);
        return status;
}

/* ---- the bombs -------------------------------------------------------------------- */

static int send_small(void *arg)
{
        static const struct piece pieces[] = { { FILE_PART "1" END, 1 } };

        (void) arg;
        CHECK_EQ(send_pieces("b", pieces, 1), 200);
        return 0;
}

/* Returns the status that answers a form. */
static int status_of(const struct bomb *bomb)
{
        if (!bomb->rule)
                return 200;
        return strstr(bomb->rule, "limit") ? 413 : 400;
}

static int send_bomb(void *arg)
{
        const struct bomb *bomb = arg;

        CHECK_EQ(send_pieces(bomb->boundary, bomb->pieces, PIECES_MAX), status_of(bomb));
        return 0;
}

/* Returns the most memory that was in use. */
static size_t memory_of(eddy_task_fn *fn, const void *arg)
{
        used_most = used;
        http_run(fn, (void *) arg);
        CHECK_EQ(used, 0);
        return used_most;
}

/* Returns the bytes that a bomb takes, beside those that a form of one byte takes. */
static size_t explode(const struct bomb *bomb, size_t small)
{
        /* A field in memory, in a buffer that doubles. */
        size_t max = (reading.way == WHOLE ? 16 * MIB : 0) + 128 * KIB;
        size_t more = memory_of(send_bomb, bomb);

        more = more > small ? more - small : 0;
        if (strcmp(reading.rule, bomb->rule ? bomb->rule : "") != 0)
                test_fail(__FILE__, __LINE__, "%s: %s", bomb->name, reading.rule);
        if (!bomb->rule)
                CHECK_EQ(reading.parts, bomb->parts);
        /* The disk of the simulation is in memory too. */
        if (reading.way != SAVE && more > max)
                test_fail(__FILE__, __LINE__, "%s: %zu bytes", bomb->name, more);
        return more;
}

TEST(each_bomb_is_refused_at_its_limit_or_read_in_the_memory_of_a_part)
{
        static const char *const ways[] = { "read", "in memory", "saved" };
        size_t count = sizeof(bombs) / sizeof(bombs[0]), refused = 0, most, more, small;

        eddy_alloc_set(count_bytes, NULL);
        for (int way = READ; way < WAYS; way++) {
                reading.way = (enum way) way;
                most = 0;
                small = memory_of(send_small, NULL);
                for (size_t i = 0; i < count; i++) {
                        more = explode(&bombs[i], small);
                        most = more > most ? more : most;
                        refused += bombs[i].rule != NULL;
                }
                printf("# %s: %zu forms, at most %zu KiB\n", ways[way], count, most / KIB);
        }
        printf("# %zu of %zu refused as they must be\n", refused, refused);
}
