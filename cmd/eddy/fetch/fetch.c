/*
 * fetch/fetch.c - `eddy fetch`: sets up, watches and summarises a run.
 */
#include "fetch/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "common/duration.h"
#include "common/hangup.h"
#include "common/inputs.h"
#include "common/option.h"
#include "eddy/error.h"
#include "eddy/run.h"
#include "eddy/time.h"
#include "fetch/part.h"
#include "fetch/retry.h"
#include "fetch/run.h"

/* After a signal the program must end within a second; most of this time is for finished lines that
 * are not written yet. */
#define STOP_SIGNAL_NS EDDY_MS(400)
#define STOP_OTHER_NS  EDDY_MS(2000)

/* Maximum body in memory with --body; otherwise the limit only refuses lengths that no disk could
 * hold. */
#define BODY_KEPT_BYTES_MAX ((uint64_t) 64 << 20)
#define BODY_BYTES_MAX      ((uint64_t) 1 << 40)

enum {
        FILES_SPARE = 64, /* open files for everything except connections and bodies */
        SUMMARY_WAIT_MS = 200,
};

int ed_fetch_signal(const struct ed_fetch_run *run)
{
        return run->hangup ? SIGHUP : eddy_run_signal();
}

/* End the run as SIGTERM does if the terminal closes. */
static int watch_hangup(void *arg)
{
        struct ed_fetch_run *run = arg;

        if (ed_hangup_wait() < 0)
                return 0;
        run->hangup = true;
        eddy_scope_cancel(run->whole);
        return 0;
}

/* Wait until the run is cancelled; then limit the time for writing. */
static int watch_stop(void *arg)
{
        struct ed_fetch_run *run = arg;

        while (eddy_sleep(ED_DURATION_MAX_NS) == 0)
                continue;
        ed_output_stop(&run->output,
                       eddy_now() + (ed_fetch_signal(run) ? STOP_SIGNAL_NS : STOP_OTHER_NS));
        return 0;
}

/* Returns the number of URLs, or an estimate while the input is being read; 0 if unknown. */
static uint64_t total_guess(const void *arg)
{
        const struct ed_fetch_run *run = arg;

        if (run->input_whole)
                return run->stats.read;
        if (run->opts.duration.ns)
                return 0;
        if (run->opts.repeat)
                return run->opts.repeat;
        if (run->input_fd < 0)
                return run->opts.urls_count - (run->index - run->stats.read);
        if (run->input_total == 0 || run->input_done == 0)
                return 0;
        return run->opts.urls_count +
               (uint64_t) ((double) run->input_urls * (double) run->input_total /
                           (double) run->input_done);
}

/* Run the reader, the jobs and the watchers to the end of the run. */
static int work_all(struct ed_fetch_run *run)
{
        eddy_scope whole, work;
        int err;

        eddy_scope_begin(&whole, &(struct eddy_scope_opts){ .timeout_ns = run->opts.deadline.ns });
        run->whole = &whole;
        eddy_scope_start(&whole, watch_stop, run);
        eddy_scope_start(&whole, watch_hangup, run);
        ed_show_start(&run->show, &whole);

        eddy_scope_begin(&work, NULL);
        run->work = &work;
        eddy_scope_start(&work, ed_fetch_read, run);
        err = eddy_scope_end(&work);
        if (err == -ECANCELED)
                err = 0; /* stopped: ed_fetch_stop() returns the reason */
        run->stats.unread = run->input_fd >= 0 && !run->input_whole;
        if (!run->input_whole || run->stats.not_started > 0 || run->stats.cancelled > 0 ||
            run->stats.lost > 0 || err < 0)
                run->stats.stop = ed_fetch_stop(run);
        if (run->stats.stop == ED_STOP_NONE && run->stats.codes[ed_outcome_number(ED_E_DEADLINE)])
                run->stats.stop = ED_STOP_DEADLINE;

        eddy_scope_cancel(&whole);
        eddy_scope_end(&whole);
        return err;
}

static int client_open(struct ed_fetch_run *run, eddy_tls_config **ret_tls)
{
        const struct ed_fetch_opts *opts = &run->opts;
        struct eddy_http_client_opts client_opts = {
                .connections_max = opts->concurrency,
                .per_host_max = opts->per_host,
                .timeouts = { .connect_ns = opts->connect_timeout.ns,
                              .read_ns = opts->read_timeout.ns },
                .body_bytes_max = opts->body ? BODY_KEPT_BYTES_MAX : BODY_BYTES_MAX,
                .decode = opts->compressed,
                .redirects_max = opts->follow ? (int) opts->redirects_max : 0,
        };

        int err = ed_credentials_open(&opts->credentials, &client_opts.auth);

        if (err >= 0)
                err = ed_connect_open(&opts->connect, "fetch", &client_opts, ret_tls, &run->client);
        eddy_http_auth_free(client_opts.auth); /* the client has a reference */
        return err;
}

