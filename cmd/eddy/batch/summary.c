/*
 * batch/summary.c - the summary of a run.
 */
#include "batch/summary.h"

#include <errno.h>
#include <string.h>

#include "batch/summary_servers.h"
#include "common/console.h"
#include "common/duration.h"
#include "common/shell_word.h"
#include "common/url_shown.h"
#include "eddy/error.h"
#include "eddy/time.h"

enum { WAIT_MS = 200, CAUSES_SHOWN = 3, CAUSES_JSON = 20, NAMES_JSON = 8 };

/* ---- the command again --------------------------------------------------------------------- */

/* Returns the URL of an option in a word of the command, or NULL. */
static const char *url_of(const struct ed_batch_opts *opts, const char *word)
{
        const char *end = word + strlen(word);
        const char *const urls[] = { opts->settings.url, opts->connect.http_proxy };
        const struct ed_base_urls *given = &opts->settings.bases.given;

        for (size_t i = 0; i < given->count; i++)
                if (given->items[i]->text >= word && given->items[i]->text <= end)
                        return given->items[i]->text;
        for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
                if (urls[i] && urls[i] >= word && urls[i] <= end)
                        return urls[i];
        return NULL;
}

/* Append --shard auto as the shard that it was: the variables may not be set then. Returns false for others. */
static bool shard_add(struct ed_draft *text, const struct ed_batch_opts *opts, const char *word)
{
        const struct ed_shard *shard = &opts->settings.shard;
        const char *value = opts->shard_text;

        if (shard->count == 0 || value < word || value > word + strlen(word))
                return false;
        ed_draft_add(text, word, (size_t) (value - word)); /* --shard= */
        ed_draft_add_printf(text, "%u/%u", shard->index, shard->count);
        return true;
}

/* Append a word of the command without the secrets of a URL. Returns true if something is left out. */
static bool argument_add(struct ed_draft *text, const struct ed_batch_opts *opts, const char *word)
{
        const char *url = url_of(opts, word);
        char room[ED_URL_SHOWN_BYTES];
        struct ed_draft shown = { 0 };
        bool hides;

        if (!url) {
                if (!shard_add(text, opts, word))
                        ed_shell_word_add(text, word);
                return false;
        }
        ed_draft_add(&shown, word, (size_t) (url - word));
        ed_draft_add_str(&shown, ed_url_shown(room, url, strlen(url)));
        ed_draft_add(&shown, "", 1);
        if (ed_draft_is_whole(&shown))
                ed_shell_word_add(text, shown.data);
        hides = strcmp(room, url) != 0;
        ed_draft_fini(&shown);
        return hides;
}

/* Returns the number of words of the command that are --limit and its value, from 'word' on. */
static int limit_words(const struct ed_batch_command *command, char *const *word)
{
        const char *value = command->opts.limit_text;

        if (!value)
                return 0;
        if (word[1] == value)
                return 2;
        return value > *word && value <= *word + strlen(*word); /* --limit=N */
}

/*
 * Append the command of this run, whose repetition retries what failed, or sends the requests that
 * --limit left. Returns true if it needs values that are not shown.
 */
static bool command_add(struct ed_draft *text, const struct ed_batch_command *command)
{
        bool hides = command->opts.settings.headers.count > 0;
        bool keeps_limit = command->run.stats.stop != ED_STOP_LIMIT;

        ed_draft_add_str(text, "eddy");
        for (char *const *word = command->argv; *word; word++) {
                int skipped = keeps_limit ? 0 : limit_words(command, word);

                if (skipped > 0) {
                        word += skipped - 1;
                        continue;
                }
                ed_draft_add_str(text, " ");
                hides |= argument_add(text, &command->opts, *word);
        }
        return hides;
}

/* Returns the failures of this run, and those of earlier ones that were not tried again. */
static uint64_t failures_of(const struct ed_batch_unit *unit)
{
        return unit->sink.failed + unit->sink.failed_left;
}

/* ---- counts of the input ------------------------------------------------------------------- */

