/*
 * http/route_doc.c - see route_doc.h.
 */
#include "http/route_doc.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_value.h"
#include "eddy/query.h"
#include "http/problem.h"

/* A struct that was read. */
struct input {
        const struct eddy_fields *fields;
        max_align_t data[];
};

/* The keys of the values of an exchange. */
static const char keys[EDDY_HTTP_PATH + 1];

static void input_free(void *value)
{
        struct input *input = value;

        eddy_fields_fini(input->fields, input->data);
        ed_free(input);
}

const void *eddy_http_exchange_input(const eddy_http_exchange *exchange, enum eddy_http_input input)
{
        const struct input *read = eddy_http_exchange_get(exchange, &keys[input]);

        return read ? read->data : NULL;
}

/* ---- building -------------------------------------------------------------- */

static int check_table(const struct eddy_fields *fields, bool is_json,
                       struct eddy_json_error *ret_error)
{
        int err = 0;

        if (fields)
                err = is_json ? eddy_fields_check(fields, ret_error)
                              : eddy_query_check(fields, ret_error);
        return err < 0 && err != -ENOMEM ? EDDY_E_HTTP_ROUTE : err;
}

/* Check an answer to an error: it is a problem. */
static int check_error(const struct eddy_http_route_answer *answer,
                       struct eddy_json_error *ret_error)
{
        if (answer->error == 0 || (answer->error < 0 && answer->status >= 400 && !answer->fields))
                return 0;
        snprintf(ret_error->text, sizeof(ret_error->text),
                 "the answer %d to an error needs an error below 0, a status of 400 or above, and "
                 "no "
                 "'fields'",
                 answer->status);
        return EDDY_E_HTTP_ROUTE;
}

/* Check the statuses and tables of the answers. */
static int check_answers(const struct eddy_http_route_doc *doc, struct eddy_json_error *ret_error)
{
        int err = check_table(doc->answer, true, ret_error);

        for (size_t i = 0; err >= 0 && i <= doc->answers_count; i++) {
                int status = ed_http_route_status(doc, i);
                bool is_bad = status < 100 || status > 599;

                for (size_t j = 0; j < i; j++)
                        is_bad = is_bad || ed_http_route_status(doc, j) == status;
                if (is_bad) {
                        snprintf(ret_error->text, sizeof(ret_error->text),
                                 "the status %d of an answer is not valid, or given twice", status);
                        return EDDY_E_HTTP_ROUTE;
                }
                if (i > 0)
                        err = check_error(&doc->answers[i - 1], ret_error);
                if (i > 0 && err >= 0)
                        err = check_table(doc->answers[i - 1].fields, true, ret_error);
        }
        return err;
}

int ed_http_route_doc_check(const struct eddy_http_route_doc *doc,
                            struct eddy_json_error *ret_error)
{
        int err;

        if (doc->body && doc->form) {
                snprintf(ret_error->text, sizeof(ret_error->text),
                         "a route has either 'body' or 'form', not both");
                return EDDY_E_HTTP_ROUTE;
        }
        err = check_table(doc->params, false, ret_error);
        if (err >= 0)
                err = check_table(doc->query, false, ret_error);
        if (err >= 0)
                err = check_table(doc->form, false, ret_error);
        if (err >= 0)
                err = check_table(doc->body, true, ret_error);
        return err < 0 ? err : check_answers(doc, ret_error);
}

/* ---- serving --------------------------------------------------------------- */

static int read_into(eddy_http_exchange *exchange, enum eddy_http_input input, bool is_form,
                     const struct eddy_fields *fields, void *out)
{
        if (input == EDDY_HTTP_PATH)
                return eddy_http_exchange_params_read(exchange, fields, out);
        if (input == EDDY_HTTP_QUERY)
                return eddy_http_exchange_query_read(exchange, fields, 0, out);
        if (is_form)
                return eddy_http_exchange_form_read(exchange, fields, EDDY_QUERY_SKIP_EMPTY, out);
        return eddy_http_exchange_json(exchange, fields, out);
}

/* Read an input into a struct that begins with the defaults, and keep it as a value. */
static int read_input(eddy_http_exchange *exchange, enum eddy_http_input input, bool is_form,
                      const struct eddy_fields *fields, const void *defaults)
{
        struct input *read;
        int err;

        if (!fields)
                return 0;
        read = ed_alloc_zero(sizeof(*read) + fields->bytes);
        if (!read)
                return -ENOMEM;
        read->fields = fields;
        if (defaults)
                memcpy(read->data, defaults, fields->bytes);
        err = read_into(exchange, input, is_form, fields, read->data);
        if (err < 0) {
                ed_free(read);
                return err;
        }
        err = eddy_http_exchange_set(exchange, &keys[input], read, input_free);
        if (err < 0)
                input_free(read);
        return err;
}

int ed_http_route_doc_read(const struct eddy_http_route_doc *doc, eddy_http_exchange *exchange)
{
        int path = read_input(exchange, EDDY_HTTP_PATH, false, doc->params, NULL);
        int query = read_input(exchange, EDDY_HTTP_QUERY, false, doc->query, doc->query_defaults);
        int body = read_input(exchange, EDDY_HTTP_BODY, doc->form,
                              doc->form ? doc->form : doc->body, doc->body_defaults);

        if (path < 0)
                return path;
        return query < 0 ? query : body;
}

int ed_http_route_doc_answer(const struct eddy_http_route_doc *doc, eddy_http_exchange *exchange,
                             int error)
{
        const struct eddy_http_route_answer *end = doc->answers + doc->answers_count;
        int err;

        for (const struct eddy_http_route_answer *answer = doc->answers; answer < end; answer++) {
                if (answer->error != error)
                        continue;
                err = ed_http_problem_respond(exchange, answer->status, answer->description);
                return err == EDDY_E_HTTP_STATE ? error : err;
        }
        return error;
}
