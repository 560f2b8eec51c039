/*
 * 56-json-lines - requests in lines of JSON: values are picked without building a tree.
 *
 * The body of each request is an unknown document: it is passed on as its text, without
 * white space.
 *
 * Run: printf '{"id":"a","body":{ "n" : [1, 2] }}\n{"id":"b","body":{"usage":{"tokens":7}}}\n{"id":7\n{"id":7}' | 56-json-lines
 * Exit: 0
 * Time: wall 0 s
 * Output:
 *     a: body {"n":[1,2]}
 *     b: body {"usage":{"tokens":7}}, 7 tokens
 *     wrong: line 2, column 1: the text ends here; ',' or '}' expected after a member
 *     wrong: the value has another type
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { LINE_BYTES = 4096 };

static int print_request(const char *line, size_t bytes, struct eddy_json_error *error)
{
        struct eddy_json_value request, name, value, body = { 0 }, tokens;
        struct eddy_json_cursor cursor;
        static char text[LINE_BYTES];
        char id[64] = "?";
        uint64_t n;
        int64_t length;
        int err = eddy_json_parse(line, bytes, NULL, &request, error);

        if (err == 0)
                err = eddy_json_walk(&request, &cursor); /* the line is an object */
        if (err < 0)
                return err;
        while (eddy_json_next(&cursor, &name, &value)) {
                if (eddy_json_is(&name, "id") && eddy_json_string(&value, id, sizeof(id)) < 0)
                        return EDDY_E_FIELD_TYPE;
                if (eddy_json_is(&name, "body"))
                        body = value;
        }
        length = eddy_json_compact(body.text, body.bytes, text, NULL, error);
        if (length < 0)
                return (int) length;
        printf("%s: body %.*s", id, (int) length, text);
        if (eddy_json_get(&body, "usage.tokens", &tokens) == 0 &&
            eddy_json_uint64(&tokens, &n) == 0)
                printf(", %d tokens", (int) n);
        printf("\n");
        return 0;
}

int main(void)
{
        static char line[LINE_BYTES];

        while (fgets(line, sizeof(line), stdin)) {
                struct eddy_json_error error = { 0 };
                int err = print_request(line, strlen(line), &error);

                if (err < 0)
                        printf("wrong: %s\n", error.error ? error.text : eddy_error_text(err));
        }
        return 0;
}
