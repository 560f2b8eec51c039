/*
 * batch/rule_option.c - see rule_option.h.
 */
#include "batch/rule_option.h"

#include <errno.h>

#include "common/console.h"

static int condition_set(const char *command, const char *option, const char *text,
                         struct ed_condition **condition)
{
        char error[ED_CONDITION_ERROR_BYTES];
        int err;

        if (*condition) {
                ed_console_usage(command, "%s: it is given twice; join the conditions by and, or",
                                 option);
                return -EINVAL;
        }
        err = ed_condition_parse(text, condition, error);
        if (err == -EINVAL)
                ed_console_usage(command, "%s: %s", option, error);
        return err;
}

int ed_rule_set_ok(struct ed_rule *rule, const char *command, const char *text)
{
        rule->ok_text = text;
        return condition_set(command, "--ok", text, &rule->ok);
}

int ed_rule_set_retry_if(struct ed_rule *rule, const char *command, const char *text)
{
        return condition_set(command, "--retry-if", text, &rule->retry_if);
}
