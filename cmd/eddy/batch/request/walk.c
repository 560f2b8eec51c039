/*
 * batch/request/walk.c - see walk.h.
 */
#include "batch/request/walk.h"

#include <errno.h>

#include "common/console.h"
#include "common/draft.h"

static int file_walk(struct ed_walk *walk, struct ed_source_opts opts)
{
        const struct ed_say say = ed_console_voice(walk->command);
        int err;

        opts.say = &say;
        opts.rules = &walk->rules;
        opts.columns = &walk->columns;
        err = ed_source_walk(&opts, &walk->kind);
        return err == -ECANCELED ? walk->exit_code : err;
}

int ed_walk_end(struct ed_walk *walk, int exit_code)
{
        walk->exit_code = exit_code;
        return -ECANCELED;
}

int ed_walk_requests(struct ed_walk *walk, const char *path, bool is_csv, ed_source_fn *take,
                     void *arg)
{
        return file_walk(walk, (struct ed_source_opts){ .path = path,
                                                        .line_bytes_max = ED_SOURCE_LINE_BYTES_MAX,
                                                        .csv = is_csv,
                                                        .shard = walk->shard,
                                                        .take = take,
                                                        .arg = arg });
}

int ed_walk_answers(struct ed_walk *walk, const char *path, ed_source_fn *take, void *arg)
{
        return file_walk(walk, (struct ed_source_opts){ .path = path,
                                                        .line_bytes_max = ED_DRAFT_BYTES_MAX,
                                                        .take = take,
                                                        .arg = arg });
}

void ed_walk_fini(struct ed_walk *walk)
{
        ed_columns_free(walk->columns);
        walk->columns = NULL;
}