/* Returns true if it is known which answers belong to the input. */
static bool knows_input(const struct ed_batch_unit *unit)
{
        return unit->checked.total_is_known || (unit->input.whole && !unit->input.limited);
}

/* Returns the requests of the input that had an answer when the run began, to the same request. */
static uint64_t answered_before(const struct ed_batch_unit *unit)
{
        return (knows_input(unit) ? unit->checked.known : unit->sink.held.answered) -
               unit->checked.changed;
}

/* Returns the requests of the input that have an answer now, also in the errors file. */
static uint64_t answered_of(const struct ed_batch_unit *unit)
{
        return answered_before(unit) + unit->sink.ok;
}

/* Returns the answers to former requests that stay, because the changed requests have no answer. */
static uint64_t old_of(const struct ed_batch_unit *unit)
{
        uint64_t changed = unit->checked.changed;

        /* Lines that were appended after the check are not among those that have changed. */
        return changed > unit->sink.renewed ? changed - unit->sink.renewed : 0;
}

/* Returns the requests of the input, as far as they are known. Lines may be appended during a run. */
static uint64_t requests_of(const struct ed_batch_unit *unit)
{
        uint64_t met = answered_before(unit) + unit->checked.accepted + unit->input.read;

        return unit->checked.total_is_known && unit->checked.requests > met ? unit->checked.requests
                                                                            : met;
}

bool ed_summary_is_empty(const struct ed_batch_unit *unit)
{
        return unit->input.whole && requests_of(unit) == 0 && unit->checked.empty == 0;
}

uint64_t ed_summary_accepted(const struct ed_batch_unit *unit)
{
        return unit->sink.accepted + (answered_of(unit) > 0 ? unit->sink.accepted_final : 0);
}

/* Returns true if a repetition of the command would send something. */
static bool has_rest(const struct ed_batch_unit *unit)
{
        const struct ed_batch_run *run = unit->run;
        const struct ed_stats *stats = &run->stats;
        /* Lines that are not requests have to be corrected first. */
        uint64_t bad = stats->codes[ed_outcome_number(EDDY_E_URL_INVALID)];

        uint64_t accepted = ed_summary_accepted(unit);

        /* Accepted failures may be among the bad lines too. */
        return (stats->failed > bad && stats->failed > accepted) || stats->stop != ED_STOP_NONE ||
               !unit->input.whole;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void tokens_add(struct ed_draft *text, const struct ed_batch_run *run)
{
        if (run->spent.usage.input == 0 && run->spent.usage.output == 0)
                return;
        ed_draft_add_str(text, "tokens ");
        ed_draft_add_grouped(text, run->spent.usage.input);
        ed_draft_add_str(text, " in, ");
        ed_draft_add_grouped(text, run->spent.usage.output);
        ed_draft_add_str(text, " out");
        if (run->spent.usage.cached > 0) {
                ed_draft_add_str(text, ", ");
                ed_draft_add_grouped(text, run->spent.usage.cached);
                ed_draft_add_str(text, " cached");
        }
        if (run->settings->price.input > 0 || run->settings->price.output > 0)
                ed_draft_add_printf(text, "; cost %.6g", (double) run->spent.cost / 1e6);
        ed_draft_add_str(text, "\n");
}

/* Append the largest causes of failures, each with its first message. */
static void causes_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        const struct ed_reasons *reasons = &unit->run->reasons;
        unsigned places[ED_GROUPS_MAX], count = reasons->groups.count;
        uint64_t rest = reasons->groups.members;

        ed_groups_order(&reasons->groups, places);
        for (unsigned i = 0; i < count && i < CAUSES_SHOWN; i++) {
                const struct ed_reason *reason = &reasons->items[places[i]];
                uint64_t members = reasons->groups.items[places[i]].members;

                ed_draft_add_grouped(text, members);
                ed_draft_add_printf(text, " failed: %s%s%s\n", reason->name,
                                    *reason->text ? ", such as: " : "", reason->text);
                rest -= members;
        }
        if (rest == 0)
                return;
        ed_draft_add_grouped(text, rest);
        ed_draft_add_printf(text, " failed: %s%u other cause%s",
                            reasons->groups.beyond ? "more than " : "", count - CAUSES_SHOWN,
                            count - CAUSES_SHOWN == 1 ? "" : "s");
        if (unit->paths->output) {
                ed_draft_add_str(text, ", see eddy report ");
                ed_shell_word_add(text, unit->paths->output);
        }
        ed_draft_add_str(text, "\n");
}

