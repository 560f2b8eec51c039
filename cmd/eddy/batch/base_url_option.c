/*
 * batch/base_url_option.c - see base_url_option.h.
 */
#include "batch/base_url_option.h"

#include <errno.h>
#include <string.h>

#include "common/console.h"
#include "common/slurp.h"
#include "common/url_shown.h"
#include "eddy/alloc.h"

/* Add a URL (borrowed). */
static int url_add(struct ed_bases *bases, const char *command, const char *url)
{
        char shown[ED_URL_SHOWN_BYTES], why[ED_BASE_URL_WHY_BYTES];
        int err = ed_base_url_check(url, "repeat --base-url for each", why);

        if (err == 0)
                err = ed_base_urls_add(&bases->given, url);
        if (err == 0 || err == -ENOMEM)
                return err;
        ed_console_usage(command, "--base-url %s: %s", ed_url_shown(shown, url, strlen(url)),
                         err == -EEXIST ? "it is given twice; give it once" : why);
        return -EINVAL;
}

int ed_base_url_option_add(struct ed_bases *bases, const char *command, const char *value)
{
        if (*value != '@')
                return url_add(bases, command, value);
        if (bases->path) {
                ed_console_usage(command, "--base-url %s: @%s was given already; give one file",
                                 value, bases->path);
                return -EINVAL;
        }
        bases->path = value + 1;
        return 0;
}

/* Read the file. */
static int file_read(struct ed_bases *bases, const char *command)
{
        char why[ED_BASE_URLS_WHY_BYTES], *text;
        const char *path = bases->path;
        size_t bytes;
        int err;

        /* Before the file is read, so that a change while it is read is noticed later. */
        (void) ed_watched_file_look(path, &bases->file);
        err = ed_slurp(command, "--base-url @", path, ED_BASE_URLS_BYTES_MAX, &text, &bytes);
        if (err < 0)
                return err;
        err = ed_bases_read(bases, text, bytes, &bases->listed, why);
        eddy_free(text);
        if (err == -EINVAL)
                ed_console_usage(command, "--base-url @%s: %s", path, why);
        /* Standard input and pipes have no second text. */
        bases->is_watched = strcmp(path, "-") != 0 && bases->file.is_regular;
        return err;
}

int ed_base_url_option_check(struct ed_bases *bases, const char *command, const char *input,
                             unsigned keys)
{
        size_t count;
        int err;

        if (bases->path && strcmp(bases->path, "-") == 0 && strcmp(input, "-") == 0)
                return ed_console_usage(command,
                                        "--base-url @-: the requests are read from standard "
                                        "input, which is read only once; name a file");
        err = bases->path ? file_read(bases, command) : 0;
        count = ed_bases_count(bases);
        if (err == -ENOMEM) {
                ed_console_say(command, "out of memory");
                return ED_EXIT_FAILED;
        }
        if (err < 0)
                return ED_EXIT_USAGE;
        if (bases->path && count == 0)
                return ed_console_usage(
                        command, "--base-url @%s: it has no URL; write one per line", bases->path);
        if (ed_bases_are_too_many(count, keys))
                return ed_console_usage(command,
                                        "--base-url: %zu URLs%s; at most 4,096 are possible, and "
                                        "as many pairs of one and an API key: give fewer",
                                        count, keys > 1 ? " with several API keys" : "");
        return 0;
}
