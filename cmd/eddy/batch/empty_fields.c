/*
 * batch/empty_fields.c - see empty_fields.h.
 */
#include "batch/empty_fields.h"

#include <string.h>

#include "common/excerpt.h"

enum { SHOWN_MAX = 20 };

/* The line whose fields are counted. */
struct noting {
        struct ed_empty_fields *empty;
        uint64_t number;
};

static void field_note(void *arg, const char *name)
{
        struct noting *noting = arg;
        struct ed_empty_fields *empty = noting->empty;
        size_t i = 0;

        while (i < empty->fields_count && strcmp(empty->fields[i].name, name) != 0)
                i++;
        if (i == ED_EMPTY_FIELDS_MAX)
                return;
        if (i == empty->fields_count)
                empty->fields[empty->fields_count++].name = name;
        if (empty->fields[i].line == noting->number)
                return;
        empty->fields[i].line = noting->number;
        empty->fields[i].count++;
}

int ed_empty_fields_note(struct ed_empty_fields *empty, const struct ed_request_rules *rules,
                         const char *line, size_t bytes, uint64_t number)
{
        struct noting noting = { empty, number };

        return ed_templates_each_blank(&rules->templates, rules->columns, line, bytes, field_note,
                                       &noting);
}

void ed_empty_fields_add(const struct ed_empty_fields *empty, struct ed_draft *report)
{
        char name[ED_EXCERPT_BYTES];

        for (size_t i = 0; i < empty->fields_count && i < SHOWN_MAX; i++) {
                ed_draft_add_str(report, i == 0 ? "" : ", ");
                ed_draft_add_str(report, ed_excerpt(name, empty->fields[i].name,
                                                    strlen(empty->fields[i].name)));
                ed_draft_add_str(report, " ");
                ed_draft_add_grouped(report, empty->fields[i].count);
        }
        if (empty->fields_count > SHOWN_MAX)
                ed_draft_add_printf(report, ", and %zu more fields",
                                    empty->fields_count - SHOWN_MAX);
}
