/*
 * batch/shard_setup.c - see shard_setup.h.
 */
#include "batch/shard_setup.h"

#include <errno.h>
#include <string.h>

#include "common/console.h"
#include "common/draft.h"
#include "common/shell_word.h"
#include "eddy/time.h"

#define BURST_NS EDDY_SEC(1)                /* without --burst */
#define MOST_NS  (EDDY_MIN(1) + EDDY_MS(1)) /* a minute, both of its ends included */

/*
 * Refuse CSV with a command that makes lines of JSON. The id of row n is in the column, if there is
 * one, or else in custom_id, or else r and n. Returns the exit code.
 */
static int csv_refuse(const char *command, const char *input, const char *id_column)
{
        struct ed_draft words = { 0 };
        int exit_code;

        if (id_column)
                ed_shell_word_add(&words, id_column);
        ed_draft_add_str(&words, id_column ? " " : "");
        ed_shell_copy_add(&words, input, "lines");
        ed_draft_add(&words, "", 1);
        exit_code = ed_console_usage(
                command,
                "--shard cannot begin in the middle of CSV, whose fields may have line feeds; "
                "make lines of JSON with ids first, and give these%s to all commands: python3 -c "
                "'import csv, json, sys; [print(json.dumps({**row, \"custom_id\": row.get(%s) or "
                "\"r%%d\" %% n})) for n, row in enumerate(csv.DictReader(open(0, "
                "encoding=\"utf-8-sig\", newline=\"\")), 1)]' %s",
                id_column ? ", without --id-column," : "",
                id_column ? "sys.argv[1]" : "\"custom_id\"",
                ed_draft_is_whole(&words) ? words.data : "<IN >NEW.jsonl");
        ed_draft_fini(&words);
        return exit_code;
}

int ed_shard_setup_input(const char *command, struct ed_shard shard, const char *input, bool csv,
                         const char *id_column)
{
        if (shard.count == 0)
                return 0;
        if (strcmp(input, "-") == 0)
                return ed_console_usage(command,
                                        "--shard needs a file, because it begins in the middle: "
                                        "write the lines to a file first");
        if (csv)
                return csv_refuse(command, input, id_column);
        return 0;
}

/* Set the names of the files that the shard writes. */
static int names_set(struct ed_batch_opts *opts)
{
        struct {
                const char *option;
                bool is_own;
                const char **name;
        } all[] = {
                { "-o", true, &opts->paths.output },
                { "--errors", true, &opts->paths.errors },
                { "--save", true, &opts->paths.save },
                { "--summary-file", true, &opts->summary_file },
                { "--log", true, &opts->log },
                { "--metrics", false, &opts->metrics },
        };
        int exit_code = 0;

        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && exit_code == 0; i++)
                exit_code = ed_shard_names_set(&opts->names, "batch", opts->settings.shard,
                                               all[i].option, all[i].is_own, all[i].name);
        return exit_code;
}

/* Take the part of the shard from a limit. Returns 0, or the exit code after a message. */
static int limit_divide(struct ed_shard shard, const char *option, const char *unit,
                        uint64_t *limit)
{
        uint64_t whole = *limit;

        *limit = ed_shard_part(shard, whole);
        if (whole == 0 || whole >= shard.count)
                return 0;
        return ed_console_usage(
                "batch",
                "%s: it is the limit of all %u shards together, and gives some of them "
                "less than one %s; raise it, or use fewer shards",
                option, shard.count, unit);
}

/* Report the limits of this shard. */
static void limits_say(const struct ed_batch_settings *settings)
{
        struct ed_draft text = { 0 };

        if (settings->rpm > 0) {
                ed_draft_add_str(&text, ", --rpm ");
                ed_draft_add_u64(&text, settings->rpm);
        }
        if (settings->tpm > 0) {
                ed_draft_add_str(&text, ", --tpm ");
                ed_draft_add_u64(&text, settings->tpm);
        }
        if (settings->max_cost > 0)
                ed_draft_add_printf(&text, ", --max-cost %.6g", (double) settings->max_cost / 1e6);
        ed_draft_add(&text, "", 1);
        if (text.bytes > 1 && ed_draft_is_whole(&text))
                ed_console_say("batch", "shard %u/%u has its part of the limits of all shards: %s",
                               settings->shard.index, settings->shard.count, text.data + 2);
        ed_draft_fini(&text);
}

int ed_shard_setup(struct ed_batch_opts *opts, bool csv)
{
        struct ed_batch_settings *settings = &opts->settings;
        struct ed_shard shard = settings->shard;
        int exit_code;

        if (shard.count == 0)
                return names_set(opts);
        exit_code = ed_shard_setup_input("batch", shard, opts->paths.input, csv,
                                         opts->settings.id_column);
        if (exit_code == 0 && (!opts->paths.output || strcmp(opts->paths.output, "-") == 0))
                exit_code =
                        ed_console_usage("batch", "--shard needs a file for the answers of each "
                                                  "shard: -o out.%%i.jsonl");
        if (exit_code == 0)
                exit_code = names_set(opts);
        if (exit_code == 0)
                exit_code = limit_divide(shard, "--rpm", "request a minute", &settings->rpm);
        if (exit_code == 0)
                exit_code = limit_divide(shard, "--tpm", "token a minute", &settings->tpm);
        if (exit_code == 0)
                exit_code = limit_divide(shard, "--max-cost", "millionth", &settings->max_cost);
        if (exit_code == 0)
                limits_say(settings);
        return exit_code;
}

void ed_shard_setup_refused(struct ed_batch_opts *opts)
{
        struct ed_shard shard = opts->settings.shard;
        const char *name = opts->summary_file;

        if (!name || (shard.count == 0 && !ed_shard_names_has_place(name)) ||
            ed_shard_names_has(&opts->names, name))
                return;
        if (shard.count == 0 || !ed_shard_names_has_place(name) ||
            ed_shard_names_set(&opts->names, "batch", shard, "--summary-file", true,
                               &opts->summary_file) != 0)
                opts->summary_file = NULL;
}

int64_t ed_shard_setup_pause(const struct ed_batch_settings *settings, bool begins_again)
{
        int64_t burst_ns = settings->burst_ns > 0 ? settings->burst_ns : BURST_NS;
        int64_t pause_ns;

        if (settings->shard.count == 0 || !begins_again ||
            (settings->rpm == 0 && settings->tpm == 0))
                return 0;
        /* The tokens of one request may be those of a minute. */
        if (settings->tpm > 0 || burst_ns >= EDDY_SEC(30))
                return MOST_NS;
        /*
         * Any period of a share's length has at most a share of requests: of 'burst_ns', rounded up to a
         * whole number. Two such periods of rest make up for the shares with which one run ends and the
         * next one begins.
         */
        pause_ns = 2 * (burst_ns + EDDY_MIN(1) / (int64_t) settings->rpm + EDDY_MS(1));
        return pause_ns < MOST_NS ? pause_ns : MOST_NS;
}
