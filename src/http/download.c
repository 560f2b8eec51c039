/*
 * http/download.c - a response's body as a file: attempts, each of which continues the last one.
 */
#include "eddy/http_download.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/path.h"
#include "http/client.h"
#include "http/download_file.h"
#include "http/fault.h"
#include "http/request_fault.h"
#include "http/status_fault.h"

enum { BUFFER_BYTES = 64 << 10, HEADERS_OWN = 3, RANGE_TEXT_BYTES = 32, FLAGS_ALL = 7 };

struct download {
        const struct eddy_http_request *given;
        struct eddy_http_request request; /* with the headers below */
        const struct eddy_http_download_opts *opts;
        eddy_http_client *client;
        struct ed_download_file file;
        struct eddy_http_range range; /* of the body in the file */
        struct eddy_http_download_result result;
        struct eddy_retry_cause cause; /* why the last attempt failed */
        uint64_t bytes_max;            /* of the file */
        uint64_t first;                /* of the request; 0: the whole body */
        uint64_t left;                 /* bytes of the response that may still come */
        bool can_continue;             /* requests for the rest may be made */
        bool is_joined;                /* the file has bytes of several responses */
        bool is_final;                 /* another attempt would fail too */
        bool is_wrong;                 /* the part is of no use */
        char range_text[RANGE_TEXT_BYTES];
        char buf[BUFFER_BYTES];
        struct eddy_http_header headers[];
};

/* ---- the request -------------------------------------------------------------------------------- */

static bool has_header(const struct eddy_http_request *request, const char *name)
{
        for (size_t i = 0; i < request->headers_count; i++)
                if (request->headers[i].name && strcasecmp(request->headers[i].name, name) == 0)
                        return true;
        return false;
}

/* Returns true if a body may be continued: with GET, without conditions and ranges of the caller. */
static bool is_plain_get(const struct eddy_http_request *request)
{
        if (strcmp(ed_http_request_method(request), "GET") != 0 || request->body ||
            request->body_source || request->form.fields || request->json.fields ||
            request->multipart || has_header(request, "Range"))
                return false;
        for (size_t i = 0; i < request->headers_count; i++)
                if (request->headers[i].name &&
                    strncasecmp(request->headers[i].name, "If-", 3) == 0)
                        return false;
        return true;
}

/* The headers of the next request. For the rest of a body, a coding must not be asked for. */
static void set_headers(struct download *download)
{
        const struct eddy_http_request *given = download->given;
        bool is_rest = download->first > 0, has_coding = false;
        size_t n = 0;

        for (size_t i = 0; i < given->headers_count; i++) {
                const char *name = given->headers[i].name;
                bool is_coding = name && strcasecmp(name, "Accept-Encoding") == 0;

                if (is_coding && is_rest)
                        continue;
                has_coding |= is_coding;
                download->headers[n++] = given->headers[i];
        }
        if (!has_coding)
                download->headers[n++] = (struct eddy_http_header){ "Accept-Encoding", "identity" };
        if (is_rest) {
                snprintf(download->range_text, sizeof(download->range_text), "bytes=%llu-",
                         (unsigned long long) download->first);
                download->headers[n++] = (struct eddy_http_header){ "Range", download->range_text };
                download->headers[n++] =
                        (struct eddy_http_header){ "If-Range", download->range.validator };
        }
        download->request.headers = download->headers;
        download->request.headers_count = n;
}

/* ---- an attempt --------------------------------------------------------------------------------- */

/* An error of the file, or of the caller: another attempt would have it too. */
static int final(struct download *download, int err)
{
        download->is_final |= err < 0;
        return err;
}

static void note_file(const struct download *download, const char *path, int err)
{
        if (err != -ECANCELED)
                ed_http_fault_note(download->given->ret_fault, "%s: %s", path,
                                   eddy_error_text(err));
}

/* An error of the part. */
static int file_failed(struct download *download, int err)
{
        note_file(download, download->file.part, err);
        return final(download, err);
}

/* The server does not continue the body as it should: ask only for the whole from now on. */
static int refuse(struct download *download)
{
        ed_download_file_empty(&download->file);
        download->range.validator[0] = '\0';
        download->can_continue = download->is_joined = false;
        download->result.continued = 0;
        return EAGAIN;
}

static int report(struct download *download)
{
        struct eddy_http_download_progress progress = { .bytes = download->file.bytes,
                                                        .total = download->range.total };
        int err = 0;

        if (download->opts->progress)
                err = download->opts->progress(&progress, download->opts->arg);
        return err < 0 ? final(download, err) : 0;
}

static int too_large(struct download *download)
{
        download->is_wrong = true;
        ed_http_fault_note(download->given->ret_fault,
                           "the file is larger than %llu bytes (body_bytes_max)",
                           (unsigned long long) download->bytes_max);
        return final(download, EDDY_E_HTTP_TOO_LARGE);
}

