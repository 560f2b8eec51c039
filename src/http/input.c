/*
 * http/input.c - see input.h.
 */
#include "http/input.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/json.h"
#include "eddy/query.h"
#include "http/problem.h"
#include "http/router.h"
#include "wire/json_out.h"
#include "wire/media_type.h"

enum { ANSWER_BYTES_MAX = 16 << 20 }; /* all lists have at most 3 MiB of text */

/* ---- reading --------------------------------------------------------------- */

/* Returns the list for the errors of an input; NULL: there is no memory. */
static struct eddy_field_errors *errors_for(eddy_http_exchange *exchange,
                                            enum eddy_http_input input)
{
        if (!exchange->wrong)
                exchange->wrong = ed_alloc_zero(sizeof(*exchange->wrong));
        return exchange->wrong ? &exchange->wrong->in[input] : NULL;
}

/* Keep the errors of a call. Returns its error. */
static int keep(eddy_http_exchange *exchange, enum eddy_http_input input,
                struct eddy_field_errors *errors, int err)
{
        struct eddy_field_errors *kept;

        if (!errors->list)
                return err;
        kept = errors_for(exchange, input);
        if (!kept) {
                eddy_field_errors_fini(errors);
                return -ENOMEM;
        }
        *kept = *errors;
        return err;
}

/* Returns the errors so far, to which a call appends. */
static struct eddy_field_errors errors_of(const eddy_http_exchange *exchange,
                                          enum eddy_http_input input)
{
        return exchange->wrong ? exchange->wrong->in[input] : (struct eddy_field_errors){ 0 };
}

int ed_http_input_check_coding(eddy_http_exchange *exchange)
{
        struct eddy_http_header header;

        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++) {
                if (strcasecmp(header.name, "Content-Encoding") != 0 ||
                    strcasecmp(header.value, "identity") == 0)
                        continue;
                /* Without the header, the text says it. */
                (void) !eddy_http_exchange_add_header(exchange, "Accept-Encoding", "identity");
                return ed_http_input_failed_by(exchange, EDDY_E_HTTP_CONTENT_TYPE,
                                               "the body must not have a Content-Encoding");
        }
        return 0;
}

typedef int body_read_fn(const struct eddy_fields *fields, const char *data, size_t bytes,
                         unsigned flags, void *out, struct eddy_field_errors *errors);

/* Read the whole body by 'read', and keep its errors. */
static int read_body(eddy_http_exchange *exchange, body_read_fn *read,
                     const struct eddy_fields *fields, unsigned flags, void *out)
{
        struct eddy_field_errors errors;
        const void *data;
        size_t bytes;
        int err = ed_http_input_check_coding(exchange);

        if (err == 0)
                err = eddy_http_exchange_body(exchange, &data, &bytes);
        if (err < 0)
                return err;
        errors = errors_of(exchange, EDDY_HTTP_BODY);
        err = read(fields, data, bytes, flags, out, &errors);
        return keep(exchange, EDDY_HTTP_BODY, &errors, err);
}

int eddy_http_exchange_json(eddy_http_exchange *exchange, const struct eddy_fields *fields,
                            void *out)
{
        const char *type = eddy_http_exchange_header(exchange, "Content-Type");

        if (!ed_media_type_is(type, "application/json") && !ed_media_type_is(type, "+json"))
                return ed_http_input_failed_by(exchange, EDDY_E_HTTP_CONTENT_TYPE,
                                               "the Content-Type must be application/json");
        return read_body(exchange, eddy_json_read_all, fields, EDDY_JSON_REQUEST, out);
}

int eddy_http_exchange_form_read(eddy_http_exchange *exchange, const struct eddy_fields *fields,
                                 unsigned flags, void *out)
{
        if (!ed_media_type_is(eddy_http_exchange_header(exchange, "Content-Type"),
                              "application/x-www-form-urlencoded"))
                return ed_http_input_failed_by(
                        exchange, EDDY_E_HTTP_CONTENT_TYPE,
                        "the Content-Type must be application/x-www-form-urlencoded");
        return read_body(exchange, eddy_query_read_all, fields, flags, out);
}

int eddy_http_exchange_query_read(eddy_http_exchange *exchange, const struct eddy_fields *fields,
                                  unsigned flags, void *out)
{
        struct eddy_field_errors errors = errors_of(exchange, EDDY_HTTP_QUERY);
        const char *query = eddy_http_exchange_query(exchange);
        int err = eddy_query_read_all(fields, query, strlen(query), flags, out, &errors);

        return keep(exchange, EDDY_HTTP_QUERY, &errors, err);
}

int eddy_http_exchange_params_read(eddy_http_exchange *exchange, const struct eddy_fields *fields,
                                   void *out)
{
        struct eddy_field_errors errors = errors_of(exchange, EDDY_HTTP_PATH);
        const struct ed_http_params *params = exchange->params;
        struct eddy_url_pair pairs[EDDY_HTTP_ROUTE_PARAMS_MAX];
        const char *name;
        size_t count = 0;
        int err;

        if (params && params->match.route) {
                name = params->match.route->names;
                for (; count < params->match.count; count++, name += strlen(name) + 1)
                        pairs[count] =
                                (struct eddy_url_pair){ .name = name,
                                                        .value = params->match.values[count] };
        }
        err = eddy_query_read_pairs_all(fields, pairs, count, 0, out, &errors);
        return keep(exchange, EDDY_HTTP_PATH, &errors, err);
}

