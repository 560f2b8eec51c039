/*
 * eddy/http_download.h - a response's body as a file; a download that was broken is continued.
 *
 *     struct eddy_http_request request = { .url = "https://example.com/model.bin" };
 *     int err = eddy_http_download(client, &request, "model.bin", NULL);
 *
 * The body is written to "PATH.part" while it arrives, and gets its name when all of it is on
 * the disk, so a file at 'path' is never incomplete.  An attempt that fails is followed by
 * another one, which asks for the rest of the body ("Range" and "If-Range"); and if the call
 * fails, is cancelled, or the program is killed, a later call with the same URL and path continues
 * the part.  In any doubt the whole body is requested, because a wrong join would not be found
 * later; eddy/http_range.h has the rules.
 *
 * "PATH.part.note" has what a later call needs: a hash of the URL, the validator, the
 * length, and the number of the machine's start, because after a crash of the machine the size of
 * a file does not prove that its bytes are on the disk.  Both files are removed if the part
 * cannot be continued.  A file "PATH.part" without a note of eddy, or a note that is not eddy's, is
 * the user's: the call returns -EEXIST and changes neither.
 */
#ifndef EDDY_HTTP_DOWNLOAD_H
#define EDDY_HTTP_DOWNLOAD_H

#include "eddy/def.h"
#include "eddy/http_client.h"
#include "eddy/http_range.h"
#include "eddy/retry.h"

EDDY_BEGIN_DECLS

/* Flags of struct eddy_http_download_opts. */
enum {
        EDDY_HTTP_DOWNLOAD_NEW = 1 << 0,   /* fail with -EEXIST if there is a file at 'path' */
        EDDY_HTTP_DOWNLOAD_WHOLE = 1 << 1, /* drop the part that an earlier call has left */
        EDDY_HTTP_DOWNLOAD_HASH = 1 << 2   /* compute the SHA-256 of the file */
};

enum { EDDY_HTTP_DOWNLOAD_HASH_DIGITS = 64 };

#define EDDY_HTTP_DOWNLOAD_BYTES_DEFAULT (UINT64_C(1) << 40)

/* The progress of a download. */
struct eddy_http_download_progress {
        uint64_t bytes; /* of the file that were received, by earlier calls too */
        uint64_t total; /* of the file; EDDY_HTTP_RANGE_UNKNOWN: not known */
        uintptr_t reserved[2];
};

/*
 * Called when the body begins or continues, and after each piece of at most 64 KiB that was
 * written.  A result below 0 ends the download, which returns it; the part is kept.  May suspend.
 */
typedef int eddy_http_download_fn(const struct eddy_http_download_progress *progress, void *arg);

/* Filled in when the call returns, also if it fails. */
struct eddy_http_download_result {
        int status;         /* of the last response; 0: there was none */
        uint32_t requests;  /* responses, with those that could not be used */
        uint64_t bytes;     /* of the file, or of the part that is left */
        uint64_t continued; /* bytes of an earlier call's part that were used */
        /* of the file, in lower case, with EDDY_HTTP_DOWNLOAD_HASH or 'hash'; "": not known */
        char hash[EDDY_HTTP_DOWNLOAD_HASH_DIGITS + 1];
        uintptr_t reserved[4];
};

/* All zero is the default. */
struct eddy_http_download_opts {
        /* of attempts; borrowed; NULL: 5 attempts, and else the defaults of eddy/retry.h */
        const struct eddy_retry_policy *retry EDDY_UNSET;
        eddy_http_download_fn *progress EDDY_UNSET; /* NULL: none */
        void *arg EDDY_UNSET;                       /* of 'progress' */
        /* the SHA-256 that the file must have, as 64 hexadecimal digits; NULL: any */
        const char *hash EDDY_UNSET;
        struct eddy_http_download_result *ret_result EDDY_UNSET; /* NULL: not wanted */
        unsigned flags EDDY_UNSET;                               /* EDDY_HTTP_DOWNLOAD_* */
        uintptr_t reserved[4] EDDY_UNSET;                        /* zero */
};

/*
 * Send a request, and save the body of its response as a file.  Returns 0 if the file is complete,
 * has its name, and a crash of the machine does not lose it.  A file or a symbolic link at 'path' is
 * replaced, unless EDDY_HTTP_DOWNLOAD_NEW is given; a device, a pipe or a socket is never replaced.  If
 * only the sync of the folder fails, the error is returned and the complete file has its name.
 *
 * "Accept-Encoding: identity" is added, unless the caller sets this header, and the body is not
 * decoded, with the client's option 'decode' too: the file has the server's bytes.  Only a
 * GET without a body, and without a "Range" or "If-..." header of the caller, is continued; other
 * requests begin again.  The
 * client's limit of a body does not count; 'body_bytes_max' of the request does, for the file; 0: 1 TiB.
 * 'timeouts' are those of each request.  The option 'retry' of the client or the request acts within each
 * attempt, so that attempts multiply: with such a client, set EDDY_HTTP_NO_RETRY in the request.  A
 * response 206 that does not fit, and 416, are followed at once by a request for the whole.
 *
 * While a call runs, another one to the same path, in this process or another, returns -EBUSY and
 * changes nothing, because the note is locked (EDDY_FILE_LOCK), if the file system has locks.
 *
 * Suspends: yes.  After a cancel the call still closes the part, or removes it if it cannot be
 *           continued.  A cancel during the rename has no effect.
 * Errors: EDDY_E_HTTP_STATUS     the status is 300 or more, after all attempts; 'ret_fault' has it,
 *                                and the first bytes of the body; the part is kept
 *         EDDY_E_HTTP_HASH       the file does not have the SHA-256 'hash'; it was removed.  If it
 *                                was joined, the whole was received again
 *         EDDY_E_HTTP_TOO_LARGE  the file is larger than the limit; it was removed
 *         EDDY_E_HTTP_INVALID_RESPONSE  also: the status 206 without a request for a range
 *         those of eddy_http_client_send() and eddy_http_response_read(), after all attempts.
 *         After these errors and those below, 'ret_fault' has the reason; if an operation on a
 *         file failed, with the path:
 *         -EEXIST                there is a file at 'path', with EDDY_HTTP_DOWNLOAD_NEW; or a
 *                                device, a pipe or a socket; or "PATH.part" or its note is not eddy's
 *         -EBUSY                 another call downloads to 'path'
 *         -EISDIR                'path' is a folder
 *         -EINVAL                the client, the request, its URL or 'path' is NULL, 'path' is empty,
 *                                'hash' does not have 64 digits, or an unknown flag
 *         -ENOENT, -EACCES, -ENOSPC and others of eddy_file_open(), eddy_file_write(),
 *         eddy_file_sync() and eddy_path_rename()
 *         the result of 'progress'
 *         -ECANCELED, -ENOMEM
 * Owns: borrows what the request and the options refer to, for the call.
 */
EDDY_API EDDY_MUST_USE int eddy_http_download(eddy_http_client *client,
                                              const struct eddy_http_request *request,
                                              const char *path,
                                              const struct eddy_http_download_opts *opts);

EDDY_END_DECLS

#endif
