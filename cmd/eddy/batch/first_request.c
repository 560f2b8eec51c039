/*
 * batch/first_request.c - see first_request.h.
 */
#include "batch/first_request.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "batch/answer/answer_line.h"
#include "batch/request/sent.h"
#include "common/excerpt.h"
#include "common/url_shown.h"
#include "eddy/alloc.h"
#include "eddy/http_text.h"

#define HIDDEN  "***"
#define INDENT  "                "
#define HEADING "first request   "

enum { TEXT_BYTES_MAX = 2000 };

/* Append a text that may hold anything, up to TEXT_BYTES_MAX. */
static void text_add(struct ed_draft *report, const char *text, size_t bytes)
{
        size_t room_bytes = (bytes < TEXT_BYTES_MAX ? bytes : TEXT_BYTES_MAX) + sizeof("...");
        char *room = ed_draft_room(report, room_bytes);

        if (!room)
                return;
        ed_excerpt_within(room, room_bytes, text, bytes);
        report->bytes += strlen(room);
}

/* Append a JSON text on one line, without the white space between its tokens. */
static void json_add(struct ed_draft *report, const char *text, size_t bytes)
{
        struct ed_draft compact = { 0 };
        char *room = ed_draft_room(&compact, bytes);
        int64_t compact_bytes = room ? ed_answer_body_compact(text, bytes, room) : -ENOMEM;

        if (compact_bytes < 0)
                text_add(report, text, bytes);
        else
                text_add(report, room, (size_t) compact_bytes);
        ed_draft_fini(&compact);
}

/* ---- the URL --------------------------------------------------------------------------------- */

static bool is_place(const char *at)
{
        return at[0] == '{' && at[1] == '{';
}

/* Returns what follows a character or a place of a template, whose places are valid. */
static const char *template_next(const char *at)
{
        const char *end = is_place(at) ? strstr(at + 2, "}}") : NULL;

        return end ? end + 2 : at + 1;
}

/* Append the query of a filled URL. 'from' and 'filled' are after the '?' of template and URL. */
static void query_add(struct ed_draft *report, const char *from, const char *filled)
{
        const char *mark = "?";

        for (;;) {
                size_t bytes = strcspn(filled, "&#"), name = strcspn(filled, "=&#");
                bool has_place = false;

                for (; *from && *from != '&' && *from != '#'; from = template_next(from))
                        has_place |= is_place(from);
                ed_draft_add_str(report, mark);
                if (has_place) {
                        text_add(report, filled, bytes);
                } else {
                        text_add(report, filled, name < bytes ? name + 1 : 0);
                        ed_draft_add_str(report, bytes > 0 ? HIDDEN : "");
                }
                if (*from != '&' || filled[bytes] != '&')
                        return;
                from++;
                filled += bytes + 1;
                mark = "&";
        }
}

static void url_add(struct ed_draft *report, const struct ed_request *request,
                    const struct ed_first_request_opts *opts)
{
        char shown[ED_URL_SHOWN_BYTES];
        const char *url = request->url, *from = opts->templates->url ? opts->url : "";
        size_t bytes = strlen(url);

        if (*url == '/' && opts->base) {
                ed_url_shown(shown, opts->base, ed_sent_base_bytes(opts->base, url));
                ed_draft_add_str(report, shown);
        }
        while (*from && *from != '?')
                from = template_next(from);
        if (*from)
                bytes = strcspn(url, "?");
        ed_draft_add_str(report, ed_url_shown(shown, url, bytes));
        if (*from && url[bytes] == '?')
                query_add(report, from + 1, url + bytes + 1);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Returns true if a value may be shown: that of the program, or one that was filled in. */
static bool is_shown(const struct ed_request *request, const struct ed_templates *templates,
                     const struct eddy_http_header *header)
{
        if (eddy_http_header_is_secret(header->name))
                return false;
        for (size_t i = 0; i < templates->headers_count; i++)
                if (strcasecmp(templates->headers[i].name, header->name) == 0)
                        return true;
        return strcasecmp(header->name, "Content-Type") == 0 ||
               (request->vendor && header->value == request->vendor->value);
}

static int headers_add(struct ed_draft *report, const struct ed_request *request,
                       const struct ed_first_request_opts *opts)
{
        size_t most = request->headers_count + opts->headers->count + ED_SENT_OWN;
        struct ed_sent sent = { eddy_malloc(most * sizeof(*sent.headers)), 0 };

        if (!sent.headers)
                return -ENOMEM;
        ed_sent_fill(&sent, request, opts->headers, "multipart/form-data");
        for (size_t i = 0; i < sent.count; i++) {
                const struct eddy_http_header *header = &sent.headers[i];

                ed_draft_add_str(report, INDENT);
                text_add(report, header->name, strlen(header->name));
                ed_draft_add_str(report, ": ");
                if (is_shown(request, opts->templates, header))
                        text_add(report, header->value, strlen(header->value));
                else
                        ed_draft_add_str(report, HIDDEN);
                ed_draft_add_str(report, "\n");
        }
        eddy_free(sent.headers);
        return 0;
}

/* Append the parts of a form: the values of its fields, and the paths of its files. */
static void parts_add(struct ed_draft *report, const struct ed_request *request)
{
        for (size_t i = 0; i < request->parts_count; i++) {
                const struct eddy_http_part *part = &request->parts[i];

                ed_draft_add_str(report, INDENT "form ");
                text_add(report, part->name, strlen(part->name));
                ed_draft_add_str(report, part->path ? ": file " : ": ");
                if (part->path)
                        text_add(report, part->path, strlen(part->path));
                else
                        text_add(report, part->data, part->data_bytes);
                ed_draft_add_str(report, "\n");
        }
}

int ed_first_request_add(const struct ed_request *request, const struct ed_first_request_opts *opts,
                         struct ed_draft *report)
{
        int err;

        ed_draft_add_str(report, HEADING);
        text_add(report, request->method, strlen(request->method));
        ed_draft_add_str(report, " ");
        url_add(report, request, opts);
        ed_draft_add_str(report, "\n");
        err = headers_add(report, request, opts);
        if (err == 0 && request->body) {
                ed_draft_add_str(report, INDENT);
                if (request->body_is_json)
                        json_add(report, request->body, request->body_bytes);
                else
                        ed_draft_add_printf(report, "(%zu bytes)", request->body_bytes);
                ed_draft_add_str(report, "\n");
        }
        if (err == 0)
                parts_add(report, request);
        return err < 0 || ed_draft_is_whole(report) ? err : -ENOMEM;
}
