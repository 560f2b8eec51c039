/*
 * batch/empty_option.c - see empty_option.h.
 */
#include "batch/empty_option.h"

#include <errno.h>

#include "batch/template_option.h"
#include "batch/url_option.h"
#include "common/console.h"
#include "common/option.h"
#include "eddy/alloc.h"

int ed_empty_option_set(struct ed_empty_option *empty, const char *command, int option, char *value)
{
        int err;

        switch (option) {
        case ED_EMPTY_OPTION_SKIP:
                empty->skip = true;
                return 1;
        case ED_EMPTY_OPTION_URL:
                err = ed_option_once(command, "--url", value, &empty->url);
                if (err == 0 && ed_url_option_check(command, value, true))
                        err = -EINVAL;
                break;
        case ED_EMPTY_OPTION_BODY:
                err = ed_option_once(command, "--body", value, &empty->body);
                break;
        case 'H':
                err = ed_headers_add(&empty->headers, command, value);
                ed_headers_overwrite(value);
                break;
        default:
                return 0;
        }
        return err < 0 ? err : 1;
}

int ed_empty_option_open(struct ed_empty_option *empty, const char *command,
                         struct ed_request_rules *rules)
{
        int err = 0;

        if (!empty->skip)
                return 0;
        if (empty->body)
                err = ed_template_body_read(command, empty->body, &empty->text, &empty->text_bytes);
        if (err == -ENOMEM) {
                ed_console_say(command, "out of memory");
                return ED_EXIT_FAILED;
        }
        if (err < 0)
                return ED_EXIT_USAGE;
        rules->url = empty->url;
        rules->skip_empty = true;
        return ed_template_options_open(command,
                                        &(struct ed_template_options){
                                                .body = empty->text,
                                                .body_bytes = empty->text_bytes,
                                                .url = empty->url,
                                                .headers = &empty->headers,
                                                .skip_empty = true,
                                                .repeats = true,
                                        },
                                        &rules->templates);
}

void ed_empty_option_fini(struct ed_empty_option *empty, struct ed_request_rules *rules)
{
        ed_templates_fini(&rules->templates);
        ed_headers_fini(&empty->headers);
        eddy_free(empty->text);
        empty->text = NULL;
}
