/*
 * http/request_fault.c - see request_fault.h. The checks are in the order of request_fields.c.
 */
#include "http/request_fault.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "http/client.h"
#include "http/fault.h"
#include "wire/http1.h"

/* A part of a request that is refused; NULL 'why': none. */
struct refusal {
        const char *part; /* a field of struct eddy_http_request */
        const char *name; /* of a header; NULL: none, or it cannot be shown */
        size_t at;        /* number of the header, from 1, if it has no name to show; 0: none */
        const char *why;
};

static const char bad_name[] = "a name has letters, digits and some signs, without spaces";

static struct refusal refuse(const char *part, const char *name, const char *why)
{
        return (struct refusal){ .part = part, .name = name, .why = why };
}

static struct refusal refuse_at(const char *part, size_t at, const char *why)
{
        return (struct refusal){ .part = part, .at = at + 1, .why = why };
}

static bool is_name(const char *name)
{
        return eddy_http_is_token(name, strlen(name));
}

/* ---- the method and the body --------------------------------------------------- */

static struct refusal find_in_method(const struct ed_http_request_fields *fields,
                                     const struct eddy_http_request *request)
{
        if (strcmp(fields->method, "CONNECT") == 0)
                return refuse("method", NULL, "CONNECT is sent by the options for proxies only");
        if (strcmp(fields->method, "TRACE") == 0 && (request->body || request->body_source))
                return refuse("method", NULL, "TRACE has no body");
        if (!is_name(fields->method))
                return refuse("method", NULL,
                              "a method has letters, digits and some signs, without spaces");
        if (fields->method_bytes > ED_HTTP1_LINE_BYTES_MAX)
                return refuse("method", NULL, "it has more than 8,190 bytes");
        return refuse(NULL, NULL, NULL);
}

static struct refusal find_in_trailers(const struct eddy_http_body_source *source)
{
        static const char part[] = "body_source: trailers";

        if (source->trailers_count > ED_HTTP1_TRAILERS_MAX)
                return refuse(part, NULL, "there are more than 32");
        if (source->trailers_count > 0 && !source->trailers)
                return refuse(part, NULL, "the list is NULL");
        if (source->trailers_count > 0 && source->bytes >= 0)
                return refuse(part, NULL,
                              "only a body of unknown length has them: set 'bytes' to -1");
        for (size_t i = 0; i < source->trailers_count; i++) {
                const char *name = source->trailers[i].name;

                if (!name || !is_name(name))
                        return refuse_at(part, i, bad_name);
                if (ed_http1_trailer_is_forbidden(name, strlen(name)))
                        return refuse(part, name, "this name is sent as a header only");
        }
        return refuse(NULL, NULL, NULL);
}

static struct refusal find_in_body(const struct eddy_http_request *request)
{
        const struct eddy_http_body_source *source = request->body_source;

        if (!request->body && request->body_bytes > 0)
                return refuse("body", NULL, "it is NULL, and 'body_bytes' is above 0");
        if (request->expect_continue_ns < 0)
                return refuse("expect_continue_ns", NULL, "it is negative");
        if (!source)
                return refuse(NULL, NULL, NULL);
        if (!source->stream == !source->read)
                return refuse("body_source", NULL, "set one of 'stream' and 'read'");
        return find_in_trailers(source);
}

/* ---- the headers --------------------------------------------------------------- */

static bool has_name(const struct eddy_http_header *header, const char *name)
{
        return strcasecmp(header->name, name) == 0;
}

static bool is_second(const struct eddy_http_request *request, size_t at)
{
        for (size_t i = 0; i < at; i++)
                if (request->headers[i].name && request->headers[i].value &&
                    has_name(&request->headers[at], request->headers[i].name))
                        return true;
        return false;
}

