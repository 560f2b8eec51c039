/*
 * batch/answer/rule_option.c - see rule_option.h.
 */
#include "batch/answer/rule_option.h"

#include <errno.h>

#include "common/console.h"
#include "common/slurp.h"
#include "eddy/alloc.h"

enum { SCHEMA_BYTES_MAX = 1 << 20 };

static int condition_set(const char *command, const char *option, const char *text,
                         struct ed_condition **condition)
{
        char error[ED_CONDITION_ERROR_BYTES];
        int err;

        if (*condition) {
                ed_console_usage(command,
                                 "%s: it is given twice; join the conditions by 'and' or 'or'",
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

int ed_rule_set_schema(struct ed_rule *rule, const char *command, const char *path)
{
        char error[ED_SCHEMA_ERROR_BYTES], *text;
        size_t bytes;
        int err;

        if (rule->schema) {
                ed_console_usage(command, "--schema: it is given twice; give one file");
                return -EINVAL;
        }
        err = ed_slurp(command, "--schema ", path, SCHEMA_BYTES_MAX, &text, &bytes);
        if (err < 0)
                return err;
        err = ed_schema_new(text, bytes, &rule->schema, error);
        eddy_free(text);
        if (err == -EINVAL)
                ed_console_usage(command, "--schema %s: %s", path, error);
        return err;
}
