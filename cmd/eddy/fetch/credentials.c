/*
 * fetch/credentials.c - see credentials.h.
 */
#include "fetch/credentials.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/connect.h"
#include "common/console.h"
#include "common/slurp.h"
#include "eddy/alloc.h"
#include "eddy/error.h"

enum { FILE_BYTES_MAX = 8 << 10 };

static const char variable[] = "EDDY_PASSWORD";

/* Read the first line of a file. */
static int user_read(struct ed_credentials *credentials, const char *path)
{
        size_t bytes;
        int err = ed_slurp("fetch", "-u @", path, FILE_BYTES_MAX, &credentials->user, &bytes);

        if (err >= 0)
                credentials->user[strcspn(credentials->user, "\r\n")] = '\0';
        return err;
}

int ed_credentials_user(struct ed_credentials *credentials, char *value)
{
        size_t bytes = strlen(value) + 1;
        char *colon = strchr(value, ':');

        ed_credentials_fini(credentials);
        if (*value == '@')
                return user_read(credentials, value + 1);
        credentials->user = eddy_malloc(bytes);
        if (!credentials->user)
                return -ENOMEM;
        memcpy(credentials->user, value, bytes);
        if (colon)
                memset(colon + 1, '*', strlen(colon + 1));
        return 0;
}

void ed_credentials_fini(struct ed_credentials *credentials)
{
        if (credentials->user)
                explicit_bzero(credentials->user, strlen(credentials->user));
        eddy_free(credentials->user);
        credentials->user = NULL;
}

int ed_credentials_check(const struct ed_credentials *credentials)
{
        bool netrc = credentials->netrc || credentials->file;

        if (credentials->user && netrc)
                return ed_console_usage("fetch", "-u and --netrc exclude each other");
        if (credentials->digest && !credentials->user && !netrc)
                return ed_console_usage("fetch", "--digest needs -u or --netrc");
        if (credentials->user && !strchr(credentials->user, ':') && !getenv(variable))
                return ed_console_usage("fetch",
                                        "-u: no password; give -u USER:PASSWORD, -u @FILE, or the "
                                        "password in the environment as %s",
                                        variable);
        return 0;
}

/* Find the file, and warn if others can read it. Returns false after a message. */
static bool netrc_find(const struct ed_credentials *credentials, char path[PATH_MAX])
{
        const char *home = getenv("HOME");
        struct stat st;

        if (credentials->file) {
                snprintf(path, PATH_MAX, "%s", credentials->file);
        } else if (home) {
                snprintf(path, PATH_MAX, "%s/.netrc", home);
        } else {
                ed_console_say("fetch", "--netrc: HOME is not set; name a file with --netrc-file");
                return false;
        }
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077))
                ed_console_say("fetch",
                               "%s: other users can read it (mode %04o); 'chmod 600' protects its "
                               "passwords",
                               path, (unsigned) st.st_mode & 07777);
        return true;
}

static int netrc_open(const struct ed_credentials *credentials, unsigned flags,
                      eddy_http_auth **ret_auth)
{
        static char path[PATH_MAX];
        size_t line = 0;
        struct eddy_http_auth_opts opts = { .netrc_path = path,
                                            .ret_netrc_line = &line,
                                            .flags = flags };
        int err;

        if (!netrc_find(credentials, path))
                return ED_CONNECT_REFUSED;
        err = eddy_http_auth_new(&opts, ret_auth);
        if (err >= 0 || err == -ENOMEM || err == -ECANCELED)
                return err;
        if (err == EDDY_E_HTTP_NETRC)
                ed_console_say("fetch", "%s:%zu: %s", path, line, eddy_error_text(err));
        else
                ed_console_say("fetch", "%s: %s", path, eddy_error_text(err));
        return ED_CONNECT_REFUSED;
}

int ed_credentials_open(const struct ed_credentials *credentials, eddy_http_auth **ret_auth)
{
        struct eddy_http_auth_opts opts = { .flags = credentials->digest ? EDDY_HTTP_AUTH_DIGEST
                                                                         : 0 };
        char *colon;
        int err;

        *ret_auth = NULL;
        if (credentials->md5)
                opts.flags |= EDDY_HTTP_AUTH_MD5;
        if (credentials->netrc || credentials->file)
                return netrc_open(credentials, opts.flags, ret_auth);
        if (!credentials->user)
                return 0;
        colon = strchr(credentials->user, ':');
        opts.user = credentials->user;
        opts.password = colon ? colon + 1 : getenv(variable);
        if (colon)
                *colon = '\0';
        err = eddy_http_auth_new(&opts, ret_auth);
        if (colon)
                *colon = ':';
        if (err != -EINVAL)
                return err;
        ed_console_say("fetch", "-u: the user or password has a control character, or more than "
                                "4,096 bytes");
        return ED_CONNECT_REFUSED;
}
