/*
 * wire/json_out.h - build a JSON text member by member. After an error all calls do nothing, so that
 * the error is looked at once, at the end.
 */
#ifndef ED_WIRE_JSON_OUT_H
#define ED_WIRE_JSON_OUT_H

#include <stdbool.h>

#include "base/buf.h"

struct ed_json_out {
        struct ed_buf text;
        int error; /* the first of ed_buf_append() */
};

/* For at most 'max' bytes. Allocates nothing. */
ED_SHARED void ed_json_out_init(struct ed_json_out *out, size_t max);

/*
 * Take the text, with a NUL that '*ret_bytes' does not count, or free it after an error, which is
 * returned: -EMSGSIZE or -ENOMEM.
 */
EDDY_MUST_USE ED_SHARED int ed_json_out_end(struct ed_json_out *out, char **ret_text,
                                            size_t *ret_bytes);

/* '{' or '[' with the comma before it, if one is needed; '}' or ']'. */
ED_SHARED void ed_json_out_open(struct ed_json_out *out, char bracket);
ED_SHARED void ed_json_out_close(struct ed_json_out *out, char bracket);

/* A name; its value is next. */
ED_SHARED void ed_json_out_name(struct ed_json_out *out, const char *name);

/*
 * Values, with the comma before them, if one is needed: a string, two texts as one string, any text of
 * JSON, numbers.
 */
ED_SHARED void ed_json_out_string(struct ed_json_out *out, const char *text);
ED_SHARED void ed_json_out_joined(struct ed_json_out *out, const char *first, const char *second);
ED_SHARED void ed_json_out_value(struct ed_json_out *out, const char *json, size_t bytes);
ED_SHARED void ed_json_out_int(struct ed_json_out *out, int64_t number);
ED_SHARED void ed_json_out_uint(struct ed_json_out *out, uint64_t number);
ED_SHARED void ed_json_out_double(struct ed_json_out *out, double number);

/* A member with a string, or true or false. */
ED_SHARED void ed_json_out_member(struct ed_json_out *out, const char *name, const char *text);
ED_SHARED void ed_json_out_flag(struct ed_json_out *out, const char *name, bool flag);

#endif
