/*
 * batch/url_option.c - see url_option.h.
 */
#include "batch/url_option.h"

#include <errno.h>
#include <string.h>

#include "batch/request/target.h"
#include "common/console.h"
#include "common/url_shown.h"

int ed_url_option_check(const char *command, const char *url, bool is_base, bool has_base)
{
        const char *option = is_base ? "--base-url" : "--url";
        char shown[ED_URL_SHOWN_BYTES], text[ED_TARGET_FAULT_BYTES];
        bool is_path = *url == '/';

        ed_url_shown(shown, url, strlen(url));
        if (strstr(url, "{{"))
                return ed_console_usage(command,
                                        "%s %s: {{name}} is replaced in --body only: write the "
                                        "\"url\" of each request into its line",
                                        option, shown);
        if (is_base && strstr(url, ",http"))
                return ed_console_usage(
                        command,
                        "--base-url %s: this is more than one URL; repeat --base-url for each",
                        shown);
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
