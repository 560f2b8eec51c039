/*
 * batch/batch.c - `eddy batch`: sets up, watches and ends a run.
 */
#include "batch/batch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/command.h"
#include "batch/metrics.h"
#include "batch/paths.h"
#include "batch/run/stop.h"
#include "batch/run/work.h"
#include "batch/shard_setup.h"
#include "batch/summary.h"
#include "batch/summary_file.h"
#include "batch/template_option.h"
#include "common/console.h"
#include "common/duration.h"
#include "common/option.h"
#include "common/reading_show.h"
#include "eddy/error.h"
#include "eddy/run.h"
#include "eddy/signal.h"
#include "eddy/time.h"

/* A process manager may send a signal twice. */
#define SIGNAL_REPEAT_NS EDDY_MS(200)

#define BODY_BYTES_MAX ((uint64_t) 256 << 20)

enum {
        FILES_SPARE = 64,     /* open files for everything except connections */
        ADAPTIVE_MOST = 1000, /* of -c auto */
};

/* ---- tasks beside the work ----------------------------------------------------------------- */

static void stop_describe(const struct ed_batch_run *run, int signo, char *text, size_t room)
{
        unsigned long long in_flight = run->stats.in_flight, tried = run->tried;

        if (in_flight > 0)
                snprintf(text, room, "waiting up to 30s for %llu answers; %s drops them", in_flight,
                         signo == SIGHUP ? "SIGTERM" : "the same signal again");
        else if (tried > 0)
                snprintf(text, room,
                         "nothing is in flight; waiting for a retry, and cancelled: %llu request%s",
                         tried, tried == 1 ? "" : "s");
        else
                snprintf(text, room, "nothing is in flight");
}

/* The first signal drains, the second drops what is in flight, the third ends the process. */
static void signal_handle(struct ed_batch_command *command, int signo, int *count)
{
        struct ed_batch_run *run = &command->run;
        char text[96];

        if (signo == SIGHUP && *count > 0)
                return; /* a terminal that closes sends it more than once */
        if (++*count == 1) {
                command->signo = run->units ? signo : 0;
                stop_describe(run, signo, text, sizeof(text));
                ed_batch_stop(run, ED_STOP_SIGNAL, run->stats.in_flight > 0 ? ED_BATCH_DRAIN_NS : 0,
                              "%s", text);
        } else if (*count == 2) {
                ed_batch_stop(run, ED_STOP_SIGNAL, 0, NULL);
        } else {
                _exit(ED_EXIT_SIGNAL + signo);
        }
}

