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

/* Check a value of --url without places, which is shown as 'shown'. */
static int url_check(const char *command, const char *url, const char *shown, bool has_base)
{
        char text[ED_TARGET_FAULT_BYTES];
        bool is_path = *url == '/';

        if ((is_path && !has_base) || (!is_path && !strstr(url, "://")))
                return ed_console_usage(command,
                                        "--url %s: write http://HOST[:PORT][/PATH] or https%s",
                                        shown, is_path ? ", or give --base-url" : "");
        if (ed_target_check(url, text) == -EINVAL)
                return ed_console_usage(command,
                                        "--url %s: write http://HOST[:PORT][/PATH] or https: %s",
                                        shown, text);
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
                err = url_check(command, sample, shown, has_base);
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

int ed_url_option_check(const char *command, const char *url, bool has_base)
{
        char shown[ED_URL_SHOWN_BYTES];

        ed_url_shown(shown, url, strlen(url));
        return ed_template_is(url) ? template_check(command, url, shown, has_base)
                                   : url_check(command, url, shown, has_base);
}
