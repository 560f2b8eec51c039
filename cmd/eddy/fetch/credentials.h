/*
 * fetch/credentials.h - the options -u, --digest, --digest-md5, --netrc and --netrc-file.
 */
#ifndef ED_CMD_FETCH_CREDENTIALS_H
#define ED_CMD_FETCH_CREDENTIALS_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/http_auth.h"

struct ed_credentials {
        char *user;       /* "USER" or "USER:PASSWORD"; owned; NULL: no -u */
        const char *file; /* --netrc-file; NULL: ~/.netrc with 'netrc' */
        bool netrc;
        bool digest;
        bool md5;
};

/*
 * Take the value of -u: USER:PASSWORD, USER, or @FILE. The password is overwritten in 'value', which ps
 * shows. Errors are reported on stderr, except -ENOMEM.
 */
EDDY_MUST_USE int ed_credentials_user(struct ed_credentials *credentials, char *value);

/* Check the combination of the options. Returns 0 or the exit code. */
int ed_credentials_check(const struct ed_credentials *credentials);

/*
 * Make the credentials; NULL if no option is given. Call inside eddy_run().
 *
 * Errors: ED_CONNECT_REFUSED  an option cannot be used; reported on stderr;  -ECANCELED, -ENOMEM
 */
EDDY_MUST_USE int ed_credentials_open(const struct ed_credentials *credentials,
                                      eddy_http_auth **ret_auth);

void ed_credentials_fini(struct ed_credentials *credentials);

#endif
