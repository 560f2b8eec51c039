/*
 * batch/template_option.c - see template_option.h.
 */
#include "batch/template_option.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/console.h"
#include "common/slurp.h"
#include "common/url_shown.h"
#include "eddy/alloc.h"

int ed_template_body_read(const char *command, const char *value, char **ret_body,
                          size_t *ret_bytes)
{
        size_t bytes = strlen(value);

        if (*value == '@')
                return ed_slurp(command, "--body @", value + 1, ED_TEMPLATE_BODY_BYTES_MAX,
                                ret_body, ret_bytes);
        *ret_body = eddy_malloc(bytes + 1);
        if (!*ret_body)
                return -ENOMEM;
        memcpy(*ret_body, value, bytes + 1);
        *ret_bytes = bytes;
        return 0;
}

/* Report that --body is not a template. */
static int body_refuse(const char *command, const char *body, const char *error)
{
        bool is_file = access(body, F_OK) == 0;

        return ed_console_usage(command, "--body: %s%s%s", error,
                                is_file ? "; to read a file, write --body @" : "",
                                is_file ? body : "");
}

/* Returns true if -H has set this header before: the first one is sent. */
static bool is_repeated(const struct ed_headers *headers, size_t index)
{
        for (size_t i = 0; i < index; i++)
                if (strcasecmp(headers->items[i].name, headers->items[index].name) == 0)
                        return true;
        return false;
}

static int headers_open(const char *command, const struct ed_headers *headers,
                        struct ed_templates *templates)
{
        char error[ED_FAULT_BYTES];
        int err = 0;

        for (size_t i = 0; err == 0 && i < headers->count; i++) {
                const struct eddy_http_header *header = &headers->items[i];
                struct ed_template_header *one;

                if (!ed_template_is(header->value) || is_repeated(headers, i))
                        continue;
                if (!templates->headers)
                        templates->headers =
                                eddy_malloc(headers->count * sizeof(*templates->headers));
                if (!templates->headers)
                        return -ENOMEM;
                one = &templates->headers[templates->headers_count];
                one->name = header->name;
                err = ed_template_new_header(header->value, &one->value, error);
                if (err == -EINVAL)
                        return ed_console_usage(command, "--header %s: %s", header->name, error);
                templates->headers_count += err == 0;
        }
        return err;
}

int ed_template_options_open(const char *command, const struct ed_template_options *options,
                             struct ed_templates *templates)
{
        char error[ED_FAULT_BYTES], shown[ED_URL_SHOWN_BYTES];
        int err = 0;

        *templates = (struct ed_templates){ 0 };
        if (options->body)
                err = ed_template_new(options->body, options->body_bytes, &templates->body, error);
        if (err == -EINVAL)
                return body_refuse(command, options->body, error);
        if (err == 0 && options->url && ed_template_is(options->url))
                err = ed_template_new_url(options->url, &templates->url, error);
        if (err == -EINVAL)
                return ed_console_usage(command, "--url %s: %s",
                                        ed_url_shown(shown, options->url, strlen(options->url)),
                                        error);
        if (err == 0)
                err = headers_open(command, options->headers, templates);
        if (err == 0 && options->skip_empty && !ed_templates_have_places(templates))
                return ed_console_usage(
                        command, "--skip-empty leaves out lines whose fields are empty: %s",
                        !options->repeats
                                ? "write a field as {{name}} in --url, --body or -H"
                                : "give also --body, --url and -H as the run had them, in which "
                                  "the fields are {{name}}");
        if (err != -ENOMEM)
                return err;
        ed_console_say(command, "out of memory");
        return ED_EXIT_FAILED;
}

bool ed_template_options_suit_csv(const char *url, const char *body,
                                  const struct ed_headers *headers)
{
        bool uses = url && (body || ed_template_is(url));

        for (size_t i = 0; url && !uses && i < headers->count; i++)
                uses = ed_template_is(headers->items[i].value);
        return uses;
}