/* Append how many of the failures are accepted. */
static void accepted_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        uint64_t accepted = unit->checked.accepted + ed_summary_accepted(unit);

        if (!ed_accept_is_on(unit->run->accept))
                return;
        if (accepted >= failures_of(unit)) {
                ed_draft_add_str(text, ", accepted");
        } else if (accepted > 0) {
                ed_draft_add_str(text, ", ");
                ed_draft_add_grouped(text, accepted);
                ed_draft_add_str(text, " of them accepted");
        } else {
                ed_draft_add_str(text,
                                 answered_of(unit) > 0 || !unit->run->accept->finals
                                         ? ", none of them accepted"
                                         : ", not accepted, because no request has an answer");
        }
}

/* Returns what comes before the command again. */
static const char *again_text(enum ed_stop stop)
{
        switch (stop) {
        case ED_STOP_NONE:
                return "to retry: ";
        case ED_STOP_KEY:
        case ED_STOP_KEY_SOURCE:
        case ED_STOP_ALIKE:
                return "after correcting it: "; /* the command, or its input, has a mistake */
        default:
                return "to resume: ";
        }
}

/* Append how many answers to former requests the output keeps. */
static void old_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        uint64_t old = old_of(unit);

        if (old == 0)
                return;
        ed_draft_add_printf(text, "old answers kept in %s: ", unit->paths->output);
        ed_draft_add_grouped(text, old);
        ed_draft_add_str(text, old == 1 ? ": its request has changed, and has no new answer yet; "
                                          "--on-changed send sends it again\n"
                                        : ": their requests have changed, and have no new answers "
                                          "yet; --on-changed send sends them again\n");
}

static void files_add(struct ed_draft *text, const struct ed_batch_command *command)
{
        const struct ed_batch_unit *unit = &command->unit;
        const struct ed_batch_run *run = &command->run;
        uint64_t answered = answered_of(unit), all = requests_of(unit), rest;

        if (!unit->paths->output)
                return;
        if (unit->sink.output.cut || unit->sink.output.removed || unit->sink.moved) {
                ed_draft_add_printf(text, "%s was %s: see above\n", unit->paths->output,
                                    unit->sink.output.cut       ? "cut"
                                    : unit->sink.output.removed ? "removed or replaced"
                                                                : "moved");
                return;
        }
        rest = all > answered + failures_of(unit) ? all - answered - failures_of(unit) : 0;
        answered -= unit->sink.held.errors_answered < answered ? unit->sink.held.errors_answered
                                                               : answered;
        ed_draft_add_printf(text, "answers in %s: ", unit->paths->output);
        ed_draft_add_grouped(text, answered);
        if (unit->checked.total_is_known && answered < all) {
                ed_draft_add_str(text, " of ");
                ed_draft_add_grouped(text, all);
        }
        if (failures_of(unit) > 0) {
                ed_draft_add_printf(text, "; failures in %s: ", unit->paths->errors);
                ed_draft_add_grouped(text, failures_of(unit));
                accepted_add(text, unit);
        }
        ed_draft_add_str(text, "\n");
        old_add(text, unit);
        if (unit->sink.held.not_ok > 0) {
                ed_draft_add_str(text, "answers of earlier runs that were no success: ");
                ed_draft_add_grouped(text, unit->sink.held.not_ok);
                ed_draft_add_str(text, "\n");
        }
        if (unit->sink.only && unit->checked.total_is_known && rest > 0) {
                ed_draft_add_str(text, "neither an answer nor an error: ");
                ed_draft_add_grouped(text, rest);
                ed_draft_add_str(text, rest == 1 ? " request, which eddy batch sends\n"
                                                 : " requests, which eddy batch sends\n");
        }
        if (!has_rest(unit))
                return;
        ed_draft_add_str(text, again_text(run->stats.stop));
        if (strcmp(unit->paths->input, "-") == 0)
                ed_draft_add_str(text, "the same command, with the same input: ");
        if (command_add(text, command))
                ed_draft_add_str(text, "  (with the values in place of ***, which are not shown)");
        ed_draft_add_str(text, "\n");
}

