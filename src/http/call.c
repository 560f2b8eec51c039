/*
 * http/call.c - see call.h. A request without a base URL, default headers, a query and a table of
 * fields is used as it is, and nothing is allocated.
 */
#include "http/call.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/query.h"
#include "eddy/time.h"
#include "http/attempt.h"
#include "http/fault.h"
#include "http/request_fault.h"
#include "http/time_limit.h"

enum {
        HEADERS_ADDED_MAX = 4, /* room for headers that layers add */
        DRAIN_BYTES_MAX = 64 << 10,
        DRAIN_PIECE_BYTES = 1 << 10,
};

#define DRAIN_NS EDDY_SEC(1)

/* A text that lives until the call ends. */
struct ed_http_kept {
        struct ed_http_kept *next;
        size_t bytes;
        char text[];
};

char *ed_http_call_keep(struct ed_http_call *call, size_t bytes)
{
        struct ed_http_kept *kept = ed_alloc(sizeof(*kept) + bytes);

        if (!kept)
                return NULL;
        kept->next = call->kept;
        kept->bytes = bytes;
        call->kept = kept;
        return kept->text;
}

/* ---- headers --------------------------------------------------------------- */

static bool has_name(const struct eddy_http_header *header, const char *name)
{
        return header->name && strcasecmp(header->name, name) == 0;
}

const char *ed_http_call_header(const struct ed_http_call *call, const char *name)
{
        for (size_t i = 0; i < call->request.headers_count; i++)
                if (has_name(&call->request.headers[i], name) && call->request.headers[i].value)
                        return call->request.headers[i].value;
        return NULL;
}

bool ed_http_call_names(const struct ed_http_call *call, const char *name)
{
        for (size_t i = 0; i < call->request.headers_count; i++)
                if (has_name(&call->request.headers[i], name))
                        return true;
        return false;
}

/* Copy the caller's list, with room for 'count' more, unless that was done before. */
static int own_headers(struct ed_http_call *call, size_t count)
{
        struct eddy_http_header *list;
        size_t room = call->request.headers_count + count;

        if (call->headers && room <= call->headers_room)
                return 0;
        room += HEADERS_ADDED_MAX;
        list = ed_realloc(call->headers, room * sizeof(*list));
        if (!list)
                return -ENOMEM;
        if (!call->headers && call->request.headers_count > 0)
                memcpy(list, call->request.headers, call->request.headers_count * sizeof(*list));
        call->headers = list;
        call->headers_room = room;
        call->request.headers = list;
        return 0;
}

int ed_http_call_set_header(struct ed_http_call *call, const char *name, const char *value)
{
        size_t name_bytes = strlen(name) + 1, value_bytes = value ? strlen(value) + 1 : 0, kept = 0;
        char *text = NULL;
        int err = own_headers(call, value != NULL);

        if (err < 0)
                return err;
        if (value) {
                text = ed_http_call_keep(call, name_bytes + value_bytes);
                if (!text)
                        return -ENOMEM;
                memcpy(text, name, name_bytes);
                memcpy(text + name_bytes, value, value_bytes);
        }
        /* An entry without a value stays: the caller wants no such header from the client. */
        for (size_t i = 0; i < call->request.headers_count; i++)
                if (!has_name(&call->headers[i], name) || (!value && !call->headers[i].value))
                        call->headers[kept++] = call->headers[i];
        if (value)
                call->headers[kept++] = (struct eddy_http_header){ text, text + name_bytes };
        call->request.headers_count = kept;
        return 0;
}

/* Add the client's headers that the request neither has nor removes. */
static int add_defaults(struct ed_http_call *call)
{
        const struct ed_http_defaults *defaults = &call->client->defaults;
        size_t given = call->request.headers_count;
        int err;

        if (given > ED_HTTP_REQUEST_HEAD_MAX)
                return EDDY_E_HTTP_INVALID_REQUEST;
        err = own_headers(call, defaults->headers_count);
        if (err < 0)
                return err;
        for (size_t i = 0; i < defaults->headers_count; i++) {
                const struct eddy_http_header *header = &defaults->headers[i];
                bool wanted = call->at_base || !eddy_http_header_is_secret(header->name);

                for (size_t j = 0; j < given && wanted; j++)
                        wanted = !has_name(&call->headers[j], header->name);
                if (wanted)
                        call->headers[call->request.headers_count++] = *header;
        }
        return 0;
}

