/*
 * http/folder_list.c - the page that lists the names in a folder.
 *
 * The names are collected and sorted before the response begins; then the page is written entry by entry.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "eddy/url.h"
#include "http/folder.h"
#include "io/beneath.h"

/* The names, each after a letter for its kind and with a NUL. */
struct names {
        struct ed_buf texts;
        const char **sorted; /* owned; the letters */
        size_t count;
        char *path;        /* owned: the folder and a slash, with room for a name */
        size_t path_bytes; /* of the folder and the slash */
        bool has_more;     /* than 'listing_max' */
};

enum { A_FILE = 'f', A_FOLDER = 'd' };

/* ---- collecting ------------------------------------------------------------ */

/* Returns the letter of a link beneath the folder, or 0 if it leads nowhere. Errors: those of opening. */
static int kind_of_link(const eddy_http_folder *folder, struct names *names, const char *entry)
{
        struct eddy_file_info info;
        eddy_file *file;
        int err;

        memcpy(names->path + names->path_bytes, entry, strlen(entry) + 1);
        err = ed_beneath_file(folder->fd, names->path, folder->open_flags, &info, &file);
        if (err == -EISDIR)
                return A_FOLDER;
        if (err < 0)
                return ed_http_folder_is_hidden(err) || err == -EBUSY ? 0 : err;
        eddy_file_close(file);
        return A_FILE;
}

static bool is_hidden_name(const char *name)
{
        if (name[0] == '.')
                return true;
        for (const unsigned char *at = (const unsigned char *) name; *at; at++)
                if (*at < ' ' || *at == 0x7f)
                        return true;
        return false;
}

/* Returns the letter of an entry, or 0 if a request for it is answered with 404. */
static int kind_of(const eddy_http_folder *folder, struct names *names,
                   const struct eddy_folder_entry *entry)
{
        if (is_hidden_name(entry->name))
                return 0;
        switch (entry->kind) {
        case EDDY_FILE_REGULAR:
                return A_FILE;
        case EDDY_FILE_FOLDER:
                return A_FOLDER;
        case EDDY_FILE_LINK:
                return folder->open_flags & ED_BENEATH_NO_LINKS
                               ? 0
                               : kind_of_link(folder, names, entry->name);
        default:
                return 0;
        }
}

static int collect(const eddy_http_folder *folder, eddy_folder *from, struct names *names)
{
        struct eddy_folder_entry entry;
        int n;

        while ((n = eddy_folder_next(from, &entry)) > 0) {
                int kind = kind_of(folder, names, &entry), err;
                char letter = (char) kind;

                if (kind < 0)
                        return kind;
                if (kind == 0)
                        continue;
                if (names->count == folder->opts.listing_max) {
                        names->has_more = true;
                        return 0;
                }
                err = ed_buf_append(&names->texts, &letter, 1);
                if (err == 0)
                        err = ed_buf_append(&names->texts, entry.name, strlen(entry.name) + 1);
                if (err < 0)
                        return err;
                names->count++;
        }
        return n;
}

static int compare(const void *a, const void *b)
{
        return strcmp(*(const char *const *) a + 1, *(const char *const *) b + 1);
}

static int sort(struct names *names)
{
        const char *at = ed_buf_data(&names->texts);

        if (names->count == 0)
                return 0;
        names->sorted = ed_alloc(names->count * sizeof(*names->sorted));
        if (!names->sorted)
                return -ENOMEM;
        for (size_t i = 0; i < names->count; i++, at += strlen(at) + 1)
                names->sorted[i] = at;
        qsort(names->sorted, names->count, sizeof(*names->sorted), compare);
        return 0;
}

/* ---- the page -------------------------------------------------------------- */

enum {
        PIECE_BYTES = 8 * 1024, /* of the page that are sent at once */
        ENTRY_BYTES_MAX = 64 + 9 * EDDY_FOLDER_NAME_MAX,
};

/* The end of the page so far. */
struct page {
        eddy_http_exchange *exchange;
        struct ed_buf text;
};

static int put_bytes(struct page *page, const char *text, size_t bytes)
{
        return ed_buf_append(&page->text, text, bytes);
}

static int put(struct page *page, const char *text)
{
        return put_bytes(page, text, strlen(text));
}

/* Send the text if it has more than 'bytes_max' bytes. */
static int send_above(struct page *page, size_t bytes_max)
{
        size_t bytes = ed_buf_bytes(&page->text);
        int err;

        if (bytes <= bytes_max)
                return 0;
        err = eddy_http_exchange_write(page->exchange, ed_buf_data(&page->text), bytes);
        ed_buf_consume(&page->text, bytes);
        return err;
}

