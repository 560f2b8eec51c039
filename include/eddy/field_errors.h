/*
 * eddy/field_errors.h - all errors of a text that a table of fields describes.
 *
 *     struct eddy_field_errors errors = { 0 };
 *
 *     err = eddy_json_read_all(&user_fields, body, bytes, EDDY_JSON_REQUEST, &user, &errors);
 *     for (size_t i = 0; i < errors.count; i++)
 *             printf("%s: %s\n", errors.list[i].path, errors.list[i].message);
 *     eddy_field_errors_fini(&errors);
 *
 * prints for a wrong text, such as {"age": 300, "groups": [1, "x"]}:
 *
 *     age: 300 is above the maximum 150
 *     groups[1]: an integer is needed, not a string
 *     name: the field is missing
 *
 * No function here suspends.  Threads: any; a list belongs to one call at a time.
 */
#ifndef EDDY_FIELD_ERRORS_H
#define EDDY_FIELD_ERRORS_H

#include "eddy/def.h"
#include "eddy/fields.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_FIELD_ERRORS_DEFAULT = 100,  /* entries of a list, unless 'max' is set */
        EDDY_FIELD_ERRORS_MAX = 1000,     /* the largest 'max' */
        EDDY_FIELD_ERRORS_BYTES = 1 << 20 /* of the texts of all entries; those above are counted */
};

/* A part of a path, outermost first: users[3].age has the steps "users", 3 and "age". */
struct eddy_field_step {
        const char *name; /* UTF-8, as JSON gives it after its escapes; NULL: an index */
        size_t index;
};

struct eddy_field_error {
        int error;           /* EDDY_E_FIELD_*, or another error of the call */
        uint64_t offset;     /* as in struct eddy_json_error */
        const char *path;    /* "users[3].age", of any length; empty for the whole text */
        const char *message; /* "300 is above the maximum 150"; both are printable ASCII */
        const struct eddy_field_step *steps; /* the path again, not cut and not changed */
        size_t steps_count;
};

/*
 * A list of errors.  Begin with zeros.  Each call appends its errors, so that a body, a query and the
 * parameters of a path can share a list; a call that succeeds does not touch the list.
 */
struct eddy_field_errors {
        size_t max;                    /* entries at most; 0: EDDY_FIELD_ERRORS_DEFAULT */
        size_t count;                  /* entries */
        uint64_t all;                  /* errors that were found, also those above 'max' */
        struct eddy_field_error *list; /* owned; NULL without entries */
        size_t bytes;                  /* of the texts of the entries */
        uintptr_t reserved[2];         /* zero */
};

/* Free the entries; the list is empty then, with the same maximum.  NULL is ignored. */
EDDY_API void eddy_field_errors_fini(struct eddy_field_errors *errors);

/*
 * Read a text as eddy_json_read() does, and append all wrong fields to '*errors', in the order in which
 * eddy_json_read() finds them.  Returns the first of these errors.  A text that is not valid JSON and a
 * table that is not usable are single errors with an empty path.  Nothing is allocated for the list
 * before the first error.  'errors' may be NULL.
 *
 * 'flags' is 0 or EDDY_JSON_REQUEST (eddy/json.h).
 *
 * Errors: as eddy_json_read()
 *         -EINVAL  an unknown flag, or errors->max is above EDDY_FIELD_ERRORS_MAX; without an entry
 *         -ENOMEM  also: for the list, which then lacks errors; without an entry
 * Owns: returns strings and lists (owned), until eddy_fields_fini(), and the entries of '*errors', until
 * eddy_field_errors_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_json_read_all(const struct eddy_fields *fields, const char *text,
                                              size_t bytes, unsigned flags, void *out,
                                              struct eddy_field_errors *errors);

EDDY_END_DECLS

#endif
