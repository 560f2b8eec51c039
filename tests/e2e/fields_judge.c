/*
 * fields_judge.c - what eddy/schema.h and eddy/json.h answer, for test_fields_judge.py.
 *
 *     fields_judge < QUESTIONS > ANSWERS
 *
 * A question is a line: "schema TABLE", or "read TABLE HEX", with the document in hexadecimal digits. The
 * answer is a line of JSON: the schema; or {"errors":[...],"written":TEXT or null}, in which the text is
 * made from the struct. "starve" is as "read", after each allocation of both calls has failed in turn.
 * "account-request" is the table "account" for a request.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/field_errors.h"
#include "eddy/json.h"
#include "eddy/schema.h"

#include "fields_judge_tables.h"

enum { LINE_BYTES = 1 << 17 };

static const struct table {
        const char *name;
        const struct eddy_fields *fields;
        unsigned flags;
} tables[] = {
        { "account", &account_fields, 0 },
        { "account-request", &account_fields, EDDY_JSON_REQUEST },
        { "numbers", &numbers_fields, 0 },
        { "order", &order_fields, 0 },
        { "contact", &contact_fields, 0 },
        { "shape", &shape_fields, 0 },
        { "drawing", &drawing_fields, 0 },
        { "catalog", &catalog_fields, 0 },
};

/* The allocator of the library: allocations that are not freed, and how many more succeed; below 0: all. */
static size_t allocated;
static int left = -1;

static void *allocate(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                allocated -= ptr != NULL;
                free(ptr);
                return NULL;
        }
        if (left >= 0 && left-- == 0)
                return NULL;
        allocated += ptr == NULL;
        return realloc(ptr, bytes);
}

static const struct table *find_table(const char *name)
{
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
                if (strcmp(tables[i].name, name) == 0)
                        return &tables[i];
        fprintf(stderr, "fields_judge: no table '%s'\n", name);
        exit(1);
}

static void stop_at(int err, const struct eddy_json_error *error)
{
        if (err < 0) {
                fprintf(stderr, "fields_judge: %s: %s\n", eddy_error_name(err), error->text);
                exit(1);
        }
}

static void print_quoted(const char *text)
{
        static char quoted[LINE_BYTES * 6];

        fwrite(quoted, 1, eddy_json_quote(text, strlen(text), quoted), stdout);
}

static void print_schema(const struct table *table)
{
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        stop_at(eddy_schema_write(table->fields, NULL, &text, &bytes, &error), &error);
        printf("%s\n", text);
        eddy_free(text);
}

static void print_steps(const struct eddy_field_error *error)
{
        for (size_t i = 0; i < error->steps_count; i++) {
                if (i > 0)
                        printf(",");
                if (error->steps[i].name)
                        print_quoted(error->steps[i].name);
                else
                        printf("%zu", error->steps[i].index);
        }
}

static void print_errors(struct eddy_field_errors *errors)
{
        for (size_t i = 0; i < errors->count; i++) {
                const struct eddy_field_error *error = &errors->list[i];

                printf("%s{\"error\":\"%s\",\"path\":", i > 0 ? "," : "",
                       eddy_error_name(error->error));
                print_quoted(error->path);
                printf(",\"text\":");
                print_quoted(error->message);
                printf(",\"steps\":[");
                print_steps(error);
                printf("]}");
        }
        eddy_field_errors_fini(errors);
}

/* The two ways to read find the same first error. */
static void check_first(const struct table *table, const char *text, size_t bytes, int err)
{
        struct eddy_json_error error = { 0 };
        void *out = calloc(1, table->fields->bytes);

        if (table->flags == 0 && eddy_json_read(table->fields, text, bytes, out, &error) != err) {
                fprintf(stderr, "fields_judge: %s instead of %s\n", error.text,
                        eddy_error_name(err));
                exit(1);
        }
        eddy_fields_fini(table->fields, out);
        free(out);
}

