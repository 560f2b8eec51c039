/*
 * batch/run/work.c - see work.h.
 */
#include "batch/run/work.h"

#include <errno.h>
#include <string.h>

#include "batch/run/job.h"
#include "batch/run/stop.h"
#include "eddy/alloc.h"
#include "eddy/http_text.h"

enum { SECRET_BYTES = 12 }; /* of a value, by which it is recognised in a message */

/* ---- a run --------------------------------------------------------------------------------- */

/* Returns true if a text has the value of a secret header, without a word such as Bearer before it. */
static bool header_is_in(const struct eddy_http_header *header, const char *text, size_t bytes)
{
        const char *space = strrchr(header->value, ' '), *value = space ? space + 1 : header->value;

        /* The beginning is enough: a message may end within the value. */
        return eddy_http_header_is_secret(header->name) && *value &&
               memmem(text, bytes, value, strnlen(value, SECRET_BYTES));
}

static bool headers_are_in(const struct eddy_http_header *headers, size_t count, const char *text,
                           size_t bytes)
{
        for (size_t i = 0; i < count; i++)
                if (header_is_in(&headers[i], text, bytes))
                        return true;
        return false;
}

static bool secrets_are_in(const void *arg, const struct ed_request *request, const char *text,
                           size_t bytes)
{
        const struct ed_batch_run *run = arg;
        const struct ed_headers *headers = &run->settings->headers;

        if (headers_are_in(headers->items, headers->count, text, bytes) ||
            (request && headers_are_in(request->headers, request->headers_count, text, bytes)))
                return true;
        return ed_api_keys_are_in(run->keys, text, bytes);
}

void ed_run_init(struct ed_batch_run *run, uint32_t slots)
{
        const struct ed_batch_settings *settings = run->settings;

        run->slots_most = slots;
        run->retry_policy = (struct eddy_retry_policy){
                .attempts = settings->attempts,
                .base_ns = settings->retry_base_ns ? settings->retry_base_ns : -1,
                .cap_ns = settings->retry_max_ns,
                .wait_max_ns = settings->throttle_wait_max_ns,
        };
        ed_random_init(&run->random);
        run->reasons.has_secret = secrets_are_in;
        run->reasons.secrets = run;
        run->engine.ops = &ed_batch_job_ops;
        run->engine.stats = &run->stats;
        ed_room_init(&run->engine.room, slots, settings->ordered);
}

/* Add the host of --url. */
static int main_add(struct ed_batch_run *run)
{
        const char *url = run->settings->url;
        char *sample;
        int err;

        if (!run->templates.url)
                return ed_endpoints_add_main(&run->endpoints, url);
        sample = eddy_malloc(strlen(url) + 1);
        if (!sample)
                return -ENOMEM;
        ed_template_sample(run->templates.url, sample);
        err = ed_endpoints_add_main(&run->endpoints, sample);
        eddy_free(sample);
        return err;
}

static int endpoints_make(struct ed_batch_run *run)
{
        const struct ed_batch_settings *settings = run->settings;
        struct ed_endpoint_limits limits = { .rpm = settings->rpm,
                                             .tpm = settings->tpm,
                                             .burst_ns = settings->burst_ns,
                                             .begin_ns = run->begin_ns,
                                             .keys = run->keys->count,
                                             .adapts = settings->concurrency_auto,
                                             .changes = settings->bases.is_watched };
        const struct ed_base_urls *given = &settings->bases.given;
        struct ed_endpoints_change change;
        struct ed_endpoint *leader;
        int err = 0;

        ed_endpoints_init(&run->endpoints, &limits, &run->engine.room);
        for (size_t i = 0; err == 0 && i < given->count; i++)
                err = ed_endpoints_add_base(&run->endpoints, given->items[i]->text, &leader);
        if (err == 0)
                err = ed_endpoints_list(&run->endpoints, &settings->bases.listed, &change);
        if (err == 0 && settings->url && *settings->url != '/')
                err = main_add(run);
        return err;
}

