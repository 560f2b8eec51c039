/*
 * wire/http1_parts.h - functions shared by reading and writing HTTP/1.1: targets, hosts, lists,
 * lengths. For src/wire only.
 */
#ifndef ED_WIRE_HTTP1_PARTS_H
#define ED_WIRE_HTTP1_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/def.h"
#include "eddy/stream.h" /* struct eddy_slice */
#include "wire/chars.h"
#include "wire/http1.h"

/* Compilers differ in the comments that they accept instead. */
#define ED_FALLTHROUGH __attribute__((fallthrough))

/* Returns EDDY_E_HTTP_TOO_LARGE for a limit, else _INVALID_RESPONSE or _REQUEST. */
int ed_http1_fault_error(enum ed_http1_fault fault, bool is_response);

/*
 * Returns the form of a request's target, whose bytes must all be ED_CHAR_TARGET, or -1 if the
 * target is not valid or the method does not allow its form. For the absolute form '*ret_url' is
 * filled.
 */
int ed_http1_target_form_of(const char *method, size_t method_bytes, const char *target,
                            size_t target_bytes, struct ed_url *ret_url);

/* Returns true if the target is valid for the method. */
ED_SHARED bool ed_http1_is_target(const char *method, size_t method_bytes, const char *target,
                                  size_t target_bytes);

/*
 * Split "host", "host:port" or "[v6]:port". Returns the port, 0 if it is missing or empty, or -1 if
 * the text is not valid.
 */
ED_SHARED int ed_http1_host_split(const char *text, size_t bytes, const char **ret_host,
                                  size_t *ret_host_bytes);

/*
 * Find the next element of a comma-separated list from '*at' on, without white space around it;
 * empty elements are skipped (RFC 9110, 5.6.1). Returns false at the end.
 */
ED_SHARED bool ed_http1_list_next(const char *value, size_t bytes, size_t *at,
                                  struct eddy_slice *ret_element);

/* Parse 1*DIGIT up to INT64_MAX. Returns false if the text is not valid. */
ED_SHARED bool ed_http1_length_parse(const char *text, size_t bytes, uint64_t *ret_length);

#endif
