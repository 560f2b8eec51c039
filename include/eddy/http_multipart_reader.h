/*
 * eddy/http_multipart_reader.h - reading a form with files (multipart/form-data, RFC 7578), in a
 * server's handler or from any source of bytes.
 *
 *     EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *form = NULL;
 *     struct eddy_http_multipart_part part;
 *     int err = eddy_http_exchange_multipart(exchange, NULL, &form);
 *
 *     while (err == 0 && (err = eddy_http_multipart_next(form, &part)) > 0)
 *             err = part.filename ? eddy_http_multipart_save(form, new_path(&part), NULL, NULL)
 *                                 : eddy_http_multipart_whole(form, 0, &text, &bytes);
 *
 * A client reads the form in a response in the same way:
 *
 *     eddy_http_response_stream(response, 0, &stream);
 *     eddy_http_multipart_reader_open(eddy_http_response_header(response, "Content-Type"),
 *                                     &(struct eddy_http_body_source){ .stream = stream }, NULL, &form);
 *
 * Parts are read in their order, and nothing is kept: the memory of a reader does not grow
 * with the body.  The reader is strict, because a form that two programs read differently
 * can pass filters: a body begins with its boundary, lines end in CR LF, each part has one
 * Content-Disposition with one name, names are UTF-8, and nothing but a CR LF follows the last
 * boundary.  eddy_http_multipart_rule() returns the rule that a refused body violates.
 *
 * A cancelled call loses nothing, except a cancelled save: the next call continues.  Any other
 * error is final, except for some errors of a save, and later calls return it too.  Calls with a
 * NULL reader, or with NULL for a result, return -EINVAL, unless their comment says otherwise.
 */
#ifndef EDDY_HTTP_MULTIPART_READER_H
#define EDDY_HTTP_MULTIPART_READER_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"
#include "eddy/http_header.h"
#include "eddy/http_request.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_multipart_reader eddy_http_multipart_reader;

/*
 * All zero is the default.  The server's limit of a request's body also applies: for large files,
 * raise the server's option 'body_bytes_max' (16 MiB by default), and lower the limit of other
 * routes by eddy_http_use_body_limit().
 */
struct eddy_http_multipart_limits {
        uint32_t parts_max EDDY_UNSET;       /* 0: 1,000 */
        uint32_t head_bytes_max EDDY_UNSET;  /* of one part's headers; 0: 16 KiB; at most 2^30 */
        uint64_t field_bytes_max EDDY_UNSET; /* of one part without a file name; 0: 8 MiB */
        uint64_t file_bytes_max EDDY_UNSET;  /* of one part with a file name; 0: 16 GiB */
        uint64_t bytes_max EDDY_UNSET;       /* of the body; 0: no limit but that of its source */
        uintptr_t reserved[2] EDDY_UNSET;    /* zero */
};

/*
 * Read a form from a source, whose 'stream' or 'read' is used.  'content_type' is the value of the
 * message's Content-Type, NULL if it has none.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_CONTENT_TYPE  the type is not multipart/form-data
 *         EDDY_E_HTTP_MULTIPART     the type has no valid boundary, or two
 *         -EINVAL                   'source' is NULL, or has no or two origins; a limit is too large
 *         -ENOMEM
 * Owns: borrows what 'source' refers to until the reader is closed; returns (owned) '*ret_reader', to
 *       be closed by eddy_http_multipart_reader_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_multipart_reader_open(
        const char *content_type, const struct eddy_http_body_source *source,
        const struct eddy_http_multipart_limits *limits, eddy_http_multipart_reader **ret_reader);

/*
 * Read the form that is the body of a request.  If a handler returns an error of the reader, the
 * client gets a 400 (EDDY_E_HTTP_MULTIPART, EDDY_E_HTTP_TRUNCATED), a 413 (EDDY_E_HTTP_TOO_LARGE)
 * or a 415 (EDDY_E_HTTP_CONTENT_TYPE).  A body whose length is above 'bytes_max' is refused by this
 * call, before a client that waits for "100 Continue" has sent any of it.
 *
 * Suspends: no.
 * Errors: those of eddy_http_multipart_reader_open()
 *         EDDY_E_HTTP_TOO_LARGE  the length of the body is above 'bytes_max'
 * Owns: borrows the exchange until the reader is closed; returns (owned) '*ret_reader'.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_multipart(
        eddy_http_exchange *exchange, const struct eddy_http_multipart_limits *limits,
        eddy_http_multipart_reader **ret_reader);

/* A part.  Its texts are valid until the next part is read. */
struct eddy_http_multipart_part {
        const char *name;
        /* as the client has sent it, for example with folders; NULL: the part is not a file; "": a
         * browser's user has chosen no file.  Do not open it: see eddy_http_multipart_file_name(). */
        const char *filename;
        const char *type; /* Content-Type; NULL: none */
        uintptr_t reserved[4];
};

