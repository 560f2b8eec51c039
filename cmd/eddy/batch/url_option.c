/*
 * batch/url_option.c - see url_option.h.
 */
#include "batch/url_option.h"

#include <errno.h>
#include <string.h>

#include "batch/request/target.h"
#include "batch/request/template.h"
#include "common/console.h"
#include "common/url_parts.h"
#include "common/url_shown.h"
#include "eddy/alloc.h"

/* Check a URL without places, which is shown as 'shown'. */
static int url_check(const char *command, const char *url, const char *shown, bool is_base,
                     bool has_base)
{
        const char *option = is_base ? "--base-url" : "--url";
        char text[ED_TARGET_FAULT_BYTES];
        bool is_path = *url == '/';

        /* A path is appended to a base URL, so a base URL has neither a query nor a fragment. */
        if ((is_path && (is_base || !has_base)) || (is_base && strpbrk(url, "?#")) ||
            (!is_path && !strstr(url, "://")))
                return ed_console_usage(
                        command, "%s %s: write http://HOST[:PORT][/PATH] or https%s", option, shown,
                        is_base   ? ", without ? and #"
                        : is_path ? ", or give --base-url"
                                  : "");
        if (ed_target_check(url, text) == -EINVAL)
                return ed_console_usage(command,
                                        "%s %s: write http://HOST[:PORT][/PATH] or https: %s",
                                        option, shown, text);
        return 0;
}

/* Check a URL with places. Any text in them makes a URL if a letter does. */
static int template_check(const char *command, const char *url, const char *shown, bool has_base)
{
        char error[ED_FAULT_BYTES], *sample = eddy_malloc(strlen(url) + 1);
        struct ed_template *template = NULL;
        int err = sample ? ed_template_new_url(url, &template, error) : -ENOMEM;

        if (err == 0) {
                ed_template_sample(template, sample);
                err = url_check(command, sample, shown, false, has_base);
                if (err == 0 && ed_url_has_dots(sample))
                        err = ed_console_usage(command,
                                               "--url %s: write the path without the segments . "
                                               "and ..",
                                               shown);
        } else if (err == -EINVAL) {
                err = ed_console_usage(command, "--url %s: %s", shown, error);
        } else {
                ed_console_say(command, "out of memory");
                err = ED_EXIT_FAILED;
        }
        ed_template_free(template);
        eddy_free(sample);
        return err;
}

int ed_url_option_check(const char *command, const char *url, bool is_base, bool has_base)
{
        char shown[ED_URL_SHOWN_BYTES];

        ed_url_shown(shown, url, strlen(url));
        if (ed_template_is(url)) {
                if (!is_base)
                        return template_check(command, url, shown, has_base);
                return ed_console_usage(command,
                                        "--base-url %s: {{name}} is replaced in --url, --body and "
                                        "-H only: the data would choose the host, to which the API "
                                        "key is sent",
                                        shown);
        }
        if (is_base && strstr(url, ",http"))
                return ed_console_usage(
                        command,
                        "--base-url %s: this is more than one URL; repeat --base-url for each",
                        shown);
        return url_check(command, url, shown, is_base, has_base);
}
