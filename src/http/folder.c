/*
 * http/folder.c - serving the files of a folder, see eddy/http_folder.h.
 *
 * The path is decoded and checked as a text first (wire/folder_path.h); then the kernel keeps the open
 * beneath the folder (io/beneath.h), also with symbolic links.
 */
#include "http/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/content.h"
#include "http/problem.h"
#include "http/router.h"
#include "io/beneath.h"
#include "wire/folder_path.h"
#include "wire/media_type.h"

enum {
        LISTING_DEFAULT = 1000,
        ENDING_BYTES = 5, /* of ".zst" with a NUL */
        HEADERS_MAX = 5,
};

/* The codings of files that were compressed before. */
static const struct coding {
        const char *name, *ending;
} codings[ED_ACCEPT_IDENTITY] = {
        [ED_ACCEPT_BR] = { "br", ".br" },
        [ED_ACCEPT_ZSTD] = { "zstd", ".zst" },
        [ED_ACCEPT_GZIP] = { "gzip", ".gz" },
};

/* A file that is sent. */
struct found {
        eddy_file *file; /* owned */
        struct eddy_file_info info;
        const struct coding *coding; /* NULL: none */
};

/* ---- the folder ------------------------------------------------------------ */

static bool is_valid(const struct eddy_http_folder_opts *opts)
{
        const unsigned flags = EDDY_HTTP_FOLDER_LISTING | EDDY_HTTP_FOLDER_PRECOMPRESSED |
                               EDDY_HTTP_FOLDER_NO_LINKS;

        return !(opts->flags & ~flags) && opts->listing_max <= EDDY_HTTP_FOLDER_LISTING_MAX &&
               !(opts->index && (strchr(opts->index, '/') || opts->index[0] == '.'));
}

int eddy_http_folder_new(const char *path, const struct eddy_http_folder_opts *opts,
                         eddy_http_folder **ret_folder)
{
        eddy_http_folder *folder;
        int fd;

        if (!path || (opts && !is_valid(opts)))
                return -EINVAL;
        folder = ed_alloc_zero(sizeof(*folder));
        if (!folder)
                return -ENOMEM;
        fd = ed_beneath_begin(path);
        if (fd < 0) {
                ed_free(folder);
                return fd;
        }
        folder->fd = fd;
        if (opts)
                folder->opts = *opts;
        if (!folder->opts.index)
                folder->opts.index = "index.html";
        if (folder->opts.listing_max == 0)
                folder->opts.listing_max = LISTING_DEFAULT;
        if (folder->opts.flags & EDDY_HTTP_FOLDER_NO_LINKS)
                folder->open_flags = ED_BENEATH_NO_LINKS;
        *ret_folder = folder;
        return 0;
}

void eddy_http_folder_free(eddy_http_folder *folder)
{
        if (!folder)
                return;
        ed_beneath_close(folder->fd);
        ed_free(folder);
}

/* ---- files ----------------------------------------------------------------- */

/*
 * Replace the file by one that was compressed before, if the client accepts it. 'name' has room for an
 * ending. A file that is older than the one it was made of may be of an earlier one.
 */
static int find_compressed(const eddy_http_folder *folder, const struct ed_accept_coding *accept,
                           char *name, struct found *found)
{
        unsigned set = (1U << ED_ACCEPT_IDENTITY) - 1;
        size_t bytes = strlen(name);
        enum ed_accept_coding_id id;

        while ((id = ed_accept_coding_take(accept, &set)) != ED_ACCEPT_IDENTITY) {
                struct found other = { .coding = &codings[id] };
                int err;

                memcpy(name + bytes, codings[id].ending, strlen(codings[id].ending) + 1);
                err = ed_beneath_file(folder->fd, name, folder->open_flags, &other.info,
                                      &other.file);
                name[bytes] = '\0';
                if (err < 0 && !ed_http_folder_is_hidden(err))
                        return err;
                if (err < 0)
                        continue;
                if (other.info.modified_ns >= found->info.modified_ns) {
                        eddy_file_close(found->file);
                        *found = other;
                        return 0;
                }
                eddy_file_close(other.file);
        }
        return 0;
}

static const char *type_of(const eddy_http_folder *folder, const char *name)
{
        const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');

        for (size_t i = 0; dot && (!slash || slash < dot) && i < folder->opts.types_count; i++)
                if (strcasecmp(folder->opts.types[i].ending, dot + 1) == 0)
                        return folder->opts.types[i].type;
        return ed_media_type_of(name);
}

/* Returns true if middleware has added the header Vary with Accept-Encoding. */
static bool varies_already(const eddy_http_exchange *exchange)
{
        struct eddy_http_header header;
        size_t at = 0;

        while (exchange->ops->added_next(exchange, &at, &header))
                if (strcasecmp(header.name, "vary") == 0 &&
                    strcasecmp(header.value, "accept-encoding") == 0)
                        return true;
        return false;
}

static int send_found(eddy_http_exchange *exchange, const eddy_http_folder *folder,
                      const char *name, const struct found *found)
{
        struct eddy_http_header headers[HEADERS_MAX] = {
                { "Content-Type", type_of(folder, name) },
                { "X-Content-Type-Options", "nosniff" },
        };
        const bool has_codings = folder->opts.flags & EDDY_HTTP_FOLDER_PRECOMPRESSED;
        size_t n = 2;

        if (folder->opts.cache_control)
                headers[n++] =
                        (struct eddy_http_header){ "Cache-Control", folder->opts.cache_control };
        if (has_codings && !varies_already(exchange))
                headers[n++] = (struct eddy_http_header){ "Vary", "Accept-Encoding" };
        if (found->coding)
                headers[n++] = (struct eddy_http_header){ "Content-Encoding", found->coding->name };
        return ed_http_content_send(exchange, 200,
                                    &(struct ed_http_content){ .file = found->file,
                                                               .info = found->info,
                                                               .bytes = found->info.bytes,
                                                               .headers = headers,
                                                               .headers_count = n,
                                                               .is_watched = true,
                                                               .has_codings = has_codings });
}