/* ---- the URL --------------------------------------------------------------- */

static int set_at_base(struct ed_http_call *call)
{
        const struct ed_http_defaults *defaults = &call->client->defaults;
        char origin[EDDY_HTTP_ORIGIN_BYTES];
        int err;

        if (!defaults->url)
                return 0;
        err = eddy_http_url_origin(call->request.url, origin);
        call->at_base = err >= 0 && strcmp(origin, defaults->origin) == 0;
        return err;
}

int ed_http_call_set_url(struct ed_http_call *call, const char *text, size_t bytes)
{
        char *url = ed_http_call_keep(call, bytes + 1);

        if (!url)
                return -ENOMEM;
        memcpy(url, text, bytes);
        url[bytes] = '\0';
        call->request.url = url;
        return set_at_base(call);
}

static int join(struct ed_http_call *call, const char *base, const char *reference)
{
        int64_t bytes = eddy_url_join(base, reference, NULL, 0);
        char *url;

        if (bytes < 0)
                return (int) bytes;
        url = ed_http_call_keep(call, (size_t) bytes + 1);
        if (!url)
                return -ENOMEM;
        bytes = eddy_url_join(base, reference, url, (size_t) bytes + 1);
        call->request.url = url;
        return bytes < 0 ? (int) bytes : 0;
}

/*
 * Make the URL absolute. A path is always below the base's, whether or not one of them has a slash
 * where they meet. "//host/path" is refused, because a base names the host.
 */
static int join_base(struct ed_http_call *call)
{
        const struct ed_http_defaults *defaults = &call->client->defaults;
        const char *text = call->request.url;
        size_t bytes;
        struct eddy_url url;
        char *reference;
        int err = text ? eddy_url_parse(text, strlen(text), &url) : EDDY_E_URL_INVALID;

        if (err < 0)
                return err;
        if (url.scheme.text)
                return set_at_base(call);
        if (url.host.text) {
                ed_http_fault_note(call->request.ret_fault,
                                   "url: a URL that begins with \"//\" is not joined to "
                                   "base_url: write the scheme too");
                return EDDY_E_URL_INVALID;
        }
        if (url.path.bytes == 0)
                return join(call, defaults->url, text);
        text += strspn(text, "/");
        bytes = strlen(text);
        reference = ed_http_call_keep(call, bytes + sizeof("./"));
        if (!reference)
                return -ENOMEM;
        /* Without "./", a colon in the first segment would end a scheme. */
        memcpy(reference, "./", 2);
        memcpy(reference + 2, text, bytes + 1);
        return join(call, defaults->directory, reference);
}

/* Returns an error, and stores the reason, if a table has no struct. */
static int check_values(struct ed_http_call *call, const char *part,
                        const struct eddy_http_values *values)
{
        if (values->value)
                return 0;
        ed_http_fault_note(call->request.ret_fault, "%s: 'value' is NULL, and 'fields' is not",
                           part);
        return EDDY_E_HTTP_INVALID_REQUEST;
}

/* Store why a table's values cannot be sent. Returns 'err'. */
static int refuse_values(struct ed_http_call *call, const char *part,
                         const struct eddy_json_error *error, int err)
{
        if (err != -ENOMEM)
                ed_http_fault_note(call->request.ret_fault, "%s: %s", part, error->text);
        return err;
}

