/*
 * batch/request/templates.c - see templates.h.
 */
#include "batch/request/templates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/request/filling.h"
#include "eddy/alloc.h"

enum { WHY_BYTES = 64 };

void ed_templates_fini(struct ed_templates *templates)
{
        ed_template_free(templates->body);
        ed_template_free(templates->url);
        for (size_t i = 0; i < templates->headers_count; i++)
                ed_template_free(templates->headers[i].value);
        eddy_free(templates->headers);
        *templates = (struct ed_templates){ 0 };
}

/* Returns the templates one after the other, and NULL after the last one. 'at' is 0 at first. */
static const struct ed_template *next_of(const struct ed_templates *templates, size_t *at)
{
        const struct ed_template *one = NULL;

        while (!one && *at < templates->headers_count + 2) {
                one = *at == 0   ? templates->body
                      : *at == 1 ? templates->url
                                 : templates->headers[*at - 2].value;
                ++*at;
        }
        return one;
}

bool ed_templates_have_places(const struct ed_templates *templates)
{
        const struct ed_template *one;
        size_t at = 0;

        while ((one = next_of(templates, &at)))
                if (ed_template_places(one) > 0)
                        return true;
        return false;
}

/* Add the remedy for a prompt that has braces which are not a place. */
static void hint_add(char error[ED_FAULT_BYTES])
{
        static const char hint[] = "; for the text {{ itself, write \\u007b\\u007b";

        if (strlen(error) + sizeof(hint) <= ED_FAULT_BYTES)
                memcpy(error + strlen(error), hint, sizeof(hint));
}

int ed_templates_check(const struct ed_templates *templates, const struct ed_columns *columns,
                       const char *id, char error[ED_FAULT_BYTES])
{
        const struct ed_template *one;
        char why[WHY_BYTES];
        size_t at = 0;
        int err = 0;

        while (err == 0 && (one = next_of(templates, &at))) {
                if (at <= 2)
                        snprintf(why, sizeof(why), "which %s has", at == 1 ? "--body" : "--url");
                else
                        snprintf(why, sizeof(why), "which -H %.40s has",
                                 templates->headers[at - 3].name);
                for (size_t i = 0; err == 0 && i < ed_template_places(one); i++)
                        err = ed_columns_need(columns, ed_template_name(one, i), why, error);
        }
        if (err == -EINVAL && at == 1 && strstr(error, why))
                hint_add(error);
        return err == 0 && id ? ed_columns_need(columns, id, "which --id-column names", error)
                              : err;
}

int ed_templates_are_blank(const struct ed_templates *templates, const struct ed_columns *columns,
                           const char *line, size_t bytes)
{
        const struct ed_template *one;
        bool has_places = false;
        size_t at = 0;

        while ((one = next_of(templates, &at))) {
                int blank = ed_template_places(one) > 0
                                    ? ed_template_is_blank(one, columns, line, bytes)
                                    : 1;

                if (blank <= 0)
                        return blank;
                has_places |= ed_template_places(one) > 0;
        }
        return has_places;
}

int ed_templates_each_blank(const struct ed_templates *templates, const struct ed_columns *columns,
                            const char *line, size_t bytes, ed_templates_field_fn *fn, void *arg)
{
        const struct ed_template *one;
        size_t at = 0;
        int err = 0;

        while (err == 0 && (one = next_of(templates, &at)))
                if (ed_template_places(one) > 0)
                        err = ed_template_each_blank(one, columns, line, bytes, fn, arg);
        return err;
}
