/*
 * wire/http1_parts.h - what reading and writing of HTTP/1.1 share: targets,
 * hosts, lists, lengths.  Inside src/wire only.
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

/* Compilers differ in the comments that they take for it. */
#define ED_FALLTHROUGH __attribute__((fallthrough))

/* The error for a fault: EDDY_E_HTTP_TOO_LARGE for a limit, else _INVALID_RESPONSE or _REQUEST. */
int ed_http1_fault_error(enum ed_http1_fault fault, bool is_response);

/*
 * The form of a request's target, all of whose bytes are ED_CHAR_TARGET, or
 * -1 if it has none or not one that the method allows.  For the absolute form
 * '*ret_url' is filled.
 */
int ed_http1_target_form_of(const char *method, size_t method_bytes, const char *target,
                            size_t target_bytes, struct ed_url *ret_url);

/*
 * Take "host", "host:port" or "[v6]:port" apart.  Returns the port, 0 if none
 * or an empty one is given, or -1 if it is not valid.
 */
int ed_http1_host_split(const char *text, size_t bytes, const char **ret_host,
                        size_t *ret_host_bytes);

/*
 * The next element of a comma-separated list from '*at' on, without white space
 * around it; empty ones are left out (RFC 9110, 5.6.1).  Returns whether there is one.
 */
bool ed_http1_list_next(const char *value, size_t bytes, size_t *at,
                        struct eddy_slice *ret_element);

/* 1*DIGIT up to INT64_MAX.  Returns whether it is that. */
bool ed_http1_length_parse(const char *text, size_t bytes, uint64_t *ret_length);

#endif