static void lines_advice_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        const struct ed_batch_run *run = unit->run;
        const struct ed_batch_paths *paths = unit->paths;

        if (run->lacks_base)
                ed_draft_add_str(text, "a \"url\" that begins with / needs --base-url\n");
        ed_draft_add_str(text, "invalid_request_line: correct the lines");
        if (paths->errors) {
                ed_draft_add_str(text, ", see ");
                ed_shell_word_add(text, paths->errors);
        }
        if (strcmp(paths->input, "-") == 0) {
                ed_draft_add_str(text, "\n");
                return;
        }
        ed_draft_add_str(text, ", or run: eddy check ");
        ed_shell_word_add(text, paths->input);
        if (run->settings->url)
                ed_draft_add_str(text, "  (with the same options as eddy batch)");
        ed_draft_add_str(text, "\n");
}

/* Append a next step for answers 404, whose first message may be about a model. */
static void missing_advice_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        const struct ed_batch_run *run = unit->run;
        const struct ed_reasons *reasons = &run->reasons;

        if (strcasestr(ed_reasons_text(reasons, 404), "model")) {
                ed_draft_add_str(text, "404: check the \"model\" of the requests\n");
                return;
        }
        ed_draft_add_printf(text, "404: check the URLs; the first path with this answer is %s%s\n",
                            unit->input.missing,
                            ed_bases_count(&run->settings->bases) > 0 ? ", after --base-url" : "");
}

/* Returns the place of the hosts of the requests. */
static const char *hosts_place(const struct ed_batch_settings *settings)
{
        if (settings->url && *settings->url != '/')
                return "--url";
        return ed_bases_count(&settings->bases) > 0 ? "--base-url" : "the URLs of the input";
}

/* Append a next step for redirects. */
static void redirect_advice_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        const struct ed_redirect *redirect = &unit->input.redirect;

        if (redirect->status == 0)
                return;
        if (redirect->moves_host)
                ed_draft_add_printf(text, "%d: the server redirects to %s: write this in %s\n",
                                    redirect->status, redirect->to,
                                    hosts_place(unit->run->settings));
        else if (unit->run->settings->redirects_max)
                ed_draft_add_printf(text,
                                    "%d: -L does not follow redirects that change the method: send "
                                    "the requests to the URLs to which they lead, such as %s\n",
                                    redirect->status, redirect->to);
        else
                ed_draft_add_printf(text,
                                    "%d: redirects are not followed: %ssend the requests to the "
                                    "URLs to which they lead, such as %s\n",
                                    redirect->status,
                                    redirect->is_followed_with_l ? "give -L, or " : "",
                                    redirect->to);
}

/* Append a next step for each kind of failure that is often a mistake in the command or the input. */
static void advice_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        const struct ed_batch_run *run = unit->run;
        const struct ed_stats *stats = &run->stats;
        const struct ed_batch_settings *settings = run->settings;

        if (stats->codes[ed_outcome_number(EDDY_E_URL_INVALID)] > 0)
                lines_advice_add(text, unit);
        if (stats->codes[ed_outcome_number(ED_E_FILE)] > 0)
                ed_draft_add_str(text,
                                 "file_error: relative paths in \"files\" begin at the folder in "
                                 "which the command runs: correct the files or the paths, and run "
                                 "the same command again\n");
        if (stats->statuses[401] > 0 && stats->stop != ED_STOP_KEY)
                ed_draft_add_printf(text, "401: %s --api-key-env or --api-key-file\n",
                                    run->keys->kind != ED_API_KEY_NONE
                                            ? "the server refuses the key: check"
                                            : "the server wants an API key: give");
        redirect_advice_add(text, unit);
        if (stats->ok > 0)
                return;
        if (stats->statuses[404] > 0)
                missing_advice_add(text, unit);
        if (stats->codes[ed_outcome_number(-ECONNREFUSED)] > 0)
                ed_draft_add_printf(text,
                                    "connect_error: check that the server runs, and the host and "
                                    "port of %s\n",
                                    hosts_place(settings));
        if (stats->codes[ed_outcome_number(EDDY_E_DNS_NOT_FOUND)] > 0)
                ed_draft_add_printf(text, "dns_error: check the host of %s\n",
                                    hosts_place(settings));
}

