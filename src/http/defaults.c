/*
 * http/defaults.c - see defaults.h. All is checked when the client is made, so that a mistake is
 * reported once and not by each request.
 */
#include "http/defaults.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/url.h"
#include "http/request_fields.h"

/*
 * Store why an option is refused. Returns 'err'. No value is stored: a URL may have a password, and
 * a header may be one.
 */
static int refuse(const struct eddy_http_client_opts *opts, int err, const char *option,
                  const char *name, const char *why)
{
        struct eddy_http_fault *fault = opts->ret_fault;

        if (fault && *name)
                snprintf(fault->text, sizeof(fault->text), "%s: \"%.200s\": %s", option, name, why);
        else if (fault)
                snprintf(fault->text, sizeof(fault->text), "%s: %s", option, why);
        return err;
}

/* ---- the base URL ---------------------------------------------------------- */

static int init_base(struct ed_http_defaults *defaults, const struct eddy_http_client_opts *opts)
{
        const char *text = opts->base_url;
        size_t bytes = strlen(text);
        struct eddy_url url;
        int err = eddy_http_url_origin(text, defaults->origin);

        if (err >= 0)
                err = eddy_url_parse(text, bytes, &url);
        if (err == -ENOMEM)
                return err;
        if (err < 0)
                return refuse(opts, err, "base_url", "",
                              "write a URL such as \"https://api.example.com/v1\"");
        if (url.query.text || url.fragment.text)
                return refuse(opts, -EINVAL, "base_url", "", "remove the query and the fragment");
        defaults->url = ed_alloc(bytes + 1);
        defaults->directory = ed_alloc(bytes + 2);
        if (!defaults->url || !defaults->directory)
                return -ENOMEM;
        memcpy(defaults->url, text, bytes + 1);
        memcpy(defaults->directory, text, bytes + 1);
        if (text[bytes - 1] != '/')
                memcpy(defaults->directory + bytes, "/", 2);
        return 0;
}

/* ---- the headers ----------------------------------------------------------- */

/* Headers that belong to one request: where it goes, and how its body ends. */
static bool is_of_request(const char *name)
{
        return strcasecmp(name, "host") == 0 || strcasecmp(name, "content-length") == 0 ||
               strcasecmp(name, "transfer-encoding") == 0 || strcasecmp(name, "expect") == 0;
}

static int check_header(const struct eddy_http_client_opts *opts,
                        const struct eddy_http_header *header)
{
        const int err = EDDY_E_HTTP_INVALID_REQUEST;

        if (!header->name || !header->value)
                return refuse(opts, err, "headers", header->name ? header->name : "",
                              "the name or the value is NULL");
        if (!eddy_http_is_token(header->name, strlen(header->name)))
                return refuse(opts, err, "headers", header->name,
                              "a name has letters, digits and some signs, without spaces");
        if (!eddy_http_is_value(header->value, strlen(header->value)))
                return refuse(opts, err, "headers", header->name,
                              "the value has a control character, such as a line end");
        if (is_of_request(header->name))
                return refuse(opts, err, "headers", header->name,
                              "set this header in each request");
        return 0;
}

static char *copy_text(char *to, const char *text, const char **ret_text)
{
        size_t bytes = strlen(text) + 1;

        memcpy(to, text, bytes);
        *ret_text = to;
        return to + bytes;
}

static int init_headers(struct ed_http_defaults *defaults, const struct eddy_http_client_opts *opts)
{
        size_t count = opts->headers_count, bytes = count * sizeof(struct eddy_http_header);
        char *text;
        int err;

        for (size_t i = 0; i < count; i++) {
                err = check_header(opts, &opts->headers[i]);
                if (err < 0)
                        return err;
                bytes += strlen(opts->headers[i].name) + strlen(opts->headers[i].value) + 2;
        }
        if (bytes > ED_HTTP_REQUEST_HEAD_MAX)
                return refuse(opts, EDDY_E_HTTP_INVALID_REQUEST, "headers", "",
                              "they are together longer than 256 KiB");
        defaults->headers = ed_alloc(bytes);
        if (!defaults->headers)
                return -ENOMEM;
        defaults->headers_bytes = bytes;
        defaults->headers_count = count;
        text = (char *) &defaults->headers[count];
        for (size_t i = 0; i < count; i++) {
                text = copy_text(text, opts->headers[i].name, &defaults->headers[i].name);
                text = copy_text(text, opts->headers[i].value, &defaults->headers[i].value);
        }
        return 0;
}

int ed_http_defaults_init(struct ed_http_defaults *defaults,
                          const struct eddy_http_client_opts *opts)
{
        int err = opts->base_url ? init_base(defaults, opts) : 0;

        if (opts->headers_count > ED_HTTP_REQUEST_HEAD_MAX)
                return -EINVAL;
        if (!opts->headers && opts->headers_count > 0)
                return refuse(opts, EDDY_E_HTTP_INVALID_REQUEST, "headers", "",
                              "it is NULL, and 'headers_count' is above 0");
        return err >= 0 && opts->headers_count > 0 ? init_headers(defaults, opts) : err;
}

void ed_http_defaults_fini(struct ed_http_defaults *defaults)
{
        ed_free(defaults->url);
        ed_free(defaults->directory);
        if (defaults->headers)
                explicit_bzero(defaults->headers, defaults->headers_bytes);
        ed_free(defaults->headers);
        *defaults = (struct ed_http_defaults){ .url = NULL };
}
