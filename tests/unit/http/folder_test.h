/*
 * folder_test.h - what the tests of folders share: asking a handler without a network, and the answer.
 */
#ifndef ED_HTTP_FOLDER_TEST_H
#define ED_HTTP_FOLDER_TEST_H

#include "http_test.h"

enum { REPLY_BODY_MAX = 400000, REPLY_HEADERS = 12 };

struct reply {
        int status;      /* or an error */
        char head[2048]; /* "\nName: value\n..." */
        size_t bytes;
        char *body; /* with a NUL; valid until the next call */
};

/* Who answers the next requests; the folder of 'arg' unless changed. */
void reply_by(eddy_http_handler_fn *handler, void *arg);

/*
 * Ask for a path by a method. Further arguments are names and values of headers; the last is NULL. To be
 * called in a run.
 */
const struct reply *reply_to(const char *method, const char *path, ...);
#define get_reply(...) reply_to("GET", __VA_ARGS__, NULL)

/* Returns the value of a header of a reply, or "". The text is valid until the next call. */
const char *reply_header(const struct reply *reply, const char *name);

#define CHECK_HEADER(reply, name, value) CHECK_STR(reply_header((reply), (name)), (value))

#endif
