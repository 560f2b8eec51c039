/*
 * http/multipart_reader.h - the reader of a form with files, for the calls that read a part's data.
 *
 * The state of a reader is the state of the parser, the bytes of the source that the parser has not
 * read, and the data that the parser has returned and the caller has not taken.
 */
#ifndef ED_HTTP_MULTIPART_READER_H
#define ED_HTTP_MULTIPART_READER_H

#include "eddy/http_multipart_reader.h"
#include "scope/suspend.h"
#include "wire/multipart.h"

enum { ED_MULTIPART_READER_BYTES = 16 << 10 };

struct eddy_http_multipart_reader {
        struct eddy_http_body_source source;
        struct ed_multipart parser;
        struct ed_buf whole; /* the present part's data in memory */
        const char *data;    /* returned by the parser, and not taken */
        size_t data_bytes;
        bool in_part;  /* the present part has more data */
        bool is_whole; /* there is a present part, and its data are all untaken */
        bool is_ended;
        bool is_busy;
        int err;        /* of all further calls */
        size_t at, end; /* bytes of 'buf' that the parser has not read */
        char buf[ED_MULTIPART_READER_BYTES];
};

/* Begin a call. Errors: -EBUSY, the reader's error, and those of ed_suspend_enter(). */
EDDY_MUST_USE int ed_multipart_reader_enter(eddy_http_multipart_reader *reader,
                                            struct ed_task **ret_task);

/* End a call. Returns 'result'. If it is an error, later calls of the reader return it too. */
int64_t ed_multipart_reader_leave(eddy_http_multipart_reader *reader, struct ed_task *task,
                                  int64_t result);

/* Wait for data of the present part. Returns their size; 0 at the part's end. Suspends: yes. */
EDDY_MUST_USE int64_t ed_multipart_reader_wait(eddy_http_multipart_reader *reader);

/* Take bytes of the data that ed_multipart_reader_wait() returned. */
void ed_multipart_reader_take(eddy_http_multipart_reader *reader, size_t bytes);

#endif