static int fetch_all(void *arg)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *tls = NULL;
        struct ed_fetch_run *run = arg;
        int err = client_open(run, &tls);

        if (err < 0) {
                run->setup_failed = err == ED_CONNECT_REFUSED;
                return run->setup_failed ? 0 : err;
        }
        err = ed_output_begin(&run->output);
        if (err < 0) {
                run->output.err = err;
                err = 0;
                goto fail_client;
        }
        err = ed_slots_init(&run->engine.slots, false, run->opts.concurrency, 0);
        if (err == 0)
                err = work_all(run);
        ed_output_end(&run->output);
fail_client:
        eddy_http_client_close(run->client);
        return err;
}

/* Open the list of URLs. Returns 0 or the exit code. */
static int input_open(struct ed_fetch_run *run)
{
        const char *path = run->opts.input;
        struct stat st;
        off_t at;

        run->input_fd = -1;
        if (!path)
                return 0;
        run->input_fd =
                strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (run->input_fd < 0 || fstat(run->input_fd, &st) < 0)
                return ed_console_usage("fetch", "-i %s: %s", path, strerror(errno));
        if (S_ISDIR(st.st_mode))
                return ed_console_usage("fetch", "-i %s: %s", path, strerror(EISDIR));
        if (run->input_fd == STDIN_FILENO && isatty(STDIN_FILENO))
                ed_console_say("fetch",
                               "-i -: URLs are read from the terminal, one per line, up to "
                               "Ctrl-D");
        at = S_ISREG(st.st_mode) ? lseek(run->input_fd, 0, SEEK_CUR) : -1;
        if (at >= 0 && st.st_size > at)
                run->input_total = (uint64_t) (st.st_size - at);
        return 0;
}