int ed_run_begin(struct ed_batch_run *run, eddy_scope *scope)
{
        const struct ed_batch_settings *settings = run->settings;
        int err = endpoints_make(run);

        if (err == 0)
                err = ed_slots_init(&run->engine.slots, settings->concurrency_auto, run->slots_most,
                                    settings->ramp_ns);
        if (err < 0)
                return err;
        run->ramp = (struct ed_slots_ramp){ &run->engine.slots, settings->ramp_ns };
        err = eddy_scope_start(scope, ed_bases_watch, run);
        return err < 0 ? err : eddy_scope_start(scope, ed_slots_open, &run->ramp);
}

void ed_run_fini(struct ed_batch_run *run)
{
        ed_endpoints_fini(&run->endpoints);
        ed_templates_fini(&run->templates);
}

/* ---- a unit -------------------------------------------------------------------------------- */

void ed_unit_init(struct ed_batch_unit *unit, struct ed_batch_run *run,
                  const struct ed_batch_paths *paths)
{
        unit->run = run;
        unit->paths = paths;
        unit->input.fd = unit->sink.answers.fd = unit->sink.failures.fd = -1;
        unit->sink.save.fd = -1;
        unit->attempts.end_ns = INT64_MAX;
}

void ed_unit_fini(struct ed_batch_unit *unit)
{
        ed_answers_file_close(&unit->sink.answers);
        ed_answers_file_close(&unit->sink.failures);
        ed_reader_close(unit);
        ed_ids_free(unit->sink.ids);
        ed_ids_free(unit->sink.only);
        ed_ids_free(unit->sink.bad_lines);
        ed_ids_free(unit->sink.errors_only);
        ed_ids_free(unit->sink.refused);
        ed_output_fini(&unit->sink.output);
        ed_output_fini(&unit->sink.errors);
        ed_save_dir_close(&unit->sink.save);
        ed_order_fini(&unit->order);
}

static int outputs_begin(struct ed_batch_unit *unit)
{
        int err = ed_output_begin(&unit->sink.output);

        if (err == 0 && unit->paths->errors)
                err = ed_output_begin(&unit->sink.errors);
        return err;
}

static void outputs_end(struct ed_batch_unit *unit)
{
        ed_output_end(&unit->sink.output);
        if (unit->paths->errors)
                ed_output_end(&unit->sink.errors);
}

int ed_unit_work(struct ed_batch_unit *unit)
{
        struct ed_batch_run *run = unit->run;
        eddy_scope beside, work;
        int err = 0, end;

        /* The failures of an earlier run that also has answers may come first, and be alike. */
        run->alike.has_ended |= unit->sink.held.answered > 0 &&
                                unit->sink.held.failed + unit->sink.held.output_failures > 0;
        eddy_scope_begin(&beside, NULL);
        eddy_scope_begin(&work, NULL);
        ed_unit_join(unit, &work);
        ed_ids_clear(unit->sink.ids, ED_IDS_READ); /* by the check; the reader marks them again */
        if (run->settings->ordered)
                err = ed_order_init(&unit->order, run->engine.room.most);
        if (err == 0)
                err = outputs_begin(unit);
        if (err == 0)
                err = eddy_scope_start(&beside, ed_checkpoint_sync, unit);
        if (err == 0)
                err = eddy_scope_start(&work, ed_reader_run, unit);
        if (!unit->checked.total_is_known || unit->checked.total > 0)
                ed_batch_check_cost(run); /* earlier runs may have spent it */
        end = eddy_scope_end(&work);
        ed_unit_leave(unit);
        eddy_scope_cancel(&beside);
        eddy_scope_end(&beside);
        outputs_end(unit);
        if (err == 0 && end != -ECANCELED) /* if stopped, the reason is known */
                err = end;
        return err;
}
