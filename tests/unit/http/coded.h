/*
 * coded.h - data in each content coding, for tests.
 */
#ifndef ED_TEST_CODED_H
#define ED_TEST_CODED_H

#include <stddef.h>

struct data {
        unsigned char *bytes; /* freed by the caller */
        size_t n;
};

struct data data_new(size_t room);

/* Text that compresses to about a third. */
struct data plain_new(size_t n);

/* Both, one after the other. */
struct data data_join(struct data a, struct data b);

struct data gzip_code(struct data plain);
struct data deflate_code(struct data plain);
struct data bare_code(struct data plain); /* deflate without the wrapper of zlib */
struct data brotli_code(struct data plain);
struct data zstd_code(struct data plain);

#endif
