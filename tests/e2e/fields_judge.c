/*
 * fields_judge.c - what eddy/schema.h and eddy/json.h answer, for test_fields_judge.py.
 *
 *     fields_judge < QUESTIONS > ANSWERS
 *
 * A question is a line: "schema TABLE", or "read TABLE HEX", with the document in hexadecimal digits. The
 * answer is a line of JSON: the schema; or {"errors":[...],"written":TEXT or null}, in which the text is
 * made from the struct. "account-request" is the table "account" for a request.
 */
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

        while (fgets(line, sizeof(line), stdin)) {
                char *rest = line, *word = take_word(&rest);
                const struct table *table = find_table(take_word(&rest));
                char *hex = take_word(&rest);

                if (strcmp(word, "schema") == 0)
                        print_schema(table);
                else
                        read_document(table, hex, decode(hex));
        }
        return 0;
}