/* Returns why the request cannot have a header with this value, or NULL. */
static const char *bad_header(const struct ed_http_request_fields *fields,
                              const struct eddy_http_request *request, size_t at)
{
        const struct eddy_http_header *header = &request->headers[at];
        const struct eddy_http_body_source *source = request->body_source;
        uint64_t body_bytes = source ? (uint64_t) source->bytes : request->body_bytes;
        bool is_length = has_name(header, "content-length"), is_host = has_name(header, "host");
        bool was_taken = is_host && fields->has_host; /* not if there are too many headers */

        if (!eddy_http_is_value(header->value, strlen(header->value)))
                return "the value has a control character, such as a line end";
        if (has_name(header, "transfer-encoding"))
                return "the client sets it, by the body";
        if ((is_length || is_host) && is_second(request, at))
                return "it is given twice";
        if (is_length && (fields->chunked || !ed_http_request_is_length(header->value, body_bytes)))
                return "it is not the length of the body; the client sets it";
        if (was_taken && !ed_http1_is_host(fields->list[fields->host_at].value,
                                           fields->list[fields->host_at].value_bytes))
                return "the value is not a host";
        if (was_taken && fields->to_proxy && ed_http_request_hosts_differ(fields))
                return "it is not the host of the URL, and a proxy gets both";
        if (fields->expects && has_name(header, "expect") &&
            (strcasecmp(header->value, "100-continue") != 0 || is_second(request, at)))
                return "with 'expect_continue_ns' it is one \"100-continue\"";
        if (has_name(header, "proxy-authorization") && !fields->to_proxy)
                return "no proxy reads the request, and the server would get it";
        return NULL;
}

static struct refusal find_in_headers(const struct ed_http_request_fields *fields,
                                      const eddy_http_client *client,
                                      const struct eddy_http_request *request)
{
        for (size_t i = 0; i < request->headers_count; i++) {
                const char *name = request->headers[i].name, *why = NULL;

                if (!name || !is_name(name))
                        return refuse_at("headers", i, name ? bad_name : "the name is NULL");
                if (request->headers[i].value)
                        why = bad_header(fields, request, i);
                else if (!ed_http_request_can_remove(client, name))
                        why = "the value is NULL, and the client does not add this header";
                if (why)
                        return refuse("headers", name, why);
        }
        return refuse(NULL, NULL, NULL);
}

/* ---- before the layers ----------------------------------------------------- */

int ed_http_request_fault_headers(const struct eddy_http_request *request)
{
        ed_http_fault_note(request->ret_fault,
                           "headers: it is NULL, and 'headers_count' is above 0");
        return EDDY_E_HTTP_INVALID_REQUEST;
}

/* The text of EDDY_E_URL_CREDENTIALS says more than a reason of the URL would. */
static bool is_of_url(int err)
{
        return err == EDDY_E_URL_INVALID || err == EDDY_E_URL_SCHEME || err == EDDY_E_DNS_BAD_NAME;
}

void ed_http_request_fault_url(const eddy_http_client *client,
                               const struct eddy_http_request *request, int err)
{
        struct eddy_http_fault *fault = request->ret_fault;
        const char *why = "quote the parts that come from elsewhere (eddy_url_quote())";

        if (!fault || fault->text[0] || !is_of_url(err))
                return;
        if (!request->url)
                why = "the request has none";
        else if (err == EDDY_E_URL_SCHEME)
                why = "write http:// or https://";
        else if (!client->defaults.url && !strstr(request->url, "://"))
                why = "it is relative: write the scheme and the host, or set the client's base_url";
        ed_http_fault_note(fault, "url: %s", why);
}

/* ---- the whole ------------------------------------------------------------- */

void ed_http_request_fault(const struct ed_http_request_fields *fields,
                           const eddy_http_client *client, const struct eddy_http_request *request)
{
        struct eddy_http_fault *fault = request->ret_fault;
        struct refusal found;

        if (!fault)
                return;
        found = find_in_method(fields, request);
        if (!found.why)
                found = find_in_body(request);
        if (!found.why)
                found = find_in_headers(fields, client, request);
        if (!found.why)
                found = refuse("headers", NULL, "the head of the request has more than 256 KiB");
        if (found.name)
                snprintf(fault->text, sizeof(fault->text), "%s: \"%.200s\": %s", found.part,
                         found.name, found.why);
        else if (found.at > 0)
                snprintf(fault->text, sizeof(fault->text), "%s: number %zu: %s", found.part,
                         found.at, found.why);
        else
                snprintf(fault->text, sizeof(fault->text), "%s: %s", found.part, found.why);
}