/*
 * Wait for the next part, and skip the rest of the present one.  Returns 1 and stores the part, or 0
 * after the last one: the whole body was read.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_MULTIPART  the body is not valid: see eddy_http_multipart_rule()
 *         EDDY_E_HTTP_TOO_LARGE  a limit: likewise
 *         EDDY_E_HTTP_TRUNCATED  the body ended before its last boundary
 *         those of the source; -ECANCELED, -ENOMEM
 *         -EBUSY                 another task is in a call on the reader
 */
EDDY_API EDDY_MUST_USE int eddy_http_multipart_next(eddy_http_multipart_reader *reader,
                                                    struct eddy_http_multipart_part *ret_part);

/*
 * Read some of the present part's data.  Returns the number of bytes, or 0 at the end of the
 * part, and before the first part.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_multipart_next(); -EINVAL also if 'bytes' is 0
 */
EDDY_API EDDY_MUST_USE int64_t eddy_http_multipart_read(eddy_http_multipart_reader *reader,
                                                        void *buf, size_t bytes);

/*
 * Read the rest of the present part's data, at most 'bytes_max' bytes (0: 8 MiB), into memory,
 * followed by a NUL.  Repeat the call after -ECANCELED: it continues.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_multipart_next()
 *         EDDY_E_HTTP_TOO_LARGE  the data have more than 'bytes_max' bytes
 * Owns: '*ret_data' is valid until the next call on the reader.
 */
EDDY_API EDDY_MUST_USE int eddy_http_multipart_whole(eddy_http_multipart_reader *reader,
                                                     size_t bytes_max, const char **ret_data,
                                                     size_t *ret_bytes);

/* Flags of struct eddy_http_multipart_save_opts. */
enum {
        EDDY_HTTP_MULTIPART_REPLACE = 1 << 0, /* replace a file or a symbolic link at the path */
        EDDY_HTTP_MULTIPART_HASH = 1 << 1,    /* compute the SHA-256 of the file */
        EDDY_HTTP_MULTIPART_NO_SYNC = 1 << 2, /* do not wait until the file is on the disk */
};

enum { EDDY_HTTP_MULTIPART_HASH_DIGITS = 64 };

/*
 * Called after each written piece of at most 64 KiB, with the bytes of the file so far.  If the
 * result is below 0, the save ends and returns this result.  May suspend; the reader is busy
 * meanwhile.
 */
typedef int eddy_http_multipart_progress_fn(uint64_t bytes, void *arg);

/* All zero is the default. */
struct eddy_http_multipart_save_opts {
        unsigned flags EDDY_UNSET; /* EDDY_HTTP_MULTIPART_* */
        uint32_t mode EDDY_UNSET;  /* permissions, which the umask reduces; 0: 0600; at most 0777 */
        eddy_http_multipart_progress_fn *progress EDDY_UNSET; /* NULL: none */
        void *arg EDDY_UNSET;                                 /* of 'progress' */
        uintptr_t reserved[2] EDDY_UNSET;                     /* zero */
};