/* Returns the text that HTML needs for a character, or NULL. */
static const char *escape_of(char c)
{
        switch (c) {
        case '&':
                return "&amp;";
        case '<':
                return "&lt;";
        case '>':
                return "&gt;";
        case '"':
                return "&quot;";
        case '\'':
                return "&#39;";
        default:
                return NULL;
        }
}

/* Put a text of any bytes; those that are not UTF-8 become U+FFFD. */
static int put_escaped(struct page *page, const char *text)
{
        size_t bytes = strlen(text);
        int err = 0;

        while (bytes > 0 && err == 0) {
                const char *escape = escape_of(*text);
                size_t n = ed_utf8_length((const unsigned char *) text, bytes);

                err = escape  ? put(page, escape)
                      : n > 0 ? put_bytes(page, text, n)
                              : put(page, "\xef\xbf\xbd");
                text += n > 0 ? n : 1;
                bytes -= n > 0 ? n : 1;
        }
        return err;
}

/* The reference begins with "./", so that no name is taken for a scheme. */
static int put_entry(struct page *page, const char *entry)
{
        const char *name = entry + 1, *slash = entry[0] == A_FOLDER ? "/" : "";
        char quoted[3 * EDDY_FOLDER_NAME_MAX + 1];
        int64_t n = eddy_url_quote(name, strlen(name), 0, quoted, sizeof(quoted));
        int err = n < 0 ? (int) n : put(page, "<li><a href=\"./");

        if (err == 0)
                err = put_bytes(page, quoted, (size_t) n);
        if (err == 0)
                err = put(page, slash);
        if (err == 0)
                err = put(page, "\">");
        if (err == 0)
                err = put_escaped(page, name);
        if (err == 0)
                err = put(page, slash);
        if (err == 0)
                err = put(page, "</a>\n");
        return err < 0 ? err : send_above(page, PIECE_BYTES);
}

static int put_title(struct page *page, const char *before, const char *name)
{
        int err = put(page, before);

        if (err == 0)
                err = put_escaped(page, name);
        return err < 0 || !name[0] ? err : put(page, "/");
}

static int put_page(struct page *page, const char *name, const struct names *names)
{
        int err = put_title(page,
                            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>/",
                            name);

        if (err == 0)
                err = put_title(page, "</title>\n<h1>/", name);
        if (err == 0)
                err = put(page, "</h1>\n<ul>\n");
        if (err == 0 && name[0])
                err = put(page, "<li><a href=\"../\">../</a>\n");
        for (size_t i = 0; i < names->count && err == 0; i++)
                err = put_entry(page, names->sorted[i]);
        if (err == 0)
                err = put(page, "</ul>\n");
        if (err == 0 && names->has_more)
                err = put(page, "<p>There are more names than this list has.</p>\n");
        return err < 0 ? err : send_above(page, 0);
}

static int respond(eddy_http_exchange *exchange, const char *name, const struct names *names)
{
        static const struct eddy_http_header headers[] = {
                { "Content-Type", "text/html; charset=utf-8" },
                { "X-Content-Type-Options", "nosniff" },
                { "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'" },
        };
        struct page page = { .exchange = exchange };
        int err = eddy_http_exchange_begin(exchange, 200, headers,
                                           sizeof(headers) / sizeof(headers[0]), -1);

        if (err < 0)
                return err;
        ed_buf_init(&page.text, PIECE_BYTES + ENTRY_BYTES_MAX + 20 * strlen(name) + 500);
        err = put_page(&page, name, names);
        ed_buf_fini(&page.text);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

/* Collect and sort the names. */
static int find_names(const eddy_http_folder *folder, const char *name, struct names *names)
{
        eddy_folder *from;
        int err = ed_beneath_folder(folder->fd, name[0] ? name : ".", folder->open_flags, &from);

        if (err < 0)
                return err;
        names->path_bytes = strlen(name) + (name[0] != '\0');
        names->path = ed_alloc(names->path_bytes + EDDY_FOLDER_NAME_MAX + 1);
        if (names->path) {
                snprintf(names->path, names->path_bytes + 1, "%s/", name);
                err = collect(folder, from, names);
        } else {
                err = -ENOMEM;
        }
        eddy_folder_close(from);
        return err < 0 ? err : sort(names);
}

int ed_http_folder_list(eddy_http_exchange *exchange, const eddy_http_folder *folder,
                        const char *name)
{
        struct names names = { .count = 0 };
        int err;

        ed_buf_init(&names.texts, (size_t) folder->opts.listing_max * (EDDY_FOLDER_NAME_MAX + 2));
        err = find_names(folder, name, &names);
        if (err == 0)
                err = respond(exchange, name, &names);
        ed_free(names.sorted);
        ed_free(names.path);
        ed_buf_fini(&names.texts);
        return err;
}