static int add_query(struct ed_http_call *call)
{
        const struct eddy_http_values *values = &call->request.query;
        const char *url = call->request.url;
        struct eddy_json_error error = { .text = "" };
        size_t bytes, before, all;
        char *text, *joined;
        int err;

        if (!url)
                return EDDY_E_URL_INVALID;
        err = check_values(call, "query", values);
        if (err < 0)
                return err;
        err = eddy_query_write(values->fields, values->value, 0, &text, &bytes, &error);
        if (err < 0)
                return refuse_values(call, "query", &error, err);
        all = strlen(url);
        before = strcspn(url, "#");
        joined = bytes > 0 ? ed_http_call_keep(call, all + bytes + 2) : NULL;
        if (joined) {
                memcpy(joined, url, before);
                joined[before] = memchr(url, '?', before) ? '&' : '?';
                memcpy(joined + before + 1, text, bytes);
                memcpy(joined + before + 1 + bytes, url + before, all - before + 1);
                call->request.url = joined;
        }
        eddy_free(text);
        return bytes > 0 && !joined ? -ENOMEM : 0;
}

/* ---- the body -------------------------------------------------------------- */

/* Refuse two bodies, and name them. */
static int refuse_two_bodies(struct ed_http_call *call)
{
        const struct eddy_http_request *request = &call->request;
        const struct {
                const char *name;
                bool given;
        } bodies[] = {
                { "body", request->body != NULL },
                { "body_source", request->body_source != NULL },
                { "form", request->form.fields != NULL },
                { "json", request->json.fields != NULL },
                { "multipart", request->multipart != NULL },
        };
        size_t first = 0, second;

        while (!bodies[first].given)
                first++;
        for (second = first + 1; !bodies[second].given;)
                second++;
        ed_http_fault_note(call->request.ret_fault, "a request has one body: '%s' and '%s' are set",
                           bodies[first].name, bodies[second].name);
        return EDDY_E_HTTP_INVALID_REQUEST;
}

static int count_bodies(const struct eddy_http_request *request)
{
        return (request->body != NULL) + (request->body_source != NULL) +
               (request->form.fields != NULL) + (request->json.fields != NULL) +
               (request->multipart != NULL);
}

int ed_http_call_set_type(struct ed_http_call *call, const char *type)
{
        return ed_http_call_names(call, "Content-Type")
                       ? 0
                       : ed_http_call_set_header(call, "Content-Type", type);
}

/* Write the body from a table of fields. */
static int write_body(struct ed_http_call *call)
{
        struct eddy_http_request *request = &call->request;
        struct eddy_json_error error = { .text = "" };
        char *text;
        int err = request->json.fields ? check_values(call, "json", &request->json)
                                       : check_values(call, "form", &request->form);

        if (err < 0)
                return err;
        if (request->json.fields) {
                err = eddy_json_write_as(request->json.fields, request->json.value,
                                         EDDY_JSON_REQUEST, &text, &request->body_bytes, &error);
                if (err < 0)
                        return refuse_values(call, "json", &error, err);
        } else {
                err = eddy_query_write(request->form.fields, request->form.value, EDDY_URL_PLUS,
                                       &text, &request->body_bytes, &error);
                if (err < 0)
                        return refuse_values(call, "form", &error, err);
        }
        request->body = text;
        call->body_free = eddy_free;
        call->body_arg = text;
        return ed_http_call_set_type(call, request->json.fields
                                                   ? "application/json"
                                                   : "application/x-www-form-urlencoded");
}

static void free_body(struct ed_http_call *call)
{
        if (call->body_free)
                call->body_free(call->body_arg);
        call->body_free = NULL;
}

void ed_http_call_drop_body(struct ed_http_call *call)
{
        struct eddy_http_request *request = &call->request;

        request->body = NULL;
        request->body_bytes = 0;
        request->body_source = NULL;
        request->form.fields = request->json.fields = NULL;
        request->multipart = NULL;
        request->expect_continue_ns = 0;
        call->source_read = false;
        free_body(call);
}

bool ed_http_call_rewind(struct ed_http_call *call)
{
        const struct eddy_http_body_source *source = call->request.body_source;

        if (!source || !call->source_read)
                return true;
        if (!source->rewind || source->rewind(source->arg) < 0)
                return false;
        call->source_read = false;
        return true;
}

