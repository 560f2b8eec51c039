/*
 * common/headers.c - reads and checks headers and methods of the command line.
 */
#include "common/headers.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/console.h"
#include "common/slurp.h"
#include "eddy/alloc.h"
#include "eddy/http_text.h"

enum { FILE_BYTES_MAX = 64 << 10 };

void ed_headers_fini(struct ed_headers *headers)
{
        for (size_t i = 0; i < headers->count; i++)
                eddy_free((char *) headers->items[i].name);
        headers->count = 0;
}

/* Add one header. Messages name the header, but its value may be a secret. */
static int header_add(struct ed_headers *headers, const char *command, const char *text)
{
        static const char *const own[] = { "Content-Length", "Transfer-Encoding", "Connection" };
        int name_bytes = (int) strcspn(text, ":");
        const char *value = text + name_bytes;
        char *copy;

        if (*value != ':' || !eddy_http_is_token(text, (size_t) name_bytes)) {
                /* Text without a colon may be a key. */
                ed_console_usage(command, "--header %.*s: write it as 'NAME: VALUE'",
                                 *value == ':' ? (int) strcspn(text, " \t:") : 0, text);
                return -EINVAL;
        }
        for (value++; *value == ' ' || *value == '\t';)
                value++;
        if (!eddy_http_is_value(value, strlen(value))) {
                ed_console_usage(command, "--header %.*s: the value contains a control character",
                                 name_bytes, text);
                return -EINVAL;
        }
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
                if (strncasecmp(text, own[i], (size_t) name_bytes) == 0 &&
                    own[i][name_bytes] == '\0') {
                        ed_console_usage(command, "--header %s: eddy sets this one itself", own[i]);
                        return -EINVAL;
                }
        }
        if (headers->count == ED_HEADERS_MAX) {
                ed_console_usage(command, "--header: at most %d are possible", ED_HEADERS_MAX);
                return -EINVAL;
        }
        copy = eddy_malloc(strlen(text) + 2);
        if (!copy)
                return -ENOMEM;
        memcpy(copy, text, (size_t) name_bytes);
        copy[name_bytes] = '\0';
        memcpy(copy + name_bytes + 1, value, strlen(value) + 1);
        headers->items[headers->count++] =
                (struct eddy_http_header){ .name = copy, .value = copy + name_bytes + 1 };
        return 0;
}

/* Add the headers of a file, one on each line. */
static int file_add(struct ed_headers *headers, const char *command, const char *path)
{
        char *text, *line, *next;
        size_t bytes;
        int err = ed_slurp(command, "--header @", path, FILE_BYTES_MAX, &text, &bytes);

        if (err < 0)
                return err;
        for (line = text; err == 0 && *line; line = next) {
                size_t line_bytes = strcspn(line, "\n");

                next = line + line_bytes + (line[line_bytes] == '\n');
                line[line_bytes] = '\0';
                if (line_bytes > 0 && line[line_bytes - 1] == '\r')
                        line[line_bytes - 1] = '\0';
                if (*line)
                        err = header_add(headers, command, line);
        }
        explicit_bzero(text, bytes);
        eddy_free(text);
        return err;
}

int ed_headers_add(struct ed_headers *headers, const char *command, const char *text)
{
        return *text == '@' ? file_add(headers, command, text + 1)
                            : header_add(headers, command, text);
}

void ed_headers_overwrite(char *text)
{
        char *colon = *text == '@' ? NULL : strchr(text, ':');

        if (colon)
                memset(colon + 1, '*', strlen(colon + 1));
}

int ed_headers_check_method(const char *command, const char *method)
{
        static const char *const methods[] = { "GET",    "HEAD",    "POST",  "PUT",
                                               "DELETE", "OPTIONS", "PATCH", "TRACE" };

        for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
                if (strcasecmp(method, methods[i]) == 0 && strcmp(method, methods[i]) != 0) {
                        ed_console_usage(command, "--method %s: did you mean %s, in capitals?",
                                         method, methods[i]);
                        return -EINVAL;
                }
        }
        if (!eddy_http_is_token(method, strlen(method)) || strlen(method) > 32) {
                ed_console_usage(command, "--method %s: not a method", method);
                return -EINVAL;
        }
        if (strcmp(method, "CONNECT") == 0) {
                ed_console_usage(command, "--method CONNECT: it is for proxies, not for URLs");
                return -EINVAL;
        }
        return 0;
}
