/*
 * batch/run/save.c - see save.h.
 */
#include "batch/run/save.h"

#include <errno.h>
#include <string.h>

#include "batch/run/stop.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "eddy/time.h"

static int file_put(void *arg)
{
        return ed_save_dir_put(arg);
}

/* Save on a thread, because a disk may be slow. */
static int file_save(struct ed_save_dir_file *file)
{
        eddy_scope shield;
        int err;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .deadline_ns = INT64_MAX });
        err = eddy_to_thread(file_put, file);
        eddy_scope_end(&shield);
        return err == -EAGAIN ? file_put(file) : err; /* no thread */
}

int ed_batch_save(struct ed_batch_unit *unit, const struct ed_attempt *attempt,
                  struct ed_answer *answer, char name[ED_SAVE_NAME_BYTES])
{
        struct ed_save_dir *dir = &unit->sink.save;
        struct ed_save_dir_file file = { .dir = dir };
        int err;

        if (!dir->path || !ed_attempt_is_ok(attempt) || answer->body_bytes == 0 ||
            attempt->is_compact ||
            eddy_json_check(answer->body, answer->body_bytes, NULL, NULL) == 0)
                return 0;
        file.text = answer->id;
        file.text_bytes = answer->id_bytes;
        file.type = eddy_http_response_header(attempt->response, "Content-Type");
        file.tag = ed_answer_mark(answer->id, answer->id_bytes, answer->hash);
        file.data = answer->body;
        file.bytes = answer->body_bytes;
        err = unit->sink.save_err < 0 ? unit->sink.save_err : file_save(&file);
        if (err < 0) {
                if (unit->sink.save_err == 0)
                        ed_batch_stop(unit->run, ED_STOP_OUTPUT, ED_BATCH_DRAIN_NS,
                                      "--save %s: cannot save %s: %s; %s", dir->path, file.name,
                                      eddy_error_text(err),
                                      err == -EEXIST ? "name another folder, or move this file"
                                                     : "make room, and run the same command again");
                unit->sink.save_err = err;
                return err;
        }
        memcpy(name, file.name, ED_SAVE_NAME_BYTES);
        answer->file = name;
        answer->file_type = file.type;
        return 0;
}

void ed_batch_saved(const struct ed_batch_unit *unit, const struct ed_answer *answer)
{
        if (answer->file)
                ed_save_dir_recorded(&unit->sink.save,
                                     ed_answer_mark(answer->id, answer->id_bytes, answer->hash));
}