/* Returns true if the output is the list of URLs, which results would overwrite or extend. */
static bool output_is_input(const struct ed_fetch_run *run)
{
        struct stat in, out;

        if (run->input_fd < 0 || fstat(run->input_fd, &in) < 0 || !S_ISREG(in.st_mode))
                return false;
        if (run->opts.output ? stat(run->opts.output, &out) < 0 : fstat(STDOUT_FILENO, &out) < 0)
                return false;
        return in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* Returns true if a file is, or would be, directly in a folder that exists. */
static bool is_in_folder(const char *path, const char *folder)
{
        static char parent[PATH_MAX];
        const char *slash = strrchr(path, '/');
        struct stat first, second;

        snprintf(parent, sizeof(parent), "%.*s", slash ? (int) (slash + 1 - path) : 1,
                 slash ? path : ".");
        return stat(parent, &first) == 0 && stat(folder, &second) == 0 &&
               first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/*
 * Refuse files of the run in the folder of --save, where a body could replace them. With
 * --remote-name and without --force, no body replaces a file.
 */
static int folder_check(const struct ed_fetch_opts *opts)
{
        const char *paths[] = { opts->output, opts->input };
        static const char *const options[] = { "-o", "-i" };

        for (int i = 0; i < 2; i++)
                if (opts->save && (opts->force || !opts->remote_name) && paths[i] &&
                    strcmp(paths[i], "-") != 0 && is_in_folder(paths[i], opts->save))
                        return ed_console_usage(
                                "fetch",
                                "%s %s: this file is in the folder of --save, whose "
                                "files may replace it; move it to another folder",
                                options[i], paths[i]);
        return 0;
}

/* Reduce -c to a number that 'limit' open files allow. */
static void concurrency_hold(struct ed_fetch_opts *opts, unsigned long limit)
{
        unsigned long each = opts->save ? 2 : 1;
        unsigned long most = limit > FILES_SPARE + each ? (limit - FILES_SPARE) / each : 1;

        if (opts->concurrency <= most)
                return;
        ed_console_say("fetch",
                       "-c %u reduced to %lu: %lu open files allowed (ulimit -n), %d reserved",
                       opts->concurrency, most, limit, FILES_SPARE);
        opts->concurrency = (uint32_t) most;
}

static void summary_print(struct ed_fetch_run *run)
{
        struct ed_draft text = { 0 };

        if (run->opts.summary_json)
                ed_stats_print_json(&run->stats, eddy_now(), &text);
        else
                ed_stats_print(&run->stats, eddy_now(), &text);
        if (ed_draft_is_whole(&text))
                ed_console_write(text.data, text.bytes, SUMMARY_WAIT_MS);
        ed_draft_fini(&text);
}

/* Report results that were not written, or were written and lost. */
static void output_say(const struct ed_output *output, uint64_t lost)
{
        const struct ed_say say = ed_console_voice("fetch");
        unsigned long long lines = output->lines;

        if (output->cut)
                ed_output_say_cut(output, &say);
        if (output->err == -ETIMEDOUT)
                ed_console_say(
                        "fetch",
                        "%llu finished results could not be written: %s accepts no more data",
                        (unsigned long long) lost, output->name);
        else if (output->err < 0 && output->err != -EPIPE && output->err != -ESTALE)
                ed_console_say("fetch",
                               "cannot write to %s: %s; the %llu results written so far are kept%s",
                               output->name, eddy_error_text(output->err), lines,
                               output->torn ? ", and a part of a line after them" : "");
        else if (output->save_err < 0)
                ed_console_say("fetch",
                               "%s may be incomplete on its disk: %s; check the disk, and the last "
                               "of the %llu results",
                               output->name, eddy_error_text(output->save_err), lines);
        if (output->removed)
                ed_console_say(
                        "fetch",
                        "%s was removed or replaced during the run, and its %llu results are "
                        "lost; run again, and leave the file in its place until the end",
                        output->name, lines);
}

/* Report errors of the run itself. Returns the exit code. */
static int run_judge(struct ed_fetch_run *run, int err, int signo)
{
        const struct ed_output *output = &run->output;
        int output_err = output->err;

        if (err < 0)
                ed_console_say("fetch", "%s", eddy_error_text(err));
        if (run->input_err < 0)
                ed_console_say("fetch", "-i %s: %s; not all of it was read", run->opts.input,
                               run->input_err == -EBADMSG
                                       ? "the compressed data are damaged or end early"
                                       : eddy_error_text(run->input_err));
        if (run->save.err < 0)
                ed_console_say("fetch", "--save %s: %s", run->save.dir.path,
                               run->save.err == -EEXIST ? "a name for a file is already used in "
                                                          "this folder; name another folder"
                                                        : eddy_error_text(run->save.err));
        if (run->save.renamed > 0)
                ed_console_say(
                        "fetch",
                        run->save.renamed == 1
                                ? "--save %s: the name of %llu file was taken, so \"-\" and 16 "
                                  "digits were added; \"file\" in its line has the new name"
                                : "--save %s: the names of %llu files were taken, so \"-\" and 16 "
                                  "digits were added; \"file\" in their lines has the new names",
                        run->save.dir.path, (unsigned long long) run->save.renamed);
        if (run->input_fd >= 0 && run->input_whole && run->index == 0)
                ed_console_say("fetch", "-i %s: the input has no URL", run->opts.input);
        output_say(output, run->stats.lost);
        if (signo)
                return ED_EXIT_SIGNAL + signo;
        if ((output_err < 0 && output_err != -EPIPE) || output->removed || output->save_err < 0 ||
            output->cut || run->save.err < 0)
                return ED_EXIT_OUTPUT;
        if (err < 0 || run->input_err < 0 || run->stats.failed > 0)
                return ED_EXIT_FAILED;
        if (run->stats.stop != ED_STOP_NONE && run->stats.stop != ED_STOP_CLOSED)
                return ED_EXIT_FAILED;
        return ED_EXIT_OK;
}

static int run_whole(struct ed_fetch_run *run)
{
        int err, signo, exit_code;

        run->stats.start_ns = eddy_now(); /* set now, because the run may fail to begin */
        err = eddy_run(
                fetch_all, run,
                &(struct eddy_run_opts){ .watchdog_ns = EDDY_SEC(1), .report = ed_console_report });
        signo = ed_fetch_signal(run);
        if (signo && err == -ECANCELED)
                err = 0;
        /* After a signal the program must end soon, so do not wait for the disk. */
        ed_output_close(&run->output, signo == 0);
        if (signo == 0)
                ed_save_sync(&run->save);
        if (err == 0 && run->stats.stop == ED_STOP_NONE && run->save.err == 0)
                /* With --remote-name, parts may be those of another command. */
                ed_save_dir_clean(&run->save.dir, run->stats.failed > 0 || run->opts.remote_name);
        if (run->setup_failed)
                return ED_EXIT_USAGE;
        exit_code = run_judge(run, err, signo);
        summary_print(run);
        return exit_code;
}

/* Continue the output of an earlier run, which is read. Returns 0 or the exit code. */
static int output_continue(struct ed_fetch_run *run)
{
        int exit_code = ed_resume_read(&run->resume, run->opts.output, &run->save.dir);
        int err = exit_code ? 0 : ed_output_adopt(&run->output, run->resume.fd, run->opts.output);

        if (err == 0 && exit_code == 0)
                run->resume.fd = -1; /* the output closes it */
        if (err < 0)
                ed_console_say("fetch", "-o %s: %s", run->opts.output, eddy_error_text(err));
        return err < 0 ? ED_EXIT_OUTPUT : exit_code;
}

/* Read the record of the folder, which stays open. Returns 0 or the exit code. */
static int record_continue(struct ed_fetch_run *run)
{
        static char path[PATH_MAX];
        int exit_code;

        snprintf(path, sizeof(path), "%s/%s", run->opts.save, ED_SAVE_RECORD);
        ed_resume_record(&run->resume, run->save.record);
        exit_code = ed_resume_read(&run->resume, path, &run->save.dir);
        if (exit_code)
                run->save.record = -1; /* closed */
        run->resume.fd = -1;
        return exit_code;
}

/* Open the folder of --save, and its record unless -o is given. Returns 0 or the exit code. */
static int folder_open(struct ed_fetch_run *run)
{
        const struct ed_fetch_opts *opts = &run->opts;
        struct ed_save_opts save = { .path = opts->save,
                                     .force = opts->force,
                                     .resumes = run->resume.fd >= 0,
                                     .remote_name = opts->remote_name,
                                     .has_record = !opts->output };
        int exit_code = ed_save_open(&run->save, "fetch", &save);

        return exit_code == 0 && save.has_record ? record_continue(run) : exit_code;
}

/* Open the output and the folder of --save. Returns 0 or the exit code. */
static int files_open(struct ed_fetch_run *run)
{
        const struct ed_say say = ed_console_voice("fetch");
        const struct ed_fetch_opts *opts = &run->opts;
        int exit_code = 0;

        run->resume.fd = run->save.dir.fd = run->save.record = -1;
        if (opts->save && opts->output && !opts->force)
                exit_code = ed_resume_open(&run->resume, opts->output);
        if (exit_code == 0 && run->resume.fd < 0)
                exit_code = ed_output_open(&run->output, &say, opts->output, opts->force);
        if (exit_code == 0 && opts->save)
                exit_code = folder_open(run);
        if (exit_code == 0 && run->resume.fd >= 0)
                exit_code = output_continue(run);
        return exit_code;
}

int ed_fetch_main(int argc, char **argv)
{
        /* Static, because it is too large for a stack frame, and there is only one run. */
        static struct ed_fetch_run run;
        unsigned long files;
        int exit_code;

        if (ed_fetch_opts_parse(&run.opts, argc, argv, &exit_code) != 0)
                goto done_opts;
        files = ed_console_raise_files("fetch");
        exit_code = files > 0 ? input_open(&run) : ED_EXIT_FAILED;
        if (exit_code)
                goto done_opts;
        if (output_is_input(&run)) {
                exit_code = ed_console_usage("fetch", "-i %s: the results go to the same file",
                                             run.opts.input);
                goto done_opts;
        }
        exit_code = folder_check(&run.opts);
        if (exit_code == 0 && run.opts.output)
                exit_code = ed_inputs_check("fetch", "-o", run.opts.output);
        if (exit_code)
                goto done_opts;
        exit_code = files_open(&run);
        if (exit_code)
                goto done_files;
        concurrency_hold(&run.opts, files);
        run.show = (struct ed_show){ .mode = ed_show_choose(run.opts.progress, run.opts.output),
                                     .stats = &run.stats,
                                     .total = total_guess,
                                     .arg = &run };
        run.engine.ops = &ed_fetch_job_ops;
        run.engine.stats = &run.stats;
        ed_room_init(&run.engine.room, run.opts.concurrency, false);
        ed_retry_policy_init(&run.retry_policy, &run.opts);
        run.idempotent = eddy_http_request_is_idempotent(
                &(struct eddy_http_request){ .method = run.opts.method,
                                             .headers = run.opts.headers.items,
                                             .headers_count = run.opts.headers.count,
                                             .body = run.opts.data });
        run.is_continued = run.opts.save && ed_part_is_possible(run.opts.method, &run.opts.headers);
        exit_code = run_whole(&run);
        ed_output_fini(&run.output);
done_files:
        ed_resume_fini(&run.resume);
        ed_save_close(&run.save);
done_opts:
        ed_fetch_opts_fini(&run.opts);
        return exit_code;
}