/* Prepare the file for the body of a response. Returns EAGAIN if another request is necessary. */
static int begin(struct download *download, const eddy_http_response *response)
{
        int status = eddy_http_response_status(response), err;
        enum eddy_http_range_answer answer = EDDY_HTTP_RANGE_WHOLE;

        if (download->first > 0)
                answer = eddy_http_range_judge(&download->range, download->first, response,
                                               &download->left);
        else if (status == 206 && download->can_continue) {
                ed_http_fault_note(download->given->ret_fault,
                                   "the status 206 answers a request without a range");
                return EDDY_E_HTTP_INVALID_RESPONSE;
        }
        if (answer == EDDY_HTTP_RANGE_REFUSED)
                return refuse(download);
        if (answer == EDDY_HTTP_RANGE_CONTINUED) {
                err = ed_download_file_cut(&download->file, download->first);
                download->is_joined = true;
        } else {
                download->left = EDDY_HTTP_RANGE_UNKNOWN;
                eddy_http_range_note(&download->range, response);
                if (!download->can_continue || status != 200)
                        download->range.validator[0] = '\0';
                download->is_joined = false;
                download->result.continued = 0;
                err = ed_download_file_begin(&download->file, &download->range);
        }
        if (err < 0)
                return file_failed(download, err);
        if (download->range.total != EDDY_HTTP_RANGE_UNKNOWN &&
            download->range.total > download->bytes_max)
                return too_large(download);
        return report(download);
}

static int receive(struct download *download, eddy_http_response *response)
{
        int64_t n;
        int err = 0;

        while ((n = eddy_http_response_read(response, download->buf, BUFFER_BYTES)) > 0) {
                if ((uint64_t) n > download->left)
                        return refuse(download);
                if (download->left != EDDY_HTTP_RANGE_UNKNOWN)
                        download->left -= (uint64_t) n;
                if ((uint64_t) n > download->bytes_max - download->file.bytes)
                        return too_large(download);
                err = ed_download_file_write(&download->file, download->buf, (size_t) n);
                err = err < 0 ? file_failed(download, err) : report(download);
                if (err < 0)
                        return err;
        }
        if (n == EDDY_E_HTTP_TOO_LARGE)
                return too_large(download);
        if (n < 0) {
                ed_http_body_fault(response, (int) n, download->given->ret_fault);
                return (int) n;
        }
        /* A server may send less than the rest: the next attempt asks for more. */
        if (download->left != EDDY_HTTP_RANGE_UNKNOWN &&
            (download->left > 0 || download->file.bytes != download->range.total)) {
                ed_http_fault_note(download->given->ret_fault, "the file has %llu of %llu bytes",
                                   (unsigned long long) download->file.bytes,
                                   (unsigned long long) download->range.total);
                return EDDY_E_HTTP_TRUNCATED;
        }
        return 0;
}

static int respond(struct download *download, eddy_http_response *response)
{
        int status = eddy_http_response_status(response), err;

        download->result.status = status;
        download->result.requests++;
        ed_http_decoded_skip(&response->decoding);
        if (status >= 300 && !(status == 416 && download->first > 0)) {
                download->cause.status = status;
                eddy_http_response_retry_hint(response, &download->cause.hint);
                return ed_http_status_fault(response, download->given->ret_fault);
        }
        err = begin(download, response);
        return err == 0 ? receive(download, response) : err;
}