const struct eddy_field_errors *eddy_http_exchange_errors(const eddy_http_exchange *exchange,
                                                          enum eddy_http_input input)
{
        const struct ed_http_wrong *wrong = exchange->wrong;

        return wrong && wrong->in[input].list ? &wrong->in[input] : NULL;
}

void ed_http_wrong_fini(eddy_http_exchange *exchange)
{
        if (!exchange->wrong)
                return;
        for (size_t i = 0; i < ed_array_count(exchange->wrong->in); i++)
                eddy_field_errors_fini(&exchange->wrong->in[i]);
        ed_free(exchange->wrong);
        exchange->wrong = NULL;
}

/* ---- answering ------------------------------------------------------------- */

static const char *type_of(int error)
{
        switch (error) {
        case EDDY_E_FIELD_TYPE:
                return "type";
        case EDDY_E_FIELD_RANGE:
                return "range";
        case EDDY_E_FIELD_LENGTH:
                return "length";
        case EDDY_E_FIELD_TEXT:
                return "text";
        case EDDY_E_FIELD_MISSING:
                return "missing";
        case EDDY_E_FIELD_UNKNOWN:
                return "extra_forbidden";
        case EDDY_E_FIELD_DUPLICATE:
                return "duplicate";
        case EDDY_E_FIELD_FORMAT:
                return "format";
        case EDDY_E_FIELD_UNIQUE:
                return "unique";
        default:
                return "invalid";
        }
}

static void write_error(struct ed_json_out *out, const char *input,
                        const struct eddy_field_error *error)
{
        ed_json_out_open(out, '{');
        ed_json_out_member(out, "type", type_of(error->error));
        ed_json_out_name(out, "loc");
        ed_json_out_open(out, '[');
        ed_json_out_string(out, input);
        for (size_t i = 0; i < error->steps_count; i++)
                if (error->steps[i].name)
                        ed_json_out_string(out, error->steps[i].name);
                else
                        ed_json_out_uint(out, error->steps[i].index);
        ed_json_out_close(out, ']');
        ed_json_out_member(out, "msg", error->message);
        ed_json_out_close(out, '}');
}

static int write_errors(const struct ed_http_wrong *wrong, char **ret_text, size_t *ret_bytes)
{
        static const char *const inputs[] = { "body", "query", "path" };
        /* FastAPI names the parameters of the path first, and the body last. */
        static const enum eddy_http_input order[] = { EDDY_HTTP_PATH, EDDY_HTTP_QUERY,
                                                      EDDY_HTTP_BODY };
        struct ed_json_out out;

        ed_json_out_init(&out, ANSWER_BYTES_MAX);
        ed_json_out_open(&out, '{');
        ed_json_out_name(&out, "detail");
        ed_json_out_open(&out, '[');
        for (size_t i = 0; i < ed_array_count(order); i++) {
                const struct eddy_field_errors *errors = &wrong->in[order[i]];

                for (size_t k = 0; k < errors->count; k++)
                        write_error(&out, inputs[order[i]], &errors->list[k]);
        }
        ed_json_out_close(&out, ']');
        ed_json_out_close(&out, '}');
        return ed_json_out_end(&out, ret_text, ret_bytes);
}

/* Returns an error of the request that is 'error', or NULL. */
static const struct eddy_field_error *find(const struct ed_http_wrong *wrong, int error)
{
        if (!wrong)
                return NULL;
        for (size_t i = 0; i < ed_array_count(wrong->in); i++)
                for (size_t k = 0; k < wrong->in[i].count; k++)
                        if (wrong->in[i].list[k].error == error)
                                return &wrong->in[i].list[k];
        return NULL;
}

/* Returns true if both errors are of the same facility. */
static bool is_like(int error, int other)
{
        return -(int64_t) error >> 8 == -(int64_t) other >> 8;
}

int eddy_http_error_status(const eddy_http_exchange *exchange, int error)
{
        if (error == -ETIMEDOUT)
                return 503;
        if (exchange->input_error != error && !find(exchange->wrong, error))
                return 500;
        if (is_like(error, EDDY_E_FIELD_TYPE))
                return error == EDDY_E_FIELD_TABLE ? 500 : 422;
        if (is_like(error, EDDY_E_JSON_SYNTAX) || error == EDDY_E_URL_INVALID ||
            error == EDDY_E_HTTP_MULTIPART || error == EDDY_E_HTTP_TRUNCATED)
                return 400;
        if (error == EDDY_E_HTTP_TOO_LARGE)
                return 413;
        if (error == EDDY_E_HTTP_CONTENT_TYPE)
                return 415;
        return 500;
}

int ed_http_wrong_respond(eddy_http_exchange *exchange, int error)
{
        static const struct eddy_http_header json = { "Content-Type", "application/json" };
        const struct eddy_field_error *found = find(exchange->wrong, error);
        int status = eddy_http_error_status(exchange, error), err;
        size_t bytes;
        char *text;

        if (!found || status >= 500)
                return -ENOENT;
        if (status != 422)
                return ed_http_problem_respond(exchange, status, found->message);
        err = write_errors(exchange->wrong, &text, &bytes);
        if (err < 0)
                return err;
        err = eddy_http_exchange_respond(exchange, status, &json, 1, text, bytes);
        ed_free(text);
        return err;
}