/*
 * Send the file 'name', which has room for an ending. Errors: those of ed_beneath_file(); no response was
 * begun.
 */
static int send_name(eddy_http_exchange *exchange, const eddy_http_folder *folder, char *name)
{
        struct found found = { .coding = NULL };
        struct ed_accept_coding accept;
        int err = ed_beneath_file(folder->fd, name, folder->open_flags, &found.info, &found.file);

        if (err < 0)
                return err;
        if (folder->opts.flags & EDDY_HTTP_FOLDER_PRECOMPRESSED) {
                ed_http_exchange_accept_coding(exchange, &accept);
                err = find_compressed(folder, &accept, name, &found);
        }
        if (err == 0)
                err = send_found(exchange, folder, name, &found);
        eddy_file_close(found.file);
        return err;
}

/* ---- folders --------------------------------------------------------------- */

/*
 * Redirect to the path with a slash. The reference begins with "./" and the last part of the path, so it
 * cannot lead to another site, as "//evil.example/" would.
 */
static int redirect(eddy_http_exchange *exchange)
{
        const char *path = eddy_http_exchange_path(exchange), *slash = strrchr(path, '/');
        const char *last = slash ? slash + 1 : path, *query = eddy_http_exchange_query(exchange);
        size_t room = strlen(last) + strlen(query) +
                      sizeof("./"
                             "/?");
        char *url = ed_alloc(room);
        int err;

        if (!url)
                return -ENOMEM;
        snprintf(url, room, "./%s/%s%s", last, query[0] ? "?" : "", query);
        err = eddy_http_exchange_respond(exchange, 301,
                                         &(struct eddy_http_header){ "Location", url }, 1, NULL, 0);
        ed_free(url);
        return err;
}

/* Answer with the index of the folder 'name', which has room for the names, or a list. */
static int send_folder(eddy_http_exchange *exchange, const eddy_http_folder *folder, char *name)
{
        size_t bytes = strlen(name);
        int err = -ENOENT;

        if (folder->opts.index[0]) {
                char *at = name + bytes;

                if (bytes > 0)
                        *at++ = '/';
                memcpy(at, folder->opts.index, strlen(folder->opts.index) + 1);
                err = send_name(exchange, folder, name);
                name[bytes] = '\0';
        }
        if (ed_http_folder_is_hidden(err) && folder->opts.flags & EDDY_HTTP_FOLDER_LISTING)
                err = ed_http_folder_list(exchange, folder, name);
        return err;
}

/* ---- requests -------------------------------------------------------------- */

/* Returns the rest of the path that the pattern of the route has, else the whole, without the first slash. */
static const char *rest_of(const eddy_http_exchange *exchange)
{
        const struct ed_route *route = exchange->params ? exchange->params->match.route : NULL;
        const char *path = eddy_http_exchange_path(exchange);

        path += *path == '/';
        if (!route || !route->has_rest)
                return path;
        /* Segments of a path and of the pattern begin at the same slashes. */
        for (const char *at = strchr(route->path + 1, '/'); at; at = strchr(at + 1, '/')) {
                path = strchr(path, '/');
                if (!path)
                        return NULL;
                path++;
        }
        return path;
}

static bool is_answered(int err)
{
        return err == 0 || !ed_http_folder_is_hidden(err);
}

/* Answer by the path without its first slash; NULL: the folder itself, without a slash. */
static int respond(eddy_http_exchange *exchange, const eddy_http_folder *folder, const char *path,
                   unsigned flags)
{
        size_t bytes = path ? strlen(path) : 0;
        bool is_folder = false;
        char *name;
        int status, err;

        if (!path)
                return redirect(exchange);
        name = ed_alloc(bytes + 1 + strlen(folder->opts.index) + ENDING_BYTES);
        if (!name)
                return -ENOMEM;
        status = ed_folder_path_decode(path, flags, name, &is_folder);
        err = status != 0 ? ed_http_problem_respond(exchange, status, NULL)
              : is_folder ? send_folder(exchange, folder, name)
                          : send_name(exchange, folder, name);
        if (err == -EISDIR && !is_folder && flags & ED_FOLDER_PATH_QUOTED)
                err = redirect(exchange);
        ed_free(name);
        if (err == -EBUSY)
                return ed_http_problem_respond(exchange, 503, NULL);
        return is_answered(err) ? err : ed_http_problem_respond(exchange, 404, NULL);
}

static int respond_wrong_method(eddy_http_exchange *exchange)
{
        int err = eddy_http_exchange_add_header(exchange, "Allow", "GET, HEAD");

        return err < 0 ? err : ed_http_problem_respond(exchange, 405, NULL);
}

int eddy_http_folder_handle(eddy_http_exchange *exchange, void *folder)
{
        if (!folder)
                return -EINVAL;
        if (!ed_http_exchange_is_get_or_head(exchange))
                return respond_wrong_method(exchange);
        return respond(exchange, folder, rest_of(exchange), ED_FOLDER_PATH_QUOTED);
}

int eddy_http_folder_respond(eddy_http_exchange *exchange, const eddy_http_folder *folder,
                             const char *name)
{
        return folder && name ? respond(exchange, folder, name, 0) : -EINVAL;
}
