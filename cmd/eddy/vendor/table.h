/*
 * vendor/table.h - how the vendors of APIs report limits and refuse requests. `eddy batch` judges
 * answers by the rules, `eddy mock --vendor` answers in the dialects, and docs/vendors.md shows both,
 * with their sources.
 */
#ifndef ED_CMD_VENDOR_TABLE_H
#define ED_CMD_VENDOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum ed_meaning {
        ED_MEANS_OTHER,   /* as the status says (eddy/retry.h) */
        ED_MEANS_PAUSE,   /* refused for now: wait, and send it again */
        ED_MEANS_WAIT,    /* the same, but about this request only, and counted as an attempt */
        ED_MEANS_USED_UP, /* waiting does not help: the credit or the quota of the key is used up */
};

/* A rule may apply only if the answer also has this. */
enum ed_needs {
        ED_NEEDS_NOTHING,
        ED_NEEDS_TIME,          /* a time until a retry, in a header or the body */
        ED_NEEDS_LIMIT,         /* headers of a limit that is used up */
        ED_NEEDS_DOCUMENTATION, /* a body with a "documentation_url" */
        ED_NEEDS_ERROR_TYPE,    /* a body with the "type" "error" */
};

/* The rules of all vendors are tried; the first one that applies to an answer counts. */
struct ed_vendor_rule {
        const char *vendor;
        int status;
        const char *code; /* is the code or the type of the error in the body; NULL: any */
        const char *text; /* is the beginning of its message; NULL: any */
        enum ed_needs needs;
        enum ed_meaning meaning;
        int wait_s; /* if the answer has no time; 0: a pause that doubles */
        const char *source;
};

/* When a vendor sends a header. */
enum ed_when {
        ED_WHEN_ALWAYS,
        ED_WHEN_LIMITED, /* with a refusal because of a limit per minute or second */
        ED_WHEN_SPENT,   /* with a refusal because the quota is used up */
        ED_WHEN_REFUSED, /* with both of these refusals */
};

/*
 * A header of a dialect. In its value, and in the body of a refusal, {NAME} is replaced:
 *   {requests.limit} {requests.left} {requests.reset}, {tokens...}
 *                 a limit per minute, the part that is left, the time until it is full
 *   {wait}        the time until a retry, or until the next day if the quota is used up
 *   {id}          the id of the answer
 * Times are in seconds, or in the form after a colon, as in {wait:s}: s whole seconds, go "1m2.5s",
 * at a time of day of RFC 3339, epoch and epochms the seconds and milliseconds since 1970.
 */
struct ed_dialect_header {
        const char *vendor;
        enum ed_when when;
        const char *name;
        const char *value;
        const char *source;
};

struct ed_dialect_refusal {
        const char *vendor;
        enum ed_when when; /* ED_WHEN_LIMITED or ED_WHEN_SPENT */
        int status;
        const char *body;
        const char *source;
};

/* The names of vendors end with NULL; the other lists with an entry whose vendor is NULL. */
extern const char *const ed_vendors[];
extern const struct ed_vendor_rule ed_vendor_rules[];
extern const struct ed_dialect_header ed_dialect_headers[];
extern const struct ed_dialect_refusal ed_dialect_refusals[];

#endif
