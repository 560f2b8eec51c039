/*
 * batch/run/save.c - see save.h.
 */
#include "batch/run/save.h"

#include <errno.h>

#include "batch/run/stop.h"
#include "common/write_all.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "eddy/time.h"

struct content {
        struct ed_save_dir_file *file;
        const void *data;
        size_t bytes;
};

/* On a thread, because a disk may be slow. */
static int content_put(void *arg)
{
        struct content *content = arg;
        int err = ed_save_dir_begin(content->file);

        if (err == 0)
                err = ed_write_all(content->file->fd, content->data, content->bytes);
        if (err == 0)
                return ed_save_dir_keep(content->file);
        ed_save_dir_drop(content->file);
        return err;
}

static int content_save(struct content *content)
{
        eddy_scope shield;
        int err;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .deadline_ns = INT64_MAX });
        err = eddy_to_thread(content_put, content);
        eddy_scope_end(&shield);
        return err == -EAGAIN ? content_put(content) : err; /* no thread */
}

/* Returns true if the body becomes a file. Successes without a file are counted. */
static bool is_saved(struct ed_batch_unit *unit, const struct ed_attempt *attempt,
                     const struct ed_answer *answer)
{
        struct ed_saved *saved = &unit->sink.saved;

        if (!unit->sink.save.path || !ed_attempt_is_ok(attempt))
                return false;
        if (answer->body_bytes == 0) {
                saved->empty++;
                return false;
        }
        if (attempt->is_compact ||
            eddy_json_check(answer->body, answer->body_bytes, NULL, NULL) == 0) {
                saved->json++;
                return false;
        }
        return true;
}

/* Save a body, and say why that is not possible. */
static int body_save(struct ed_batch_unit *unit, const struct ed_answer *answer,
                     struct ed_save_dir_file *file)
{
        struct ed_batch_sink *sink = &unit->sink;
        struct content content = { file, answer->body, answer->body_bytes };
        int err;

        if (sink->save_err < 0)
                return sink->save_err;
        ed_save_dir_name(file, &sink->save,
                         ed_answer_mark(answer->id, answer->id_bytes, answer->hash), ED_SAVE_ID,
                         answer->id, answer->id_bytes, answer->file_type);
        err = content_save(&content);
        if (err == 0)
                return 0;
        if (sink->save_err == 0)
                ed_batch_stop(unit->run, ED_STOP_OUTPUT, ED_BATCH_DRAIN_NS,
                              "--save %s: cannot save %s: %s; %s", sink->save.path, file->name,
                              eddy_error_text(err),
                              err == -EEXIST ? "name another folder, or move this file"
                                             : "make room, and run the same command again");
        sink->save_err = err;
        return err;
}

int ed_batch_save(struct ed_batch_unit *unit, const struct ed_attempt *attempt,
                  struct ed_answer *answer, struct ed_save_dir_file **ret_file)
{
        struct ed_save_dir_file *file; /* too large for the frame */
        int err;

        *ret_file = NULL;
        if (!is_saved(unit, attempt, answer))
                return 0;
        file = eddy_malloc(sizeof(*file));
        if (!file) {
                ed_batch_stop(unit->run, ED_STOP_INTERNAL, 0, NULL);
                return -ENOMEM;
        }
        answer->file_type = eddy_http_response_header(attempt->response, "Content-Type");
        err = body_save(unit, answer, file);
        if (err < 0) {
                eddy_free(file);
                return err;
        }
        ed_saved_add(&unit->sink.saved, answer->file_type);
        answer->file = file->name;
        *ret_file = file;
        return 0;
}

void ed_batch_saved(struct ed_save_dir_file *file, bool is_written)
{
        if (file && is_written)
                ed_save_dir_recorded(file);
        eddy_free(file);
}
