/*
 * http/coding_chain.h - decodes the body of a response that has a Content-Encoding (RFC 9110, 8.4).
 *
 * Each coding has a buffer of coded bytes; a read takes bytes of the last coding, which takes those
 * of the coding before it. Nothing is decoded before it is read, so a body that expands a
 * thousandfold needs no memory but the windows of its codings.
 */
#ifndef ED_HTTP_CODING_CHAIN_H
#define ED_HTTP_CODING_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "http/coding.h"

/* The value of Accept-Encoding. */
#define ED_CODING_CHAIN_ACCEPTS "gzip, deflate, br, zstd"

enum {
        ED_CODING_CHAIN_MAX = 5,
        ED_CODING_CHAIN_EMPTY_MAX = 1000, /* parts without output, such as members of gzip */
};

/* The codings of a message, in the order in which they were applied. */
struct ed_coding_list {
        const struct ed_coding *codings[ED_CODING_CHAIN_MAX];
        unsigned n;
};

/*
 * Append the codings in 'value', that of one field Content-Encoding.
 *
 * Errors: EDDY_E_HTTP_CODING_UNKNOWN  also for more than ED_CODING_CHAIN_MAX
 */
EDDY_MUST_USE int ed_coding_list_add(struct ed_coding_list *list, const char *value);

struct ed_coding_chain;

/*
 * Returns a decoder of 'list', which has at least one coding, or NULL. No coding may give more than
 * 'bytes_max' bytes.
 */
struct ed_coding_chain *ed_coding_chain_new(const struct ed_coding_list *list, uint64_t bytes_max);

/* NULL is ignored. */
void ed_coding_chain_free(struct ed_coding_chain *decoder);

/* Returns room for coded bytes, of '*ret_bytes'; never 0 after a read that returned 0. */
void *ed_coding_chain_room(struct ed_coding_chain *decoder, size_t *ret_bytes);

/* 'bytes' coded bytes were written to the room. */
void ed_coding_chain_fed(struct ed_coding_chain *decoder, size_t bytes);

/*
 * Returns the number of decoded bytes, or 0 if more coded bytes are needed.
 *
 * Errors: -EAGAIN                many bytes were decoded in between, but none came out: let other
 *                                tasks run, and repeat
 *         EDDY_E_HTTP_CODING_INVALID
 *         EDDY_E_HTTP_TOO_LARGE  more than 'bytes_max' bytes
 *         -ENOMEM
 */
EDDY_MUST_USE int64_t ed_coding_chain_read(struct ed_coding_chain *decoder, void *buf,
                                           size_t bytes);

/*
 * After the last coded byte, and a read that returned 0: check that no coding ended in the middle.
 * A body of no bytes is complete.
 *
 * Errors: EDDY_E_HTTP_CODING_INVALID
 */
EDDY_MUST_USE int ed_coding_chain_finish(const struct ed_coding_chain *decoder);

#endif