struct eddy_http_multipart_saved {
        uint64_t bytes; /* of the file; after an error, the bytes written */
        /* in lower case, with EDDY_HTTP_MULTIPART_HASH; "": not known */
        char hash[EDDY_HTTP_MULTIPART_HASH_DIGITS + 1];
        uintptr_t reserved[2];
};

/*
 * Write the present part's data to a file.  The file gets its name when it is complete.  Until then
 * it is a temporary file in the same folder, ".eddy-" and 16 digits, which remains only if the
 * program is killed or the machine crashes.  A symbolic link at 'path' is not followed.  Never make
 * 'path' from the client's name without eddy_http_multipart_file_name().  'ret_saved' may be NULL.
 *
 * After 0, a crash of the machine does not lose the file.  With EDDY_HTTP_MULTIPART_NO_SYNC, a
 * crash can lose or damage the file, and some file systems do not report that the disk is full.
 *
 * Suspends: yes.  After a cancel the call still removes the temporary file, or syncs the folder.
 * Errors: those of eddy_http_multipart_next(): the form cannot be read further.  After the errors
 *         below, the next part can be read.  If no data of this part were read, the part can be
 *         saved again, for example under another name
 *         -EEXIST     'path' is a device, a pipe or a socket, or a file that is not to be replaced
 *                     (EDDY_HTTP_MULTIPART_REPLACE)
 *         -EISDIR     'path' is a folder
 *         -ENOSPC, -EDQUOT, -EIO, -ENOENT, -EACCES and others of eddy_file_open(), eddy_file_write(),
 *                     eddy_file_sync() and eddy_path_rename()
 *         those of eddy_folder_sync(): the complete file has its name, but a crash can lose it
 *         the result of 'progress'
 *         -EINVAL     also: before the first part and after the last; after some of the part's data
 *                     were read; an empty path, an unknown flag, or a mode above 0777
 *         -ECANCELED  the file does not exist; the data that were read are lost
 */
EDDY_API EDDY_MUST_USE int eddy_http_multipart_save(
        eddy_http_multipart_reader *reader, const char *path,
        const struct eddy_http_multipart_save_opts *opts,
        struct eddy_http_multipart_saved *ret_saved);

/*
 * Stores header number 'i' of the present part, in the order received.  Returns 0, or -ENOENT
 * after the last one.
 *
 * Suspends: no.
 * Owns: valid until the next part is read.
 */
EDDY_API int eddy_http_multipart_header_at(const eddy_http_multipart_reader *reader, size_t i,
                                           struct eddy_http_header *ret_header);

/*
 * Returns the rule or the limit that the body violates, a sentence for a person; "" if there is
 * none, or for NULL.
 *
 * Suspends: no.
 * Owns: valid for ever.
 */
EDDY_API const char *eddy_http_multipart_rule(const eddy_http_multipart_reader *reader);

enum { EDDY_HTTP_MULTIPART_NAME_BYTES = 256 };

/*
 * Make a name for a file in a folder of the program's own from the name that a client has sent: the
 * text after the last '/' or '\\', with '_' for control characters and for each of <>:"|?*, without
 * dots and spaces at both ends, and at most 255 bytes, cut between characters, with its NUL.
 * "" if nothing is left, and for NULL: choose a name.  Different files may get the same name.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_multipart_file_name(const char *filename,
                                            char ret_name[EDDY_HTTP_MULTIPART_NAME_BYTES]);

/*
 * Free the reader.  The rest of the body is not read.  No task may be in a call on the reader.
 * NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_multipart_reader_close(eddy_http_multipart_reader *reader);

static inline void eddy_http_multipart_reader_auto_release(eddy_http_multipart_reader **reader)
{
        eddy_http_multipart_reader_close(*reader);
}

EDDY_END_DECLS

#endif
