/*
 * json_fields.c - documents read into structs: eddy_json_read(), which stops at the first error, or
 * eddy_json_read_all(), which lists all errors.
 *
 *     json_fields FILE ROUNDS first|all
 */
#include "eddy/alloc.h"
#include "eddy/field_errors.h"
#include "eddy/json.h"
#include "eddy/version.h"
#include "json_docs.h"

struct nested {
        char *a;
        uint8_t *b;
        size_t b_count;
};

struct record {
        uint64_t id;
        char name[32], *url;
        bool active;
        double score;
        char **tags;
        size_t tags_count;
        struct nested nested;
};

struct records {
        struct record *items;
        size_t items_count;
};

static const struct eddy_field nested_list[] = {
        EDDY_FIELD(struct nested, a),
        EDDY_FIELD_LIST(struct nested, b, b_count, EDDY_FIELD_LENGTH(0, 10)),
};
static const struct eddy_fields nested_fields = EDDY_FIELDS(struct nested, nested_list, 0);
static const struct eddy_field record_list[] = {
        EDDY_FIELD(struct record, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_MAX(999999999)),
        EDDY_FIELD(struct record, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 31)),
        EDDY_FIELD(struct record, url, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 200)),
        EDDY_FIELD(struct record, active),
        EDDY_FIELD(struct record, score, EDDY_FIELD_MIN(0), EDDY_FIELD_MAX(100)),
        EDDY_FIELD_LIST(struct record, tags, tags_count, EDDY_FIELD_LENGTH(0, 10)),
        EDDY_FIELD_STRUCT(struct record, nested, &nested_fields),
};
static const struct eddy_fields record_fields =
        EDDY_FIELDS(struct record, record_list, EDDY_FIELDS_STRICT);
static const struct eddy_field records_list[] = {
        EDDY_FIELD_LIST_OF(struct records, items, items_count, &record_fields, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields records_fields = EDDY_FIELDS(struct records, records_list, 0);

static long read_first(const char *text, size_t bytes, char *out, size_t room)
{
        struct records records = { 0 };

        (void) out;
        (void) room;
        if (eddy_json_read(&records_fields, text, bytes, &records, NULL) < 0)
                return -1;
        eddy_fields_fini(&records_fields, &records);
        return (long) bytes;
}

static long read_all(const char *text, size_t bytes, char *out, size_t room)
{
        struct eddy_field_errors errors = { 0 };
        struct records records = { 0 };

        (void) out;
        (void) room;
        if (eddy_json_read_all(&records_fields, text, bytes, 0, &records, &errors) < 0)
                return -1;
        eddy_fields_fini(&records_fields, &records);
        return (long) bytes;
}

int main(int argc, char **argv)
{
        if (argc != 4 || (strcmp(argv[3], "first") != 0 && strcmp(argv[3], "all") != 0))
                bench_die(argv[0], "FILE ROUNDS first|all");
        return json_docs_run(3, argv, "eddy " EDDY_VERSION,
                             argv[3][0] == 'f' ? read_first : read_all);
}
