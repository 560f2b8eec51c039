/*
 * fuzz_query.c - any bytes as a query that a table of fields reads.
 *
 * A struct that is read is written as a query that gives an equal struct; a failure has a sentence and
 * changes nothing; the pairs of the query give the same struct or the same error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { PAIRS = 64 };

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

struct search {
        char *q;
        char name[6];
        bool on;
        int8_t i;
        uint64_t u;
        double d;
        int color;
        int32_t numbers[3];
        size_t numbers_count;
        char **list;
        size_t list_count;
        bool has_i;
};

static const char *const colors[] = { "red", "green", NULL };
static const struct eddy_field search_list[] = {
        EDDY_FIELD(struct search, q, EDDY_FIELD_LENGTH(0, 40)),
        EDDY_FIELD(struct search, name),
        EDDY_FIELD(struct search, on),
        EDDY_FIELD(struct search, i, EDDY_FIELD_FLAG(struct search, has_i)),
        EDDY_FIELD(struct search, u),
        EDDY_FIELD(struct search, d, EDDY_FIELD_MAX(1000)),
        EDDY_FIELD_ENUM(struct search, color, colors),
        EDDY_FIELD_ARRAY(struct search, numbers, numbers_count),
        EDDY_FIELD_LIST(struct search, list, list_count, EDDY_FIELD_AS("l[]")),
};
static const struct eddy_fields tables[] = {
        EDDY_FIELDS(struct search, search_list, 0),
        EDDY_FIELDS(struct search, search_list, EDDY_FIELDS_STRICT),
};

/* Both structs are written as the same text. */
static void require_equal(const struct eddy_fields *fields, struct search *a, struct search *b)
{
        size_t a_bytes, b_bytes;
        char *a_text, *b_text;

        require(eddy_query_write(fields, a, EDDY_URL_PLUS, &a_text, &a_bytes, NULL) == 0);
        require(eddy_query_write(fields, b, EDDY_URL_PLUS, &b_text, &b_bytes, NULL) == 0);
        require(a_bytes == b_bytes && memcmp(a_text, b_text, a_bytes) == 0);
        eddy_free(a_text);
        eddy_free(b_text);
}

static void check_again(const struct eddy_fields *fields, struct search *first)
{
        struct search second = { 0 };
        size_t bytes;
        char *text;

        require(eddy_query_write(fields, first, 0, &text, &bytes, NULL) == 0);
        require(eddy_query_read(fields, text, bytes, 0, &second, NULL) == 0);
        require_equal(fields, first, &second);
        eddy_free(text);
        eddy_fields_fini(fields, &second);
}

/* The query as decoded pairs, if it has not too many; the first error is that of a pair. */
static void check_pairs(const struct eddy_fields *fields, const char *text, size_t bytes,
                        unsigned flags, struct search *first, int expected)
{
        char *room = malloc(bytes + 2 * PAIRS), *at = room;
        struct eddy_url_part query = { text, bytes };
        struct eddy_url_pair pairs[PAIRS + 1];
        struct search second = { 0 };
        size_t count = 0;
        int err = 1;

        require(room);
        while (count <= PAIRS &&
               (err = eddy_url_query_next(&query, at, (size_t) (room + bytes + 2 * PAIRS - at),
                                          &pairs[count])) > 0) {
                at = (char *) (uintptr_t) pairs[count].value + strlen(pairs[count].value) + 1;
                count++;
        }
        if (err == 0) {
                err = eddy_query_read_pairs(fields, pairs, count, flags, &second, NULL);
                require(err == expected);
                if (err == 0)
                        require_equal(fields, first, &second);
                eddy_fields_fini(fields, &second);
        }
        free(room);
}

/* The list begins with the error of the other call, and is empty for a text that is read. */
static void check_list(const struct eddy_fields *fields, const char *text, size_t bytes,
                       unsigned flags, int expected)
{
        struct eddy_field_errors errors = { .max = 8 };
        struct search search = { 0 };

        require(eddy_query_read_all(fields, text, bytes, flags, &search, &errors) == expected);
        require(expected < 0 ? errors.count > 0 && errors.list[0].error == expected
                             : errors.all == 0 && !errors.list);
        require(errors.count <= 8 && errors.all >= errors.count);
        eddy_field_errors_fini(&errors);
        eddy_fields_fini(fields, &search);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        const char *text = (const char *) data;

        for (unsigned i = 0; i < 4; i++) {
                unsigned flags = i & 1 ? EDDY_QUERY_SKIP_EMPTY : 0;
                const struct eddy_fields *fields = &tables[i / 2];
                struct eddy_json_error error = { 0 };
                struct search first = { 0 };
                int err = eddy_query_read(fields, text, bytes, flags, &first, &error);

                require(err == 0 || (error.error == err && error.text[0] && !first.q));
                if (err == 0)
                        check_again(fields, &first);
                check_pairs(fields, text, bytes, flags, &first, err);
                check_list(fields, text, bytes, flags, err);
                eddy_fields_fini(fields, &first);
        }
        return 0;
}