/* ---- the response ---------------------------------------------------------- */

static int64_t drain(void *arg)
{
        eddy_http_response *response = arg;
        char piece[DRAIN_PIECE_BYTES];
        size_t bytes = 0;
        int64_t n;

        /* The bytes are not decoded: a small body may become a large one. */
        do {
                n = response->ops->read(response, piece, sizeof(piece));
                bytes += n > 0 ? (size_t) n : 0;
        } while (n > 0 && bytes < DRAIN_BYTES_MAX);
        return n;
}

void ed_http_call_drop(struct ed_http_call *call)
{
        eddy_http_response *response = call->response;
        int64_t end_ns;

        if (!response)
                return;
        call->response = NULL;
        end_ns = ed_time_after(eddy_now(), DRAIN_NS);
        if (call->deadline_ns && call->deadline_ns < end_ns)
                end_ns = call->deadline_ns;
        if (response->conn && response->ops->sent_request(response))
                (void) ed_http_call_until(drain, response, end_ns, -ETIMEDOUT);
        ed_http_response_end(response);
}

/* ---- the whole ------------------------------------------------------------- */

static void merge_options(struct ed_http_call *call)
{
        eddy_http_client *client = call->client;
        struct eddy_http_request *request = &call->request;
        int64_t total_ns = ed_http_timeout(request->timeouts.total_ns, client->timeouts.total_ns);

        call->deadline_ns = total_ns ? ed_time_after(call->began_ns, total_ns) : 0;
        request->flags |= client->flags;
        if (request->redirects_max == 0)
                request->redirects_max = client->redirects_max;
        if (!request->cookies)
                request->cookies = client->cookies;
        if (request->flags & EDDY_HTTP_NO_COOKIES)
                request->cookies = NULL;
        if (!request->retry && client->has_retry)
                request->retry = &client->retry;
        if (!request->limiter)
                request->limiter = client->limiter;
        if (!request->breaker)
                request->breaker = client->breaker;
        if (request->flags & EDDY_HTTP_NO_RETRY)
                request->retry = NULL;
        if (request->flags & EDDY_HTTP_NO_LIMIT) {
                request->limiter = NULL;
                request->breaker = NULL;
        }
        call->auth_is_client = !request->auth;
        if (!request->auth)
                request->auth = client->auth;
        if (request->flags & EDDY_HTTP_NO_AUTH)
                request->auth = NULL;
}

int ed_http_call_begin(struct ed_http_call *call)
{
        const struct ed_http_defaults *defaults = &call->client->defaults;
        struct eddy_http_request *request = &call->request;
        int err = 0;

        call->client->refs++;
        call->began_ns = eddy_now();
        call->at_base = true;
        if (request->flags & ~(unsigned) ED_HTTP_REQUEST_FLAGS) {
                ed_http_fault_note(call->request.ret_fault, "flags: a flag is unknown");
                return -EINVAL;
        }
        merge_options(call);
        err = ed_http_request_check_headers(request);
        if (err >= 0 && defaults->url)
                err = join_base(call);
        if (err >= 0 && request->query.fields)
                err = add_query(call);
        if (err >= 0 && defaults->headers_count > 0)
                err = add_defaults(call);
        if (err >= 0 && ed_unlikely(count_bodies(request) > 1))
                err = refuse_two_bodies(call);
        if (err >= 0 && (request->json.fields || request->form.fields))
                err = write_body(call);
        return err;
}

void ed_http_call_end(struct ed_http_call *call)
{
        struct ed_http_kept *kept;

        if (call->response && call->request.body_source) {
                call->response->body_free = call->body_free;
                call->response->body_arg = call->body_arg;
        } else {
                free_body(call);
        }
        while ((kept = call->kept)) {
                call->kept = kept->next;
                explicit_bzero(kept->text, kept->bytes);
                ed_free(kept);
        }
        ed_free(call->headers);
        ed_http_client_unref(call->client);
}