/* Append which part of the input this run was about. */
static void shard_text(const struct ed_batch_unit *unit, struct ed_draft *text)
{
        const struct ed_shard *shard = &unit->run->settings->shard;
        const struct ed_batch_input *input = &unit->input;

        if (shard->count == 0)
                return;
        ed_draft_add_printf(text, "shard %u/%u of %s: ", shard->index, shard->count,
                            unit->paths->input);
        ed_draft_add_grouped(text, input->range.bytes);
        ed_draft_add_str(text, " of ");
        ed_draft_add_grouped(text, input->size);
        ed_draft_add_str(text, " bytes");
        if (unit->checked.total_is_known) {
                ed_draft_add_str(text, ", ");
                ed_draft_add_grouped(text, unit->checked.requests);
                ed_draft_add_str(text, unit->checked.requests == 1 ? " request" : " requests");
        }
        ed_draft_add_str(text, "\n");
}

/* Returns true if the whole input was read, and nothing of it was left to send. */
static bool is_idle(const struct ed_batch_unit *unit)
{
        return unit->input.whole && unit->input.read == 0 && unit->run->stats.stop == ED_STOP_NONE;
}

/* Append why nothing was sent. Other messages do so for `eddy retry` and for an input without requests. */
static void idle_add(struct ed_draft *text, const struct ed_batch_unit *unit)
{
        uint64_t answered = answered_of(unit), accepted = unit->checked.accepted;

        if (unit->sink.only || ed_summary_is_empty(unit))
                return;
        ed_draft_add_str(text, "nothing to send");
        if (answered > 0 || accepted > 0) {
                ed_draft_add_str(text, accepted == 0 && answered > 1 ? ": all " : ": ");
                ed_draft_add_grouped(text, answered);
                ed_draft_add_str(text, answered == 1 ? " request has an answer"
                                                     : " requests have an answer");
        }
        if (accepted > 0) {
                ed_draft_add_str(text, ", and ");
                ed_draft_add_grouped(text, accepted);
                ed_draft_add_str(text,
                                 accepted == 1 ? " failure is accepted" : " failures are accepted");
        }
        ed_draft_add_str(text, "\n");
}

