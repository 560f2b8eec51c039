/*
 * batch/run/bases.c - see bases.h.
 */
#include "batch/run/bases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/run/key_use.h"
#include "batch/run/run.h"
#include "batch/run/stop.h"
#include "common/duration.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/time.h"

/* How often the file is looked at. */
#define LOOK_NS EDDY_MS(250)

/* Looks that see a changed file in the same state before it is read, and before it is believed
 * though it seems to be half written. */
enum { STEADY = 1, STEADY_ODD = 8 };

/* ---- the base URLs --------------------------------------------------------------------------- */

void ed_bases_fini(struct ed_bases *bases)
{
        ed_base_urls_fini(&bases->given);
        ed_base_urls_fini(&bases->listed);
}

size_t ed_bases_count(const struct ed_bases *bases)
{
        return bases->given.count + bases->listed.count;
}

const char *ed_bases_at(const struct ed_bases *bases, size_t number)
{
        if (number < bases->given.count)
                return bases->given.items[number]->text;
        number -= bases->given.count;
        return number < bases->listed.count ? bases->listed.items[number]->text : NULL;
}

bool ed_bases_are_too_many(size_t count, unsigned keys)
{
        return count * (keys > 1 ? keys : 1) > ED_BASE_URLS_MAX;
}

int ed_bases_read(const struct ed_bases *bases, const char *text, size_t bytes,
                  struct ed_base_urls *ret_listed, char why[ED_BASE_URLS_WHY_BYTES])
{
        struct ed_base_urls all = { 0 };
        int err = ed_base_urls_read(&all, text, bytes, why);

        *ret_listed = (struct ed_base_urls){ 0 };
        if (err == 0)
                err = ed_base_urls_take(ret_listed, &all, &bases->given);
        ed_base_urls_fini(&all);
        return err;
}

/* ---- the file -------------------------------------------------------------------------------- */

struct watch {
        struct ed_batch_run *run;
        const struct ed_bases *bases;
        struct ed_watched_file file;
        bool is_due;     /* the file has changed, or may have, since it was read */
        unsigned steady; /* looks that saw it in this state before */
        bool fault_was_said;
        int64_t empty_ns; /* no base URL is left since then; 0: one is */
};

/* Report why the file cannot be used, once. */
static void fault_say(struct watch *watch, const char *why)
{
        if (!watch->fault_was_said)
                ed_say(&watch->run->say, "--base-url @%s: %s; the previous base URLs are kept",
                       watch->bases->path, why);
        watch->fault_was_said = true;
}

/* Let the base URLs of the file come and go. Errors: -EINVAL, with a reason; -ENOMEM */
static int listed_take(struct watch *watch, const struct ed_base_urls *listed,
                       char why[ED_BASE_URLS_WHY_BYTES])
{
        struct ed_batch_run *run = watch->run;
        struct ed_endpoints_change change;
        size_t now = watch->bases->given.count + listed->count;
        int err;

        if (ed_bases_are_too_many(now, run->keys->count)) {
                snprintf(why, ED_BASE_URLS_WHY_BYTES,
                         "at most 4,096 base URLs are possible, and as many pairs of one and an "
                         "API key");
                return -EINVAL;
        }
        err = ed_endpoints_list(&run->endpoints, listed, &change);
        ed_key_use_follow(run);
        if (change.more > 0 || change.fewer > 0)
                ed_say(&run->say, "--base-url @%s: %zu added, %zu removed: %zu base URL%s now",
                       watch->bases->path, change.more, change.fewer, now, now == 1 ? "" : "s");
        if (err == ED_E_HOSTS)
                snprintf(why, ED_BASE_URLS_WHY_BYTES,
                         "requests to base URLs that are gone leave no room for others yet");
        return err == ED_E_HOSTS ? -EINVAL : err;
}

/* The text of the file is whole. */
static void text_take(struct watch *watch, const char *text, size_t bytes)
{
        char why[ED_BASE_URLS_WHY_BYTES] = "out of memory";
        struct ed_base_urls listed;
        int err = ed_bases_read(watch->bases, text, bytes, &listed, why);

        if (err == 0)
                err = listed_take(watch, &listed, why);
        if (err < 0)
                fault_say(watch, why);
        else
                watch->fault_was_said = false;
        ed_base_urls_fini(&listed);
}

/*
 * Read the file, if it has not changed meanwhile. An editor may have written a part of it, or be
 * about to put another file in its place.
 */
static void file_read(struct watch *watch)
{
        const char *path = watch->bases->path;
        char *text = NULL;
        size_t bytes = 0;
        int err = ed_watched_file_read(path, ED_BASE_URLS_BYTES_MAX, &text, &bytes);
        bool is_odd = err < 0 || bytes == 0 || text[bytes - 1] != '\n';

        if (ed_watched_file_look(path, &watch->file))
                watch->steady = 0;
        else if (!is_odd || watch->steady >= STEADY_ODD)
                watch->is_due = false;
        if (!watch->is_due && err < 0)
                fault_say(watch, err == -EFBIG    ? "larger than 4 MiB"
                                 : err == -EINVAL ? "not a regular file"
                                                  : eddy_error_text(err));
        else if (!watch->is_due)
                text_take(watch, text, bytes);
        eddy_free(text);
}

static void file_look(struct watch *watch)
{
        if (ed_watched_file_look(watch->bases->path, &watch->file)) {
                watch->is_due = true;
                watch->steady = 0;
        } else if (watch->is_due) {
                watch->steady++;
        }
        if (watch->is_due && watch->steady >= STEADY)
                file_read(watch);
}

/* ---- the watch ------------------------------------------------------------------------------- */

/* If no base URL is left, the requests wait, but not for ever. */
static void empty_check(struct watch *watch)
{
        struct ed_batch_run *run = watch->run;
        int64_t most_ns = run->settings->throttle_wait_max_ns;
        char most[ED_DURATION_TEXT_BYTES];

        if (ed_endpoints_usable(&run->endpoints) > 0) {
                watch->empty_ns = 0;
                return;
        }
        if (watch->empty_ns == 0) {
                watch->empty_ns = eddy_now();
                ed_say(&run->say,
                       "--base-url @%s names no server to which requests can be sent: "
                       "they wait for one",
                       watch->bases->path);
        }
        if (eddy_now() - watch->empty_ns < most_ns)
                return;
        ed_duration_print(most_ns, most);
        ed_batch_stop(run, ED_STOP_UNREACHED, ED_BATCH_DRAIN_NS,
                      "--base-url @%s has named no server for %s (--max-throttle-wait)",
                      watch->bases->path, most);
}

int ed_bases_watch(void *arg)
{
        struct ed_batch_run *run = arg;
        struct watch watch = { .run = run, .bases = &run->settings->bases };
        int err = 0;

        if (!watch.bases->is_watched)
                return 0;
        watch.file = watch.bases->file;
        watch.is_due = true; /* a change in the moment in which it was read cannot be seen */
        while (err == 0) {
                err = eddy_sleep(LOOK_NS);
                if (err < 0)
                        break;
                file_look(&watch);
                empty_check(&watch);
        }
        return 0;
}
