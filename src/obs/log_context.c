/*
 * obs/log_context.c - the values that all lines of a task have.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "eddy/var.h"
#include "obs/log.h"

struct context {
        uint32_t bytes;
        char json[EDDY_LOG_CONTEXT_MAX + 1]; /* ',"key":value' for each value, and a NUL */
};

static const eddy_var context_var = EDDY_VAR("log", struct context);

static const struct context *get(void)
{
        static const struct context none;
        const struct context *context = eddy_var_get(&context_var);

        return context ? context : &none;
}

const char *ed_log_context(size_t *ret_bytes)
{
        const struct context *context = get();

        *ret_bytes = context->bytes;
        return context->json;
}

/* Errors: -ENOSPC. */
static int add(struct context *context, const struct eddy_log_value *value)
{
        struct ed_log_line line = { context->json, context->json + context->bytes,
                                    context->json + EDDY_LOG_CONTEXT_MAX, false };

        ed_log_line_remove(&line, context->bytes, value->key);
        ed_log_line_value(&line, value);
        *line.at = '\0';
        context->bytes = (uint32_t) (line.at - line.begin);
        return line.is_cut ? -ENOSPC : 0;
}

int eddy_log_bind_values(struct eddy_log_value first, ...)
{
        struct context context = *get();
        struct eddy_log_value value = first;
        va_list args;
        int err = 0;

        va_start(args, first);
        while (value.kind != EDDY_LOG_END_ && err == 0) {
                err = add(&context, &value);
                value = va_arg(args, struct eddy_log_value);
        }
        va_end(args);
        return err == 0 ? eddy_var_set(&context_var, &context) : err;
}

int eddy_log_unbind(void)
{
        return eddy_var_unset(&context_var);
}