static void text_print(const struct ed_batch_command *command, struct ed_draft *text)
{
        const struct ed_batch_unit *unit = &command->unit;
        const struct ed_batch_run *run = &command->run;

        if (is_idle(unit))
                idle_add(text, unit);
        else
                ed_stats_print(&run->stats, eddy_now(), text);
        shard_text(unit, text);
        tokens_add(text, run);
        ed_servers_add(&run->endpoints, text);
        if (run->keys->refreshes > 0)
                ed_draft_add_printf(text, "API key: refreshed %llu time%s\n",
                                    (unsigned long long) run->keys->refreshes,
                                    run->keys->refreshes == 1 ? "" : "s");
        if (unit->checked.empty > 0) {
                ed_draft_add_grouped(text, unit->checked.empty);
                ed_draft_add_str(text,
                                 " skipped: empty; give --skip-empty, with the same templates, "
                                 "also to eddy report, select and collect\n");
        }
        ed_saved_print(&unit->sink.saved, unit->paths->save, text);
        causes_add(text, unit);
        advice_add(text, unit);
        files_add(text, command);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void member_add(struct ed_draft *text, const char *name, uint64_t value)
{
        ed_draft_add_str(text, name);
        ed_draft_add_u64(text, value);
}

/* Append a file's name, or null. */
static void name_add(struct ed_draft *text, const char *member, const char *name)
{
        ed_draft_add_str(text, member);
        if (name)
                ed_draft_add_json_str(text, name);
        else
                ed_draft_add_str(text, "null");
}

static const char *status_of(const struct ed_batch_command *command)
{
        int code = command->exit_code;

        if (code < 0)
                return "in_progress";
        switch (command->run.stats.stop) {
        case ED_STOP_NONE:
                return command->has_begun && code <= ED_EXIT_FAILED ? "completed" : "failed";
        case ED_STOP_SIGNAL:
        case ED_STOP_CLOSED:
        case ED_STOP_LIMIT:
                return "cancelled";
        case ED_STOP_DEADLINE:
        case ED_STOP_THROTTLED:
        case ED_STOP_UNREACHED:
                return "expired";
        default:
                return "failed";
        }
}

/* Returns true if an earlier cause has the same code or status. */
static bool name_is_known(const struct ed_reasons *reasons, unsigned place)
{
        for (unsigned i = 0; i < place; i++)
                if (strcmp(reasons->items[i].name, reasons->items[place].name) == 0)
                        return true;
        return false;
}

/* Append the first message of each code and status. */
static void reasons_json(const struct ed_reasons *reasons, struct ed_draft *text)
{
        unsigned names = 0;

        ed_draft_add_str(text, ",\"reasons\":{");
        for (unsigned i = 0; i < reasons->groups.count && names < NAMES_JSON; i++) {
                if (name_is_known(reasons, i))
                        continue;
                ed_draft_add_str(text, names++ == 0 ? "" : ",");
                ed_draft_add_json_str(text, reasons->items[i].name);
                ed_draft_add_str(text, ":");
                ed_draft_add_json_str(text, reasons->items[i].text);
        }
        ed_draft_add_str(text, "}");
}

/* Append the largest causes of failures, and the number of the failures of others. */
static void causes_json(const struct ed_reasons *reasons, struct ed_draft *text)
{
        unsigned places[ED_GROUPS_MAX];
        uint64_t rest = reasons->groups.members;

        ed_groups_order(&reasons->groups, places);
        ed_draft_add_str(text, ",\"causes\":[");
        for (unsigned i = 0; i < reasons->groups.count && i < CAUSES_JSON; i++) {
                const struct ed_reason *reason = &reasons->items[places[i]];
                uint64_t members = reasons->groups.items[places[i]].members;

                name_add(text, i == 0 ? "{\"cause\":" : ",{\"cause\":", reason->name);
                member_add(text, ",\"failed\":", members);
                name_add(text, ",\"message\":", reason->text);
                ed_draft_add_str(text, "}");
                rest -= members;
        }
        member_add(text, "],\"failed_otherwise\":", rest);
}

/* Append which bytes of the input this run was about. */
static void shard_json(const struct ed_batch_unit *unit, struct ed_draft *text)
{
        const struct ed_shard *shard = &unit->run->settings->shard;

        if (shard->count == 0) {
                ed_draft_add_str(text, ",\"shard\":null");
                return;
        }
        member_add(text, ",\"shard\":{\"index\":", shard->index);
        member_add(text, ",\"count\":", shard->count);
        member_add(text, ",\"first_byte\":", unit->input.range.at);
        member_add(text, ",\"bytes\":", unit->input.range.bytes);
        member_add(text, ",\"input_bytes\":", unit->input.size);
        ed_draft_add_str(text, "}");
}

/* Append what the object has no member for. */
static void own_json(const struct ed_batch_command *command, struct ed_draft *text)
{
        const struct ed_batch_unit *unit = &command->unit;
        const struct ed_batch_run *run = &command->run;

        ed_draft_add_str(text, ",\"x_eddy\":");
        ed_stats_print_json(&run->stats, eddy_now(), text);
        if (!ed_draft_is_whole(text))
                return;
        text->bytes -= 2; /* "}\n": the object goes on */
        member_add(text, ",\"refused\":", run->stats.refused);
        member_add(text, ",\"beyond_limit\":", run->stats.beyond);
        member_add(text, ",\"answered_before\":", unit->sink.held.answered);
        member_add(text, ",\"not_ok_before\":", unit->sink.held.not_ok);
        member_add(text, ",\"old_answers_kept\":", old_of(unit));
        member_add(text, ",\"skipped_empty\":", unit->checked.empty);
        member_add(text, ",\"accepted\":", unit->checked.accepted + ed_summary_accepted(unit));
        ed_draft_add_str(text, ",\"saved\":");
        if (unit->paths->save)
                ed_saved_print_json(&unit->sink.saved, text);
        else
                ed_draft_add_str(text, "null");
        member_add(text, ",\"key_refreshes\":", run->keys->refreshes);
        if (command->exit_code >= 0)
                member_add(text, ",\"exit_code\":", (uint64_t) command->exit_code);
        else
                ed_draft_add_str(text, ",\"exit_code\":null");
        ed_draft_add_printf(text, ",\"cost\":%.6f", (double) run->spent.cost / 1e6);
        shard_json(unit, text);
        ed_servers_add_json(&run->endpoints, text);
        reasons_json(&run->reasons, text);
        causes_json(&run->reasons, text);
        ed_draft_add_str(text, ",\"retry_command\":");
        /* Without the input, some options are not read, and may have secrets. */
        if (unit->paths->output && unit->paths->input && has_rest(unit)) {
                struct ed_draft words = { 0 };

                command_add(&words, command);
                ed_draft_add_json(text, words.data, words.bytes);
                ed_draft_fini(&words);
        } else {
                ed_draft_add_str(text, "null");
        }
        ed_draft_add_str(text, "}}\n");
}

void ed_summary_add_json(const struct ed_batch_command *command, struct ed_draft *text)
{
        const struct ed_batch_unit *unit = &command->unit;
        const struct ed_batch_run *run = &command->run;
        uint64_t start_s = (uint64_t) run->start_wall_ns / 1000000000;
        uint64_t end_s = (uint64_t) eddy_time_of_day() / 1000000000;
        const char *status = status_of(command);

        ed_draft_add_printf(text, "{\"id\":\"batch_%llx\",\"object\":\"batch\",\"endpoint\":",
                            (unsigned long long) run->start_wall_ns);
        ed_draft_add_json_str(text, unit->input.path);
        name_add(text, ",\"errors\":null,\"input_file_id\":", unit->paths->input);
        ed_draft_add_printf(text, ",\"completion_window\":\"24h\",\"status\":\"%s\"", status);
        name_add(text, ",\"output_file_id\":", unit->paths->output);
        name_add(text, ",\"error_file_id\":", failures_of(unit) > 0 ? unit->paths->errors : NULL);
        member_add(text, ",\"created_at\":", start_s);
        member_add(text, ",\"in_progress_at\":", start_s);
        if (command->exit_code >= 0)
                ed_draft_add_printf(text, ",\"%s_at\":%llu", status, (unsigned long long) end_s);
        member_add(text, ",\"request_counts\":{\"total\":", requests_of(unit));
        member_add(text, ",\"completed\":", answered_of(unit));
        member_add(text, ",\"failed\":", failures_of(unit));
        member_add(text, "},\"usage\":{\"input_tokens\":", run->spent.usage.input);
        member_add(text, ",\"input_tokens_details\":{\"cached_tokens\":", run->spent.usage.cached);
        member_add(text, "},\"output_tokens\":", run->spent.usage.output);
        member_add(text,
                   ",\"output_tokens_details\":{\"reasoning_tokens\":", run->spent.usage.reasoning);
        member_add(text, "},\"total_tokens\":", run->spent.usage.input + run->spent.usage.output);
        ed_draft_add_str(text, "},\"metadata\":null");
        own_json(command, text);
}

void ed_summary_print(const struct ed_batch_command *command)
{
        struct ed_draft text = { 0 };

        if (command->opts.summary_json)
                ed_summary_add_json(command, &text);
        else
                text_print(command, &text);
        if (ed_draft_is_whole(&text)) {
                ed_console_mask(text.data, text.bytes, "\n"); /* in names of files */
                ed_console_write(text.data, text.bytes, WAIT_MS);
        }
        ed_draft_fini(&text);
}