static int watch_signals(void *arg)
{
        struct ed_batch_command *command = arg;
        static const int all[] = { SIGUSR1, SIGINT, SIGTERM, SIGHUP };
        EDDY_AUTO(eddy_signal) eddy_signal *signals = NULL;
        int signos[4] = { SIGUSR1 }, n = 1, signo, count = 0;
        int64_t last_ns = -SIGNAL_REPEAT_NS;

        /* A signal that is ignored stays so: a shell ignores SIGINT for background commands, and nohup
         * SIGHUP. */
        for (size_t i = 1; i < sizeof(all) / sizeof(all[0]); i++) {
                struct sigaction now;

                if (sigaction(all[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
                        signos[n++] = all[i];
        }
        if (eddy_signal_open(signos, (size_t) n, &signals) < 0)
                return 0;
        while ((signo = eddy_signal_wait(signals)) > 0) {
                if (signo == SIGUSR1) {
                        ed_show_now(&command->show);
                        continue;
                }
                if (eddy_now() - last_ns < SIGNAL_REPEAT_NS)
                        continue;
                last_ns = eddy_now();
                signal_handle(command, signo, &count);
        }
        return 0;
}

static int watch_deadline(void *arg)
{
        struct ed_batch_command *command = arg;
        const struct ed_batch_opts *opts = &command->opts;

        if (opts->deadline_ns > 0 && eddy_sleep(opts->deadline_ns) == 0)
                ed_batch_stop(&command->run, ED_STOP_DEADLINE, 0, "--deadline %s has passed",
                              opts->deadline_text);
        return 0;
}

/* ---- the run ------------------------------------------------------------------------------- */

static uint64_t total_guess(const void *arg)
{
        const struct ed_batch_unit *unit = arg;
        const struct ed_batch_run *run = unit->run;

        if (run->settings->limit > 0 && unit->checked.total_is_known &&
            run->settings->limit < unit->checked.total)
                return run->settings->limit;
        if (unit->checked.total_is_known)
                return unit->checked.total;
        return unit->input.whole ? unit->input.read : 0;
}

static int64_t resume_ns(const void *arg)
{
        const struct ed_batch_unit *unit = arg;

        return ed_endpoints_resume(&unit->run->endpoints);
}

/* Add the first server that is paused, and the number of others. */
static void paused_add(const struct ed_endpoints *endpoints, struct ed_draft *line)
{
        const struct ed_endpoint *first = NULL;
        int64_t now_ns = eddy_now();
        char wait[ED_DURATION_TEXT_BYTES];
        size_t count = 0;

        for (const struct ed_endpoint *endpoint = endpoints->first; endpoint;
             endpoint = endpoint->next) {
                if (endpoint->pause_end_ns <= now_ns || endpoint->is_gone)
                        continue;
                first = count++ > 0 ? first : endpoint;
        }
        if (!first)
                return;
        ed_duration_print(first->pause_end_ns - now_ns, wait);
        ed_draft_add_printf(line, " | %s paused %s", first->shown, wait);
        if (count > 1)
                ed_draft_add_printf(line, ", %zu more paused", count - 1);
}

/* Add what only this command has to the line of progress. */
static void progress_more(const void *arg, bool is_json, struct ed_draft *line)
{
        const struct ed_batch_unit *unit = arg;
        const struct ed_batch_run *run = unit->run;

        if (is_json) {
                if (run->settings->shard.count > 0)
                        ed_draft_add_printf(line, ",\"shard\":\"%u/%u\"",
                                            run->settings->shard.index, run->settings->shard.count);
                ed_draft_add_printf(
                        line, ",\"refused\":%llu,\"slots\":%u,\"tokens\":%llu",
                        (unsigned long long) run->stats.refused, ed_slots_limit(&run->engine.slots),
                        (unsigned long long) (run->spent.usage.input + run->spent.usage.output));
                return;
        }
        if (run->settings->shard.count > 0)
                ed_draft_add_printf(line, " | shard %u/%u", run->settings->shard.index,
                                    run->settings->shard.count);
        if (run->stats.refused > 0) {
                ed_draft_add_str(line, " | 429 ");
                ed_draft_add_grouped(line, run->stats.refused);
        }
        if (run->keys->is_refreshing)
                ed_draft_add_str(line, " | refreshing the API key");
        paused_add(&run->endpoints, line);
}

/* Work at the requests, with the watchers beside it. */
static int work_all(struct ed_batch_command *command, eddy_scope *whole)
{
        struct ed_batch_unit *unit = &command->unit;
        int err = ed_metrics_begin(unit->run, command->opts.log, command->opts.metrics, whole,
                                   &command->metrics);

        if (err < 0) {
                command->setup_failed = true;
                return 0;
        }
        eddy_scope_start(whole, watch_signals, command);
        eddy_scope_start(whole, watch_deadline, command);
        ed_show_start(&command->show, whole);
        return ed_unit_work(unit);
}

/* Note why the run has ended, if nothing has stopped it. */
static void end_note(struct ed_batch_unit *unit)
{
        const struct ed_batch_input *input = &unit->input;
        struct ed_stats *stats = &unit->run->stats;

        if (unit->run->unpaid > 0 && stats->stop == ED_STOP_NONE)
                stats->stop = ED_STOP_QUOTA;
        if (input->limited && stats->stop == ED_STOP_NONE)
                stats->stop = ED_STOP_LIMIT;
        if (input->limited && unit->checked.total_is_known)
                stats->beyond = unit->checked.total - input->read;
        stats->unread = !input->whole || (input->limited && !unit->checked.total_is_known);
}

/* A shard that begins again waits, so that all shards stay within their limits. */
static void shard_pause(struct ed_batch_command *command)
{
        int64_t pause_ns =
                ed_shard_setup_pause(&command->opts.settings, command->unit.sink.held.had_output);
        char text[ED_DURATION_TEXT_BYTES];

        if (pause_ns == 0 ||
            (command->unit.checked.total_is_known && command->unit.checked.total == 0))
                return;
        command->run.begin_ns = eddy_now() + pause_ns;
        ed_duration_print(pause_ns, text);
        ed_console_say(
                "batch",
                "%s exists: no request is sent for %s, because a run that has just ended may have "
                "used the limits",
                command->unit.paths->output, text);
}

static int batch_all(void *arg)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *tls = NULL;
        struct ed_batch_command *command = arg;
        struct ed_batch_run *run = &command->run;
        const struct ed_batch_settings *settings = run->settings;
        struct eddy_http_client_opts client_opts = {
                /* A request chooses its server before it has a slot. If that server had no room for its
                 * idle connection, each request would need a new one. */
                .connections_max = run->slots_most + 1,
                .timeouts = { .connect_ns = settings->connect_timeout_ns,
                              .read_ns = settings->idle_timeout_ns },
                .body_bytes_max = BODY_BYTES_MAX,
                .redirects_max = (int) settings->redirects_max,
                .flags = EDDY_HTTP_REDIRECT_SAME_METHOD,
        };
        eddy_scope whole;
        int err =
                ed_connect_open(&command->opts.connect, "batch", &client_opts, &tls, &run->client);

        if (err < 0) {
                command->setup_failed = err == ED_CONNECT_REFUSED;
                return command->setup_failed ? 0 : err;
        }
        eddy_scope_begin(&whole, NULL);
        shard_pause(command);
        err = ed_run_begin(run, &whole);
        if (err == 0)
                err = work_all(command, &whole);
        eddy_scope_cancel(&whole);
        eddy_scope_end(&whole);
        ed_metrics_end(command->metrics);
        end_note(&command->unit);
        eddy_http_client_close(run->client);
        return err;
}

/* ---- before and after ---------------------------------------------------------------------- */

static int templates_open(struct ed_batch_run *run)
{
        const struct ed_batch_settings *settings = run->settings;

        return ed_template_options_open("batch",
                                        &(struct ed_template_options){
                                                .body = settings->body,
                                                .body_bytes = settings->body_bytes,
                                                .url = settings->url,
                                                .headers = &settings->headers,
                                                .skip_empty = settings->skip_empty,
                                        },
                                        &run->templates);
}

/* `eddy retry`: refuse names of files of which there is none, as a misspelled one. */
static int retry_check(struct ed_batch_unit *unit)
{
        struct ed_batch_run *run = unit->run;
        const struct ed_batch_settings *settings = run->settings;

        if (!settings->only_failed)
                return 0;
        unit->sink.held.lacks_errors = access(unit->paths->errors, F_OK) < 0 && errno == ENOENT;
        if (!unit->sink.held.lacks_errors || access(unit->paths->output, F_OK) == 0 ||
            errno != ENOENT)
                return 0;
        return ed_console_usage("batch",
                                "-o %s: there is neither this file nor %s; name the output "
                                "of the run",
                                unit->paths->output, unit->paths->errors);
}

/* Choose the number of slots, within 'limit' open files. */
static uint32_t slots_choose(const struct ed_batch_settings *settings, unsigned long limit)
{
        unsigned long most = limit > FILES_SPARE + 1 ? limit - FILES_SPARE : 1;
        uint32_t wanted = settings->concurrency_auto ? ADAPTIVE_MOST : settings->concurrency;

        if (wanted <= most)
                return wanted;
        if (!settings->concurrency_auto)
                ed_console_say("batch",
                               "-c %u reduced to %lu: %lu open files allowed (ulimit -n), "
                               "%d reserved",
                               wanted, most, limit, FILES_SPARE);
        return (uint32_t) most;
}

/* Report base URLs that the number of slots leaves without requests. */
static void bases_say(const struct ed_batch_run *run)
{
        const struct ed_batch_settings *settings = run->settings;
        size_t bases = ed_bases_count(&settings->bases);
        char remedy[64];

        if (bases <= run->slots_most || settings->concurrency_auto)
                return;
        if (settings->concurrency > run->slots_most)
                snprintf(remedy, sizeof(remedy), "ulimit -n %zu", bases + FILES_SPARE);
        else
                snprintf(remedy, sizeof(remedy), "-c %zu", bases);
        ed_console_say("batch",
                       "%zu base URLs: at most %u of them have a request at a time; %s or more "
                       "gives one to each",
                       bases, run->slots_most, remedy);
}

/* Report the answers that this run takes for failures. With a pipe, they are not known yet. */
static void not_ok_say(const struct ed_batch_unit *unit)
{
        bool one = unit->sink.held.not_ok == 1;

        if (unit->sink.held.not_ok == 0)
                return;
        if (unit->run->settings->rule.ok || unit->run->settings->rule.schema)
                ed_console_say("batch", "%s: %llu %s: %s", unit->paths->output,
                               (unsigned long long) unit->sink.held.not_ok,
                               one ? "answer is not a success by --ok or --schema"
                                   : "answers are not successes by --ok or --schema",
                               one ? "it counts as a failure" : "they count as failures");
        else
                ed_console_say("batch", "%s: %llu %s: %s (--ok 'status < 300' keeps %s)",
                               unit->paths->output, (unsigned long long) unit->sink.held.not_ok,
                               one ? "answer has an error in its body, or is not JSON"
                                   : "answers have an error in their bodies, or are not JSON",
                               one ? "its request is sent again" : "their requests are sent again",
                               one ? "it" : "them");
}

/* Report the answers that --ok cannot judge. */
static void unjudged_say(const struct ed_batch_unit *unit)
{
        unsigned long long answers = unit->sink.held.answered;

        if (answers > 0 && unit->run->settings->rule.ok &&
            ed_condition_needs_headers(unit->run->settings->rule.ok))
                ed_console_say(
                        "batch",
                        "--ok has header(), and lines do not keep headers: the %llu answer%s "
                        "of %s %s not judged again",
                        answers, answers == 1 ? "" : "s", unit->paths->output,
                        answers == 1 ? "is" : "are");
}

/* Report the answers to requests that have changed since, which are sent again. */
static void changed_say(const struct ed_batch_unit *unit)
{
        uint64_t limit = unit->run->settings->limit;
        char most[64] = "", room[ED_GROUPED_BYTES];

        if (unit->checked.changed == 0)
                return;
        if (limit > 0 && limit < unit->checked.total)
                snprintf(most, sizeof(most), ", at most %s of them in this run (--limit)",
                         ed_grouped(limit, room));
        ed_console_say("batch", "%s has %s %s sent again (--on-changed send)%s",
                       unit->paths->output, ed_grouped(unit->checked.changed, room),
                       unit->checked.changed == 1 ? "answer, whose request has changed, and is"
                                                  : "answers, whose requests have changed, and are",
                       most);
}

/* Report the requests that have an answer. Those of a pipe are not known yet. */
static void answers_say(const struct ed_batch_unit *unit)
{
        const struct ed_batch_run *run = unit->run;
        uint64_t kept = unit->checked.total_is_known ? unit->checked.known - unit->checked.changed
                                                     : unit->sink.held.answered;
        bool in_both = unit->sink.held.errors_answered > 0;
        char room[ED_GROUPED_BYTES];

        if (kept > 0)
                ed_console_say("batch", "%s%s%s %s %s %s not sent again%s", unit->paths->output,
                               in_both ? " and " : "", in_both ? unit->paths->errors : "",
                               in_both ? "have" : "has", ed_grouped(kept, room),
                               kept == 1 ? "answer, whose request is"
                                         : "answers, whose requests are",
                               run->settings->changed_ok && !unit->checked.total_is_known
                                       ? ", unless they have changed"
                                       : "");
        changed_say(unit);
        if (unit->sink.held.repeated > 0)
                ed_console_say("batch", "%s: %s %s of an earlier line: kept", unit->paths->output,
                               ed_grouped(unit->sink.held.repeated, room),
                               unit->sink.held.repeated == 1 ? "answer has the id"
                                                             : "answers have the ids");
        if (unit->sink.held.errors_answers > 0)
                ed_console_say("batch", "%s: %s %s: kept", unit->paths->errors,
                               ed_grouped(unit->sink.held.errors_answers, room),
                               unit->sink.held.errors_answers == 1 ? "line is a success"
                                                                   : "lines are successes");
}

/* Report files of answers that are not in the folder of --save. */
static void missing_files_say(const struct ed_batch_unit *unit)
{
        const struct ed_saved_files *missing = &unit->sink.saved.missing;

        if (missing->count == 1)
                ed_console_say("batch",
                               "%s: the file of an answer is not in %s, or has another size: %s; "
                               "its request is not sent again, unless you take its line out of %s",
                               unit->paths->output, unit->paths->save, missing->first,
                               unit->paths->output);
        else if (missing->count > 1)
                ed_console_say("batch",
                               "%s: the files of %llu answers are not in %s, or have another size, "
                               "such as %s; their requests are not sent again, unless you take "
                               "their lines out of %s",
                               unit->paths->output, (unsigned long long) missing->count,
                               unit->paths->save, missing->first, unit->paths->output);
}

/* Report failures that are accepted, and ids that the input does not have. */
static void accepted_say(const struct ed_batch_unit *unit)
{
        const struct ed_accept *accept = unit->run->accept;
        unsigned long long count = unit->checked.accepted,
                           unmet = accept->named_count - accept->met_count;

        if (count > 0)
                ed_console_say("batch",
                               "%s has %llu accepted failure%s, whose request%s not sent again",
                               unit->paths->errors, count, count == 1 ? "" : "s",
                               count == 1 ? " is" : "s are");
        /* A shard has only some of them. */
        if (unmet > 0 && unit->checked.total_is_known && !*unit->input.shard)
                ed_console_say("batch", "--accept-failed-ids: %llu of %llu ids %s not in %s", unmet,
                               (unsigned long long) accept->named_count, unmet == 1 ? "is" : "are",
                               unit->paths->input);
}

static int run_begin(struct ed_batch_command *command)
{
        struct ed_batch_unit *unit = &command->unit;
        struct ed_batch_run *run = &command->run;
        unsigned long files = ed_console_raise_files("batch");
        int err = files > 0 ? templates_open(run) : ED_EXIT_FAILED;

        if (err == 0)
                err = ed_reader_open(unit);
        if (err == 0)
                err = ed_paths_check(command);
        if (err == 0)
                err = retry_check(unit);
        if (err == 0)
                err = ed_checkpoint_open(unit);
        if (err == 0)
                err = ed_paths_check(command); /* of files that were made only now, too */
        if (err == 0)
                err = ed_reader_check(unit);
        if (err == 0 && unit->paths->save)
                /* Incomplete files with notes are those of eddy fetch. */
                err = ed_save_dir_open(&unit->sink.save, &run->say, unit->paths->save,
                                       ED_SAVE_DIR_CONTINUES);
        if (err == 0)
                err = ed_checkpoint_begin(unit);
        if (err == 0) {
                ed_run_init(run, slots_choose(run->settings, files));
                bases_say(run);
                answers_say(unit);
                missing_files_say(unit);
                unjudged_say(unit);
                accepted_say(unit);
                not_ok_say(unit);
        }
        return err;
}

/* Report results that were not written, or may be lost. Returns 0 or the exit code. */
static int output_judge(const struct ed_say *say, const struct ed_output *output, uint64_t lost,
                        bool is_file)
{
        if (output->err == -EPIPE)
                return 0;
        if (output->cut)
                ed_output_say_cut(output, say);
        if (output->err == -ESTALE)
                ed_say(say, "%llu answers could not be written", (unsigned long long) lost);
        else if (output->err == -ETIMEDOUT)
                ed_say(say, "%llu answers could not be written: %s accepts no more data",
                       (unsigned long long) lost, output->name);
        else if (output->err < 0)
                ed_say(say, "cannot write to %s: %s; %s", output->name,
                       eddy_error_text(output->err),
                       is_file ? "what it has is kept: make room, and run the same "
                                 "command again"
                               : "give -o FILE, which the same command continues after a "
                                 "stop");
        else if (output->save_err < 0)
                ed_say(say, "%s may be incomplete on its disk: %s; check the disk", output->name,
                       eddy_error_text(output->save_err));
        if (output->removed)
                ed_say(say,
                       "%s was removed or replaced during the run, and its answers are "
                       "lost; run again, and leave the file in its place",
                       output->name);
        return output->err < 0 || output->save_err < 0 || output->removed || output->cut
                       ? ED_EXIT_OUTPUT
                       : 0;
}

static int stop_exit(enum ed_stop stop)
{
        switch (stop) {
        case ED_STOP_QUOTA:
        case ED_STOP_KEY:
        case ED_STOP_KEY_SOURCE:
        case ED_STOP_ERRORS:
        case ED_STOP_ALIKE:
        case ED_STOP_COST:
                return ED_EXIT_POLICY;
        case ED_STOP_DEADLINE:
        case ED_STOP_THROTTLED:
        case ED_STOP_UNREACHED:
                return ED_EXIT_RESUMABLE;
        case ED_STOP_NONE:
        case ED_STOP_CLOSED:
                return ED_EXIT_OK;
        default:
                return ED_EXIT_FAILED;
        }
}

/* Returns the requests of the input that had no answer when the run began; 0: unknown. */
static uint64_t unanswered_of(const struct ed_batch_unit *unit)
{
        return unit->checked.total_is_known
                       ? unit->checked.requests - (unit->checked.known - unit->checked.changed) -
                                 unit->checked.accepted
                       : 0;
}

/* `eddy retry` has sent nothing: report the reason. Returns the exit code. */
static int retry_judge(const struct ed_batch_unit *unit)
{
        unsigned long long given = unit->sink.held.failed + unit->sink.held.output_failures;
        unsigned long long unanswered = unanswered_of(unit);

        if (unit->sink.held.rejected > 0)
                ed_console_say("batch",
                               "nothing was sent: the lines that were moved to .rejected name no "
                               "request; read them, and correct them or remove the file");
        else if (unit->sink.held.strange > 0)
                ed_console_say("batch",
                               "nothing was sent: %s has none of the ids of %llu failure%s",
                               unit->paths->input, (unsigned long long) unit->sink.held.strange,
                               unit->sink.held.strange == 1 ? "" : "s");
        else if (unit->checked.accepted > 0)
                ed_console_say("batch", "nothing was sent: the failures of all requests without "
                                        "an answer are accepted");
        else if (given > 0)
                ed_console_say("batch", "nothing was sent: all failed requests have an answer");
        else if (unit->sink.held.lacks_errors && (unanswered > 0 || !unit->checked.total_is_known))
                ed_console_say("batch",
                               "nothing was sent: %s does not exist; no request has failed, or the "
                               "run had another --errors FILE",
                               unit->paths->errors);
        else if (unit->sink.held.lacks_errors)
                ed_console_say("batch", "nothing was sent: all requests have an answer");
        else
                ed_console_say("batch", "%s names no failed request; nothing was sent",
                               unit->paths->errors);
        if (unanswered > 0)
                ed_console_say("batch", "%llu request%s of %s %s no answer: eddy batch sends %s",
                               unanswered, unanswered == 1 ? "" : "s", unit->paths->input,
                               unanswered == 1 ? "has" : "have", unanswered == 1 ? "it" : "them");
        return unit->sink.held.rejected > 0 || unit->sink.held.strange > 0 || unanswered > 0
                       ? ED_EXIT_FAILED
                       : ED_EXIT_OK;
}

/* Report an input without a request. Returns the exit code: a table may have no row on some days. */
static int empty_say(const struct ed_batch_unit *unit)
{
        if (unit->input.size > 0 && !unit->checked.is_blank) {
                ed_console_say("batch", "%s: shard %u/%u has no request", unit->paths->input,
                               unit->run->settings->shard.index, unit->run->settings->shard.count);
                return ED_EXIT_OK;
        }
        if (unit->input.columns) {
                ed_console_say("batch", "%s: no rows: nothing to send", unit->paths->input);
                return ED_EXIT_OK;
        }
        ed_console_say("batch", "%s: the input has no request", unit->paths->input);
        return ED_EXIT_INPUT;
}

/* Returns the exit code of a run, after messages. */
static int run_judge(const struct ed_batch_command *command, int err, int file_exit)
{
        const struct ed_batch_unit *unit = &command->unit;
        const struct ed_batch_run *run = &command->run;
        int exit_code = output_judge(&run->say, &unit->sink.output, run->stats.lost,
                                     unit->paths->output != NULL);
        int empty_exit = ED_EXIT_OK;

        if (unit->sink.save_err < 0 && exit_code == 0)
                exit_code = ED_EXIT_OUTPUT;
        if (unit->paths->errors && exit_code == 0)
                exit_code = output_judge(&run->say, &unit->sink.errors, run->stats.lost, true);
        if (err < 0)
                ed_console_say("batch", "%s", eddy_error_text(err));
        if (!unit->sink.only && ed_summary_is_empty(unit))
                empty_exit = empty_say(unit);
        if (command->signo)
                return ED_EXIT_SIGNAL + command->signo;
        if (exit_code || file_exit)
                return exit_code ? exit_code : file_exit;
        if (unit->input.err)
                return unit->input.err;
        if (run->stats.stop != ED_STOP_NONE && run->stats.stop != ED_STOP_LIMIT)
                return stop_exit(run->stats.stop);
        if (err >= 0 && unit->sink.only && unit->input.read == 0)
                return retry_judge(unit);
        if (empty_exit)
                return empty_exit;
        return err < 0 || run->stats.failed > ed_summary_accepted(unit) ? ED_EXIT_FAILED
                                                                        : ED_EXIT_OK;
}

/* Few requests may all have failed before the run gave up a server that no attempt has reached. */
static void unreached_note(struct ed_batch_run *run)
{
        if ((run->stats.stop == ED_STOP_NONE || run->stats.stop == ED_STOP_LIMIT) &&
            ed_endpoints_are_unreached(&run->endpoints))
                run->stats.stop = ED_STOP_UNREACHED;
}

static int run_whole(struct ed_batch_command *command)
{
        struct ed_batch_unit *unit = &command->unit;
        struct ed_batch_run *run = &command->run;
        int err, exit_code;

        run->start_wall_ns = eddy_time_of_day();
        run->stats.start_ns = eddy_now();
        command->has_begun = true;
        command->show = (struct ed_show){ .mode = command->show.mode,
                                          .stats = &run->stats,
                                          .total = total_guess,
                                          .more = progress_more,
                                          .resume = resume_ns,
                                          .arg = unit };
        err = eddy_run(batch_all, command,
                       &(struct eddy_run_opts){ .flags = EDDY_RUN_NO_SIGNALS,
                                                .watchdog_ns = EDDY_SEC(1),
                                                .report = ed_console_report });
        unreached_note(run);
        exit_code = ed_checkpoint_close(unit, command->signo == 0);
        if (err == 0 && exit_code == 0 && run->stats.stop == ED_STOP_NONE)
                ed_save_dir_clean(&unit->sink.save, true);
        if (command->setup_failed)
                return ED_EXIT_USAGE;
        command->exit_code = run_judge(command, err, exit_code);
        command->exit_code = ed_summary_file_end(command);
        ed_summary_print(command);
        return command->exit_code;
}

/* The command line is valid. Returns the exit code. */
static int command_run(struct ed_batch_command *command)
{
        int exit_code = ed_summary_file_begin(command);

        if (exit_code)
                return exit_code;
        exit_code = run_begin(command);
        if (exit_code == 0)
                exit_code = run_whole(command);
        else
                ed_checkpoint_abandon(&command->unit);
        command->exit_code = exit_code;
        return ed_summary_file_end(command);
}

/* Returns the exit code of a command line that is not valid, which the summary has too. */
static int command_refuse(struct ed_batch_command *command, int exit_code)
{
        ed_shard_setup_refused(&command->opts);
        if (exit_code == ED_EXIT_OK || ed_summary_file_begin(command) != 0)
                return exit_code; /* only a help text was printed, or there is another fault */
        command->exit_code = exit_code;
        return ed_summary_file_end(command);
}

int ed_batch_main(int argc, char **argv)
{
        /* Static, because it is too large for a stack frame, and there is only one run. */
        static struct ed_batch_command command;
        struct ed_batch_unit *unit = &command.unit;
        int exit_code;

        /* Until the progress can be printed. */
        signal(SIGUSR1, SIG_IGN);
        /* Otherwise the exit code of --api-key-command would be lost. */
        signal(SIGCHLD, SIG_DFL);
        command.argv = argv;
        command.exit_code = command.summary_fd = -1;
        command.run.settings = &command.opts.settings;
        command.run.say = ed_console_voice("batch");
        command.run.keys = &command.opts.keys;
        command.run.accept = &command.opts.accept;
        ed_unit_init(unit, &command.run, &command.opts.paths);
        command.run.start_wall_ns = eddy_time_of_day();
        command.run.stats.start_ns = eddy_now();
        if (ed_batch_opts_parse(&command.opts, argc, argv, &exit_code) == 0) {
                command.opts.keys.say = command.run.say;
                command.show.mode = ed_show_choose(command.opts.progress, unit->paths->output);
                ed_reading_show("batch", command.show.mode);
                exit_code = command_run(&command);
        } else {
                exit_code = command_refuse(&command, exit_code);
        }
        ed_unit_fini(unit);
        ed_run_fini(&command.run);
        ed_batch_opts_fini(&command.opts);
        return exit_code;
}
