/*
 * eddy/http_folder.h - an HTTP server's answers from the files in a folder.
 *
 *     eddy_http_folder *folder;
 *     int err = eddy_http_folder_new("public", NULL, &folder);
 *
 *     if (err < 0)
 *             return err;
 *     eddy_http_router_add(router, "GET /static/{path...}", eddy_http_folder_handle, folder, NULL);
 *     ...
 *     eddy_http_folder_free(folder);          after the server has returned
 *
 * The pattern has no route for "/static" without a slash, which is a 404: add one that redirects
 * (eddy_http_exchange_redirect()) if clients ask for it.
 *
 * Files.  Only regular files inside the folder are sent.  Neither "..", nor a symbolic link, nor a
 * concurrent rename can lead outside the folder.  A path with a component that begins with a dot
 * is hidden, unless a symbolic link with another name points to the file; to serve
 * "/.well-known/", make another eddy_http_folder for that folder.  The answer to a request for a
 * hidden or unreadable file, a device or a FIFO is the 404 of a missing file.  Each file has a
 * single path: "a//b", "a%2Fb" and "a.txt/" are answered with 404.  Names are opened with
 * openat2(2) (Linux 5.6).  If the kernel lacks this call or a seccomp filter forbids it, symbolic
 * links inside the folder are not followed, and are answered with 404 too.
 *
 * Answers.  A file is sent with the media type of its name's ending, "X-Content-Type-Options:
 * nosniff", a strong ETag, Last-Modified (not in the second of the change itself) and
 * Accept-Ranges.  Conditional requests and ranges are handled as RFC 9110, 13 and 14 require, see
 * eddy_http_exchange_respond_file().  A path that names a folder without a slash at the end is
 * redirected to the path with the slash, which is answered with the file 'index' in the folder.
 *
 * Changes.  Replacing a file by a rename (eddy_file_replace()) is safe: each answer is the old or
 * the new file.  If a file is written while it is sent, the connection is closed before the end of
 * the body, so that the client notices.  Files of at most 64 KiB are read at once, and need no
 * such check.  Without TLS the kernel sends the pages of larger files itself; bytes that are
 * overwritten in place after the whole body was handed to the kernel, and before the client has
 * it, can reach the client.
 */
#ifndef EDDY_HTTP_FOLDER_H
#define EDDY_HTTP_FOLDER_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_folder eddy_http_folder;

enum {
        /* A folder without an index is answered with a list of its names, in HTML. */
        EDDY_HTTP_FOLDER_LISTING = 1 << 0,
        /*
         * If the client accepts the coding, send "a.js.br", "a.js.zst" or "a.js.gz" in place of
         * "a.js".  "a.js" must exist too, and must not be newer than the file that is sent.
         */
        EDDY_HTTP_FOLDER_PRECOMPRESSED = 1 << 1,
        /* Symbolic links are hidden, even if they stay inside the folder. */
        EDDY_HTTP_FOLDER_NO_LINKS = 1 << 2,
};

enum { EDDY_HTTP_FOLDER_LISTING_MAX = 100000 };

/* The media type of an ending, such as { "csv", "text/csv; charset=utf-8; header=present" }. */
struct eddy_http_folder_type {
        const char *ending; /* without the dot; capitals and small letters are equal */
        const char *type;
};

struct eddy_http_folder_opts {
        const char *index EDDY_UNSET;         /* NULL: "index.html"; "": none */
        const char *cache_control EDDY_UNSET; /* of files, as "max-age=60"; NULL: not sent */
        /* take precedence over eddy's own types; an unknown ending is application/octet-stream */
        const struct eddy_http_folder_type *types EDDY_UNSET;
        size_t types_count EDDY_UNSET;
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_FOLDER_* */
        uint32_t listing_max EDDY_UNSET;  /* names in a list, in about 270 bytes each; 0: 1,000 */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Open the folder at 'path', inside or outside of a run.  If 'path' is renamed or replaced later,
 * the folder that was opened is still served.  'opts' may be NULL.
 *
 * Suspends: no; may wait for a disk.
 * Errors: -EINVAL  'path' is NULL, an unknown flag, 'listing_max' is too large, or 'index' has a
 *                  slash or begins with a dot
 *         -ENOENT, -ENOTDIR, -EACCES, -EMFILE and others of open(2)
 *         -ENOMEM
 * Owns: borrows the texts and types of 'opts'.  Returns (owned) '*ret_folder', until
 *       eddy_http_folder_free().
 */
EDDY_API EDDY_MUST_USE int eddy_http_folder_new(const char *path,
                                                const struct eddy_http_folder_opts *opts,
                                                eddy_http_folder **ret_folder);

/* Close a folder that no server uses any more.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_http_folder_free(eddy_http_folder *folder);

/*
 * A handler (eddy_http_handler_fn) that answers with the file that the request names.  If the
 * route's pattern ends with a rest, as "GET /static/{path...}" does, the name is that rest of the
 * path, else it is the whole path.  'folder' is an eddy_http_folder, borrowed, which may serve on
 * several threads.  Methods other than GET and HEAD are answered with 405.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_respond_file(), except those of missing files
 *         -EINVAL          'folder' is NULL
 *         -EMFILE, -EIO and others of open(2)
 */
EDDY_API EDDY_MUST_USE int eddy_http_folder_handle(eddy_http_exchange *exchange, void *folder);

/*
 * Answer with the file 'name', such as "reports/2026.pdf", for a handler that chooses the file.
 * 'name' is not percent-encoded.  The rules for requests apply: a hidden name is answered with 404.
 * With a slash at its end 'name' is a folder.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_folder_handle()
 *         -EINVAL  also: 'name' is NULL
 */
EDDY_API EDDY_MUST_USE int eddy_http_folder_respond(eddy_http_exchange *exchange,
                                                    const eddy_http_folder *folder,
                                                    const char *name);

static inline void eddy_http_folder_auto_release(eddy_http_folder **folder)
{
        eddy_http_folder_free(*folder);
}

EDDY_END_DECLS

#endif