/* Returns EAGAIN if the whole body is to be asked for at once. */
static int attempt(struct download *download)
{
        bool has_rest =
                download->can_continue && *download->range.validator && download->file.bytes > 1;
        eddy_http_response *response;
        int err;

        download->first = has_rest ? download->file.bytes - 1 : 0;
        download->cause = (struct eddy_retry_cause){
                .repeatable = eddy_http_request_is_idempotent(download->given),
        };
        set_headers(download);
        err = eddy_http_client_send(download->client, &download->request, &response);
        if (err < 0)
                return err;
        err = respond(download, response);
        eddy_http_response_close(response);
        return err;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static bool is_same_hash(const char *a, const char *b)
{
        return strcasecmp(a, b) == 0;
}

/* Check the file, and give it its name. Returns EAGAIN if a wrong join is possible. */
static int keep(struct download *download)
{
        const struct eddy_http_download_opts *opts = download->opts;
        struct eddy_http_download_result *result = &download->result;
        int err = 0;

        if (opts->hash || opts->flags & EDDY_HTTP_DOWNLOAD_HASH)
                err = ed_download_file_hash(&download->file, result->hash);
        if (err == 0 && opts->hash && !is_same_hash(opts->hash, result->hash)) {
                if (download->is_joined)
                        return refuse(download);
                download->is_wrong = true;
                ed_http_fault_note(download->given->ret_fault, "the SHA-256 of the file is %s",
                                   result->hash);
                return final(download, EDDY_E_HTTP_HASH);
        }
        if (err == 0)
                err = ed_download_file_keep(&download->file, opts->flags & EDDY_HTTP_DOWNLOAD_NEW);
        if (err < 0)
                note_file(download, download->file.path, err);
        return final(download, err);
}

static int run_attempts(struct download *download)
{
        static const struct eddy_retry_policy policy = { .attempts = 5 };
        struct eddy_retry retry;
        int err, wait_err;

        eddy_retry_begin(&retry, download->opts->retry ? download->opts->retry : &policy);
        for (;;) {
                do {
                        err = attempt(download);
                        if (err == 0)
                                err = keep(download);
                } while (err == EAGAIN);
                if (err == 0 || download->is_final || err == -ECANCELED)
                        return err;
                if (download->cause.status == 0)
                        download->cause.error = err;
                wait_err = eddy_retry_wait(&retry, &download->cause);
                if (wait_err < 0)
                        return wait_err == -ECANCELED ? wait_err : err;
        }
}

/* Refuse a path that cannot be a file's, before anything is sent. */
static int path_check(const struct download *download, const char *path)
{
        struct eddy_file_info info;
        int err = eddy_path_stat(path, EDDY_PATH_NO_FOLLOW, &info);

        if (err == -ENOENT)
                return 0;
        if (err == 0 && info.kind == EDDY_FILE_FOLDER)
                err = -EISDIR;
        else if (err == 0 &&
                 (info.kind == EDDY_FILE_OTHER || download->opts->flags & EDDY_HTTP_DOWNLOAD_NEW))
                err = -EEXIST; /* a rename would replace a device, such as /dev/null */
        if (err < 0)
                note_file(download, path, err);
        return err;
}

static int run(struct download *download, const char *path)
{
        int err = path_check(download, path);

        if (err == 0)
                err = ed_download_file_init(&download->file, path, download->given->url);
        if (err == 0) {
                err = ed_download_file_find(&download->file, &download->range);
                if (err == -EEXIST)
                        ed_http_fault_note(download->given->ret_fault,
                                           "%s, or its note, is not a part of eddy's: remove it",
                                           download->file.part);
                else if (err < 0)
                        note_file(download, download->file.part, err);
        }
        if (err < 0)
                return err;
        if (!download->can_continue || download->opts->flags & EDDY_HTTP_DOWNLOAD_WHOLE)
                download->range.validator[0] = '\0';
        else
                download->result.continued = download->file.bytes;
        err = run_attempts(download);
        download->result.bytes = download->file.bytes;
        if (err < 0 && (download->is_wrong || !*download->range.validator)) {
                ed_download_file_drop(&download->file);
                download->result.bytes = 0;
        }
        return err;
}

static bool is_hash(const char *text)
{
        size_t n = 0;

        while (isxdigit((unsigned char) text[n]))
                n++;
        return n == EDDY_HTTP_DOWNLOAD_HASH_DIGITS && text[n] == '\0';
}

static int refuse_option(const struct eddy_http_request *request, const char *why)
{
        ed_http_fault_note(request->ret_fault, "%s", why);
        return -EINVAL;
}

int eddy_http_download(eddy_http_client *client, const struct eddy_http_request *request,
                       const char *path, const struct eddy_http_download_opts *opts)
{
        static const struct eddy_http_download_opts defaults;
        struct download *download;
        int err;

        opts = opts ? opts : &defaults;
        if (!client || !request || !request->url || !path || !*path)
                return -EINVAL;
        if (request->ret_fault)
                ed_http_fault_clear(request->ret_fault);
        if (opts->hash && !is_hash(opts->hash))
                return refuse_option(request, "hash: a SHA-256 has 64 hexadecimal digits");
        if (opts->flags & ~(unsigned) FLAGS_ALL)
                return refuse_option(request, "flags: a flag is unknown");
        err = ed_http_request_check_headers(request);
        if (err < 0)
                return err;
        download = ed_alloc_zero(sizeof(*download) + (request->headers_count + HEADERS_OWN) *
                                                             sizeof(download->headers[0]));
        if (!download)
                return -ENOMEM;
        download->client = client;
        client->refs++;
        download->given = request;
        download->opts = opts;
        download->bytes_max = request->body_bytes_max ? request->body_bytes_max
                                                      : EDDY_HTTP_DOWNLOAD_BYTES_DEFAULT;
        download->request = *request;
        download->request.body_bytes_max = download->bytes_max;
        /* The attempts and the judgement of the status are this call's own. */
        download->request.flags |= EDDY_HTTP_ANY_STATUS | EDDY_HTTP_NO_RETRY;
        download->can_continue = is_plain_get(request);
        download->range.total = EDDY_HTTP_RANGE_UNKNOWN;
        err = run(download, path);
        if (opts->ret_result)
                *opts->ret_result = download->result;
        ed_download_file_fini(&download->file);
        ed_http_client_unref(client);
        ed_free(download);
        return err;
}