static void read_document(const struct table *table, const char *text, size_t bytes)
{
        /* A copy that ends at its last byte. */
        char *exact = malloc(bytes > 0 ? bytes : 1);
        void *out = calloc(1, table->fields->bytes);
        struct eddy_field_errors errors = { .max = EDDY_FIELD_ERRORS_MAX };
        struct eddy_json_error error;
        char *written = NULL;
        size_t written_bytes;
        int err;

        memcpy(exact, text, bytes);
        err = eddy_json_read_all(table->fields, exact, bytes, table->flags, out, &errors);
        check_first(table, exact, bytes, err);
        free(exact);
        printf("{\"errors\":[");
        print_errors(&errors);
        printf("],\"written\":");
        if (err == 0) {
                stop_at(eddy_json_write_as(table->fields, out, table->flags, &written,
                                           &written_bytes, &error),
                        &error);
                eddy_fields_fini(table->fields, out);
        }
        if (written)
                print_quoted(written);
        else
                printf("null");
        printf("}\n");
        eddy_free(written);
        free(out);
}

static void require(bool holds, const char *sentence, int number)
{
        if (holds)
                return;
        fprintf(stderr, "fields_judge: allocation %d fails: %s\n", number, sentence);
        exit(1);
}

/* Returns true if the allocation with this number, from 0 on, failed; it was an error without effects. */
static bool read_starved(const struct table *table, const char *text, size_t bytes, int number,
                         void *out, int *ret_err)
{
        struct eddy_field_errors errors = { .max = EDDY_FIELD_ERRORS_MAX };
        size_t before = allocated;
        bool failed;

        left = number;
        *ret_err = eddy_json_read_all(table->fields, text, bytes, table->flags, out, &errors);
        failed = left < 0;
        left = -1;
        eddy_field_errors_fini(&errors);
        if (failed) {
                require(*ret_err == -ENOMEM, "the reader returns another error", number);
                require(allocated == before, "the reader leaks", number);
        }
        return failed;
}

static bool write_starved(const struct table *table, const void *in, int number)
{
        size_t before = allocated, bytes;
        char *text = NULL;
        bool failed;
        int err;

        left = number;
        err = eddy_json_write_as(table->fields, in, table->flags, &text, &bytes, NULL);
        failed = left < 0;
        left = -1;
        require(failed ? err == -ENOMEM && !text : err == 0, "the writer returns another result",
                number);
        eddy_free(text);
        require(allocated == before, "the writer leaks", number);
        return failed;
}

static void starve(const struct table *table, const char *text, size_t bytes)
{
        char *out = calloc(1, table->fields->bytes);
        int err, number = 0;

        for (; read_starved(table, text, bytes, number, out, &err); number++)
                for (size_t i = 0; i < table->fields->bytes; i++)
                        require(out[i] == 0, "the struct has changed", number);
        require(number > 0, "but there is none", number);
        for (number = 0; err == 0 && write_starved(table, out, number);)
                number++;
        if (err == 0)
                eddy_fields_fini(table->fields, out);
        free(out);
        require(allocated == 0, "something is left", number);
}

/* In place. */
static size_t decode(char *hex)
{
        size_t bytes = 0;

        for (; hex[2 * bytes] && hex[2 * bytes + 1]; bytes++) {
                const char digits[] = { hex[2 * bytes], hex[2 * bytes + 1], '\0' };

                hex[bytes] = (char) strtol(digits, NULL, 16);
        }
        return bytes;
}

/* Returns the next word of a line, which ends in a NUL then. */
static char *take_word(char **line)
{
        char *word = *line;
        size_t bytes = strcspn(word, " \n");

        *line += word[bytes] ? bytes + 1 : bytes;
        word[bytes] = '\0';
        return word;
}

int main(void)
{
        static char line[LINE_BYTES];

        eddy_alloc_set(allocate, NULL);
        while (fgets(line, sizeof(line), stdin)) {
                char *rest = line, *word = take_word(&rest);
                const struct table *table = find_table(take_word(&rest));
                char *hex = take_word(&rest);
                size_t bytes = decode(hex);

                if (strcmp(word, "schema") == 0)
                        print_schema(table);
                if (strcmp(word, "starve") == 0)
                        starve(table, hex, bytes);
                if (strcmp(word, "schema") != 0)
                        read_document(table, hex, bytes);
        }
        return 0;
}
