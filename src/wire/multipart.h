/*
 * wire/multipart.h - multipart/form-data (RFC 7578): bytes in, events out, and the texts between the
 * parts of a form that is sent; no I/O.
 *
 * The reader is strict, because a program that reads a form otherwise than a filter before it can be
 * deceived: lines end in CR LF; a body begins with its boundary and ends with its last one, after which
 * only a CR LF may follow; each part has one Content-Disposition with a name; a boundary at the
 * beginning of a line is followed by CR LF or "--". Names are UTF-8, and their %22, %0D and %0A are
 * decoded, as browsers write them (WHATWG HTML, 4.10.21.8): a backslash is a character like others.
 */
#ifndef ED_WIRE_MULTIPART_H
#define ED_WIRE_MULTIPART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/def.h"

enum {
        ED_MULTIPART_BOUNDARY_MAX = 70, /* RFC 2046, 5.1.1 */
        ED_MULTIPART_MARK_BYTES = 4,    /* CR LF "--" before a boundary */
};

/* ---- reading --------------------------------------------------------------- */

enum ed_multipart_event {
        ED_MULTIPART_MORE,     /* all bytes are read */
        ED_MULTIPART_PART,     /* a part begins */
        ED_MULTIPART_DATA,     /* bytes of the part */
        ED_MULTIPART_PART_END, /* the part is complete */
};

struct ed_multipart_limits {
        uint32_t parts_max;
        uint32_t head_bytes_max;  /* of one part's headers */
        uint64_t field_bytes_max; /* of one part's data, without a file name */
        uint64_t file_bytes_max;  /* likewise, with a file name */
        uint64_t bytes_max;       /* of all */
};

struct ed_multipart {
        struct ed_multipart_limits limits;
        struct ed_buf head;  /* of the part: each header as its name, NUL, its value, NUL */
        struct ed_buf texts; /* the decoded name and file name of the part, each with a NUL */
        size_t name_at, filename_at;
        bool has_name, has_filename;
        uint8_t state;
        uint32_t parts;
        uint64_t part_bytes, bytes;
        const char *rule; /* that the body violates; NULL: none */
        size_t matched;   /* bytes of the delimiter that were read, with those of 'assumed' */
        size_t assumed;   /* its first bytes that were not: a body and a part's data begin a line */
        size_t delimiter_bytes;
        char delimiter[ED_MULTIPART_MARK_BYTES + ED_MULTIPART_BOUNDARY_MAX];
};

/* The part whose data is read; valid until the next one begins. */
struct ed_multipart_part {
        const char *name;
        const char *filename; /* NULL: none */
        const char *type;     /* the value of Content-Type; NULL: none */
};

/*
 * Find the boundary in the value of a Content-Type. Returns its length, or an error and NULL or the
 * violated rule.
 *
 * Errors: EDDY_E_HTTP_CONTENT_TYPE  another type, with NULL
 *         EDDY_E_HTTP_MULTIPART     no boundary, two, or not a valid one
 */
EDDY_MUST_USE ED_SHARED int ed_multipart_boundary(const char *type,
                                                  char ret_boundary[ED_MULTIPART_BOUNDARY_MAX + 1],
                                                  const char **ret_rule);

/* The boundary has at most ED_MULTIPART_BOUNDARY_MAX bytes. Allocates nothing. */
ED_SHARED void ed_multipart_init(struct ed_multipart *multipart, const char *boundary,
                                 const struct ed_multipart_limits *limits);
ED_SHARED void ed_multipart_fini(struct ed_multipart *multipart);

/*
 * Read from the next 'bytes' bytes of the body, up to the next event. Returns the number of bytes
 * read, which is 0 for an event that was held back. The bytes of ED_MULTIPART_DATA are in 'data' or
 * in the struct. After an error the body cannot be continued.
 *
 * Errors: EDDY_E_HTTP_MULTIPART  the body violates 'rule'
 *         EDDY_E_HTTP_TOO_LARGE  a limit, see 'rule'
 *         -ENOMEM
 */
EDDY_MUST_USE ED_SHARED int64_t ed_multipart_read(struct ed_multipart *multipart, const char *data,
                                                  size_t bytes, enum ed_multipart_event *ret_event,
                                                  const char **ret_data, size_t *ret_bytes);

/* The body has ended. Errors: EDDY_E_HTTP_TRUNCATED  before its last boundary */
EDDY_MUST_USE ED_SHARED int ed_multipart_finish(const struct ed_multipart *multipart);

ED_SHARED void ed_multipart_part(const struct ed_multipart *multipart,
                                 struct ed_multipart_part *ret_part);

/* Stores header number 'i' of the part. Returns 0 or -ENOENT. */
ED_SHARED int ed_multipart_header_at(const struct ed_multipart *multipart, size_t i,
                                     const char **ret_name, const char **ret_value);

/*
 * Take the headers of a part apart, in 'head'; part of the reader. Errors as ed_multipart_read().
 */
EDDY_MUST_USE int ed_multipart_head(struct ed_multipart *multipart);

/* ---- writing --------------------------------------------------------------- */

/* The texts before a part's data. */
struct ed_multipart_head {
        const char *name;
        const char *filename; /* NULL: none */
        const char *type;     /* NULL: none */
};

/*
 * Returns NULL if the texts can be sent, else the reason: a name or a file name that is not UTF-8, or
 * has a control character other than tab, CR and LF; or a type that no header can have.
 */
ED_SHARED const char *ed_multipart_check(const struct ed_multipart_head *head);

/*
 * Append the boundary before a part, and its first headers. The caller appends further headers with
 * their line ends, and then CR LF. Errors: -ENOMEM, -EMSGSIZE
 */
EDDY_MUST_USE ED_SHARED int ed_multipart_write(struct ed_buf *out, const char *boundary,
                                               const struct ed_multipart_head *head, bool is_first);

/* Append the last boundary. Errors: -ENOMEM, -EMSGSIZE */
EDDY_MUST_USE ED_SHARED int ed_multipart_write_end(struct ed_buf *out, const char *boundary,
                                                   bool is_first);

#endif
