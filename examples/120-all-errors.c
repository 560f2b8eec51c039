/*
 * 120-all-errors - all errors of a document at once, each with its path.
 *
 * A table describes the struct.  It is also the source of a JSON Schema, and reads queries and the
 * parameters of paths (eddy/query.h), which may share a list of errors with the document.
 *
 * Run: 120-all-errors '{"name": "", "age": 200}'
 * Time: wall 0 s
 * Output:
 *     {"name": "", "age": 200}
 *     name: a string of 0 bytes, at least 1 are allowed
 *     age: 200 is above the maximum 150
 *     email: the field is missing
 * Run: 120-all-errors '{"name": "Ada", "email": "ada@example.com"}' 'age=x&page=0'
 * Time: wall 0 s
 * Output:
 *     {"name": "Ada", "email": "ada@example.com"}
 *     Ada, ada@example.com
 *     age=x&page=0
 *     query page: 0 is below the minimum 1
 * Run: 120-all-errors | grep -o '"age":{[^}]*}'
 * Time: wall 0 s
 * Output:
 *     "age":{"type":["integer","null"],"format":"uint8","minimum":0,"maximum":150}
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

struct user {
        char name[16], *email;
        uint8_t age;
};
static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 15)),
        EDDY_FIELD(struct user, email, EDDY_FIELD_REQUIRED, EDDY_FIELD_FORMAT("email")),
        EDDY_FIELD(struct user, age, EDDY_FIELD_MAX(150)),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);

static int user_read(const char *json, struct user *user)
{
        struct eddy_field_errors errors = { 0 };
        int err = eddy_json_read_all(&user_fields, json, strlen(json), 0, user, &errors);

        for (size_t i = 0; i < errors.count; i++)
                printf("%s: %s\n", errors.list[i].path, errors.list[i].message);
        eddy_field_errors_fini(&errors);
        return err;
}

struct pages {
        uint32_t page;
};
static const struct eddy_field pages_list[] = {
        EDDY_FIELD(struct pages, page, EDDY_FIELD_MIN(1)),
};
static const struct eddy_fields pages_fields = EDDY_FIELDS(struct pages, pages_list, 0);

static void print_query(const char *query)
{
        struct eddy_field_errors errors = { 0 };
        struct pages pages = { .page = 1 };

        puts(query);
        if (eddy_query_read_all(&pages_fields, query, strlen(query), 0, &pages, &errors) == 0)
                printf("page %u\n", pages.page);
        for (size_t i = 0; i < errors.count; i++)
                printf("query %s: %s\n", errors.list[i].path, errors.list[i].message);
        eddy_field_errors_fini(&errors);
}

static int print_schema(void)
{
        char *text;
        size_t bytes;

        if (eddy_schema_write(&user_fields, NULL, &text, &bytes, NULL) < 0)
                return 1;
        puts(text);
        eddy_free(text);
        return 0;
}

int main(int argc, char **argv)
{
        struct user user = { 0 };

        if (argc < 2)
                return print_schema();
        puts(argv[1]);
        if (user_read(argv[1], &user) == 0)
                printf("%s, %s\n", user.name, user.email);
        eddy_fields_fini(&user_fields, &user);
        if (argc > 2)
                print_query(argv[2]);
        return 0;
}
