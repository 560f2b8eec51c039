/*
 * batch/run/api_key.c - see api_key.h.
 */
#include "batch/run/api_key.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/run/key_text.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"

/* How often the file is checked. */
#define LOOK_NS EDDY_SEC(1)

/* The longest time before the end of a key's life at which it is refreshed. */
#define MARGIN_MAX_NS EDDY_SEC(30)

enum {
        SECRET_BYTES = 12,     /* of a key, by which it is recognised in a message */
        REFRESHES_MAX = 3,     /* in a row that do not help */
        REFUSALS_MAX = 3,      /* of a request, by keys with which others are accepted */
        STUBBORN_MAX = 3,      /* such requests in a row; then a refusal is the answer */
        REFUSED_FOR_DEATH = 5, /* refusals in a row that are due to the key, not the requests */
};

/* ---- values -------------------------------------------------------------------------------- */

static void value_free(char *value)
{
        if (value)
                explicit_bzero(value, strlen(value));
        eddy_free(value);
}

static char *value_copy(const char *at, size_t bytes)
{
        char *value = eddy_malloc(bytes + 1);

        if (!value)
                return NULL;
        memcpy(value, at, bytes);
        value[bytes] = '\0';
        return value;
}

/* A new value (owned) begins its life. */
static void value_replace(struct ed_api_key *key, char *value)
{
        if (value) {
                value_free(key->old[ED_API_KEY_OLD - 1]);
                memmove(key->old + 1, key->old, sizeof(key->old) - sizeof(key->old[0]));
                key->old[0] = key->value;
                key->value = value;
        }
        key->generation++;
        key->refresh_wall_ns = key->end_wall_ns = INT64_MAX;
        key->was_refused = key->has_helped = key->is_due = false;
        key->failures = 0;
}

void ed_api_keys_fini(struct ed_api_keys *keys)
{
        for (unsigned i = 0; i < keys->count; i++) {
                value_free(keys->items[i].value);
                for (int k = 0; k < ED_API_KEY_OLD; k++)
                        value_free(keys->items[i].old[k]);
        }
        *keys = (struct ed_api_keys){ 0 };
}

/* The beginning is enough: a message may end within the key. */
static bool is_in(const char *value, const char *text, size_t bytes)
{
        return value && memmem(text, bytes, value, strnlen(value, SECRET_BYTES));
}

bool ed_api_keys_are_in(const struct ed_api_keys *keys, const char *text, size_t bytes)
{
        for (unsigned i = 0; i < keys->count; i++) {
                const struct ed_api_key *key = &keys->items[i];

                if (is_in(key->value, text, bytes))
                        return true;
                for (int k = 0; k < ED_API_KEY_OLD; k++)
                        if (is_in(key->old[k], text, bytes))
                                return true;
        }
        return false;
}

/* ---- lists of keys --------------------------------------------------------------------------- */

/* The keys of a text, which is borrowed. */
struct key_list {
        struct ed_key_text items[ED_API_KEYS_MAX];
        unsigned count;
};

static bool is_value(const char *value, const struct ed_key_text *text)
{
        return value && strlen(value) == text->bytes && memcmp(value, text->at, text->bytes) == 0;
}

static bool list_has(const struct key_list *list, const char *at, size_t bytes)
{
        for (unsigned i = 0; i < list->count; i++)
                if (list->items[i].bytes == bytes && memcmp(list->items[i].at, at, bytes) == 0)
                        return true;
        return false;
}

/* Read a text with one key per line, or with a single key. */
static int list_read(struct key_list *list, const char *text, size_t bytes, bool by_line,
                     char why[ED_API_KEY_WHY_BYTES])
{
        const char *at = text, *end = text + bytes, *fault = NULL;
        struct ed_key_text item = { .at = text };

        list->count = 0;
        if (!by_line) {
                for (item.bytes = bytes; item.bytes > 0; item.bytes--)
                        if (!strchr(" \t\r\n", text[item.bytes - 1]))
                                break;
                fault = ed_key_text_fault(item.at, item.bytes);
                list->items[list->count++] = item;
        }
        while (by_line && !fault && ed_key_text_next(&at, end, &item)) {
                fault = ed_key_text_fault(item.at, item.bytes);
                if (fault || list_has(list, item.at, item.bytes))
                        continue;
                if (list->count == ED_API_KEYS_MAX) {
                        snprintf(why, ED_API_KEY_WHY_BYTES, "it has more than %d keys",
                                 (int) ED_API_KEYS_MAX);
                        return -EINVAL;
                }
                list->items[list->count++] = item;
        }
        if (!fault && list->count > 0)
                return 0;
        if (fault && item.line > 1)
                snprintf(why, ED_API_KEY_WHY_BYTES, "line %llu: %s", (unsigned long long) item.line,
                         fault);
        else
                snprintf(why, ED_API_KEY_WHY_BYTES, "%s", fault ? fault : "it is empty");
        return -EINVAL;
}

int ed_api_keys_set(struct ed_api_keys *keys, const char *text, size_t bytes,
                    char why[ED_API_KEY_WHY_BYTES])
{
        struct key_list *list = eddy_malloc(sizeof(*list));
        int err = list ? list_read(list, text, bytes, keys->kind == ED_API_KEY_FILE, why) : -ENOMEM;

        for (unsigned i = 0; err == 0 && i < list->count; i++) {
                char *value = value_copy(list->items[i].at, list->items[i].bytes);

                if (value)
                        value_replace(&keys->items[keys->count++], value);
                else
                        err = -ENOMEM;
        }
        eddy_free(list);
        return err;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Returns the place of a key whose line has gone, or NULL. */
static struct ed_api_key *gone_find(struct ed_api_keys *keys, const struct key_list *list)
{
        for (unsigned i = 0; i < keys->count; i++) {
                const char *value = keys->items[i].value;

                if (!list_has(list, value, strlen(value)))
                        return &keys->items[i];
        }
        return NULL;
}

static bool keys_have(const struct ed_api_keys *keys, const struct ed_key_text *text)
{
        for (unsigned i = 0; i < keys->count; i++)
                if (is_value(keys->items[i].value, text))
                        return true;
        return false;
}

/* Take the keys of a list: known keys keep their limits, new keys replace those that are gone. */
static int list_take(struct ed_api_keys *keys, const struct key_list *list)
{
        unsigned extra = 0;

        for (unsigned i = 0; i < list->count; i++) {
                const struct ed_key_text *text = &list->items[i];
                struct ed_api_key *key;
                char *value;

                if (keys_have(keys, text))
                        continue;
                key = gone_find(keys, list);
                value = key ? value_copy(text->at, text->bytes) : NULL;
                if (key && !value)
                        return -ENOMEM;
                if (key) {
                        value_replace(key, value);
                        keys->changes++;
                } else {
                        extra++;
                }
        }
        for (unsigned i = 0; i < keys->count; i++) {
                struct ed_api_key *key = &keys->items[i];
                bool is_gone = !list_has(list, key->value, strlen(key->value));

                keys->changes += is_gone != key->is_gone;
                key->is_gone = is_gone;
        }
        if (extra > 0 && !keys->extra_was_said)
                ed_say(&keys->say,
                       "--api-key-file %s has more keys than at the start: a new run uses them",
                       keys->from);
        keys->extra_was_said = extra > 0;
        return 0;
}

/* Read the file again. If it cannot be used, the keys stay as they are. */
static void file_read(struct ed_api_keys *keys)
{
        struct key_list *list = eddy_malloc(sizeof(*list));
        char why[ED_API_KEY_WHY_BYTES] = "out of memory";
        char *data = NULL;
        size_t bytes = 0;
        int err = list ? ed_watched_file_read(keys->from, ED_API_KEY_FILE_BYTES_MAX, &data, &bytes)
                       : -ENOMEM;

        if (err < 0)
                snprintf(why, sizeof(why), "%s",
                         err == -EFBIG ? "larger than 512 KiB" : eddy_error_text(err));
        else
                err = list_read(list, data, bytes, true, why);
        if (err == 0)
                err = list_take(keys, list);
        if (err < 0 && !keys->fault_was_said)
                ed_say(&keys->say, "--api-key-file %s: %s; the previous key is kept", keys->from,
                       why);
        keys->fault_was_said = err < 0;
        if (data)
                explicit_bzero(data, bytes);
        eddy_free(data);
        eddy_free(list);
}

void ed_api_keys_look(struct ed_api_keys *keys)
{
        if (keys->kind != ED_API_KEY_FILE)
                return;
        keys->looked_ns = eddy_now();
        (void) ed_watched_file_look(keys->from, &keys->file);
        file_read(keys);
}

/* Check the file, unless it was checked within the last second. */
static void file_look(struct ed_api_keys *keys)
{
        int64_t now_ns = eddy_now();

        if (keys->kind != ED_API_KEY_FILE || now_ns - keys->looked_ns < LOOK_NS)
                return;
        keys->looked_ns = now_ns;
        if (ed_watched_file_look(keys->from, &keys->file) && keys->file.is_regular)
                file_read(keys);
}

/* ---- refreshing ------------------------------------------------------------------------------ */

/*
 * Note how long a key lives. If it was due again when the command ended, for example because the
 * command takes longer than its key lives, only a 401 shows its end.
 */
static void life_note(struct ed_api_key *key, int64_t start_wall_ns, int64_t life_ns)
{
        int64_t margin_ns = life_ns / 10;
        int64_t refresh_wall_ns;

        if (margin_ns > MARGIN_MAX_NS)
                margin_ns = MARGIN_MAX_NS;
        refresh_wall_ns = start_wall_ns + life_ns - margin_ns;
        if (refresh_wall_ns <= eddy_time_of_day())
                return;
        key->refresh_wall_ns = refresh_wall_ns;
        key->end_wall_ns = start_wall_ns + life_ns;
}

/* Take the key from the output of the command. */
static int output_take(struct ed_api_key *key, const struct ed_key_output *output,
                       int64_t start_wall_ns, char why[ED_API_KEY_WHY_BYTES])
{
        struct ed_key_text text;
        const char *fault;
        char *value;

        if (ed_key_text_output(output->data, output->bytes, start_wall_ns, &text, &fault) < 0) {
                snprintf(why, ED_API_KEY_WHY_BYTES, "--api-key-command: %s", fault);
                return -EINVAL;
        }
        value = value_copy(text.at, text.bytes);
        if (!value)
                return -ENOMEM;
        value_replace(key, value);
        if (text.life_ns >= 0)
                life_note(key, start_wall_ns, text.life_ns);
        return 0;
}

static int command_refresh(struct ed_api_keys *keys, struct ed_api_key *key,
                           char why[ED_API_KEY_WHY_BYTES])
{
        /* A token may be as old as the start of its command. */
        int64_t start_wall_ns = eddy_time_of_day();
        char fault[ED_KEY_COMMAND_WHY_BYTES];
        struct ed_key_output output;
        int err = ed_key_command_run(keys->from, &output, fault);

        if (err == -EINVAL)
                snprintf(why, ED_API_KEY_WHY_BYTES, "--api-key-command: %s", fault);
        if (err < 0)
                return err;
        err = output_take(key, &output, start_wall_ns, why);
        ed_key_output_free(&output);
        return err;
}

/*
 * The command has failed. Returns true if the present value is still good: then the command is tried
 * again later, at the end of its life at the latest.
 */
static bool command_wait(struct ed_api_keys *keys, struct ed_api_key *key, const char *why)
{
        int64_t now_ns = eddy_time_of_day(), wait_ns;

        if (!key->value || key->was_refused || now_ns >= key->end_wall_ns)
                return false;
        if (key->failures++ == 0)
                ed_say(&keys->say, "%s; the previous key is used until it expires", why);
        wait_ns = EDDY_SEC(1) << (key->failures < 6 ? key->failures - 1 : 5);
        key->is_due = false;
        key->refresh_wall_ns =
                wait_ns < key->end_wall_ns - now_ns ? now_ns + wait_ns : key->end_wall_ns;
        return true;
}

/* Refresh a key that is due. The caller has the lock. */
static int key_refresh(struct ed_api_keys *keys, struct ed_api_key *key,
                       char why[ED_API_KEY_WHY_BYTES])
{
        uint32_t generation = key->generation;
        int64_t wait_ns = key->is_due ? key->due_ns - eddy_now() : 0;
        int err = wait_ns > 0 ? eddy_sleep(wait_ns) : 0;

        if (err < 0)
                return err;
        if (keys->kind == ED_API_KEY_COMMAND) {
                err = command_refresh(keys, key, why);
                if (err == -EINVAL && command_wait(keys, key, why))
                        return 0;
                keys->refreshes += err == 0 && generation > 0;
                return err;
        }
        keys->refreshes += generation > 0;
        ed_api_keys_look(keys);
        if (key->generation == generation)
                value_replace(key, NULL); /* the same value has another chance */
        return 0;
}

/* Returns true if the key has to be replaced before it is sent again. */
static bool is_over(const struct ed_api_key *key)
{
        return key->generation == 0 || key->is_due || eddy_time_of_day() >= key->refresh_wall_ns;
}

int ed_api_key_wait(struct ed_api_keys *keys, unsigned number, char why[ED_API_KEY_WHY_BYTES])
{
        struct ed_api_key *key = &keys->items[number - 1];
        int err;

        file_look(keys);
        if (!keys->is_refreshing && !is_over(key))
                return 0;
        err = eddy_lock_acquire(&keys->lock);
        if (err < 0)
                return err;
        /* Refresh once only: the clock may jump. */
        keys->is_refreshing = true;
        if (is_over(key))
                err = key_refresh(keys, key, why);
        keys->is_refreshing = false;
        eddy_lock_release(&keys->lock);
        return err;
}

const char *ed_api_key_value(const struct ed_api_keys *keys, unsigned number,
                             uint32_t *ret_generation)
{
        *ret_generation = keys->items[number - 1].generation;
        return keys->items[number - 1].value;
}

/* ---- answers --------------------------------------------------------------------------------- */

void ed_api_key_accepted(struct ed_api_keys *keys, unsigned number, uint32_t generation,
                         unsigned refusals)
{
        struct ed_api_key *key = &keys->items[number - 1];

        if (refusals > 0)
                keys->stubborn = 0;
        keys->has_helped = true;
        if (generation != key->generation)
                return;
        key->has_helped = true;
        key->was_refused = false;
        key->in_vain = key->refused = 0;
}

/* Returns true if the 401 is about the request, because the key is good for others. */
static bool is_about_request(const struct ed_api_keys *keys, const struct ed_api_key *key,
                             unsigned refusals)
{
        return key->has_helped && key->refused < REFUSED_FOR_DEATH &&
               (refusals >= REFUSALS_MAX || keys->stubborn >= STUBBORN_MAX);
}

/* The key is refused: refresh it. The second and the third refresh in a row are delayed. */
static enum ed_api_key_verdict key_due(struct ed_api_key *key, unsigned refusals, bool has_helped)
{
        static const int64_t waits_ns[REFRESHES_MAX] = { 0, EDDY_SEC(1), EDDY_SEC(3) };

        if (!key->was_refused) {
                key->was_refused = true;
                key->in_vain++;
        }
        if (key->in_vain > REFRESHES_MAX) {
                /* Only this request was refused since a request was last accepted. */
                bool is_alone = has_helped && key->refused <= refusals + 1;

                return is_alone ? ED_API_KEY_ANSWER : ED_API_KEY_USELESS;
        }
        key->is_due = true;
        key->due_ns = eddy_now() + waits_ns[key->in_vain - 1];
        return ED_API_KEY_REPEAT;
}

enum ed_api_key_verdict ed_api_key_refused(struct ed_api_keys *keys, unsigned number,
                                           uint32_t generation, unsigned refusals,
                                           bool was_unauthorized)
{
        enum ed_api_key_verdict verdict;
        struct ed_api_key *key = &keys->items[number - 1];

        if (keys->kind == ED_API_KEY_FIXED)
                return ED_API_KEY_ANSWER;
        if (generation != key->generation)
                return ED_API_KEY_STALE;
        key->refused++;
        if (key->is_due || keys->is_refreshing)
                return ED_API_KEY_STALE;
        if (is_about_request(keys, key, refusals)) {
                keys->stubborn += refusals >= REFUSALS_MAX;
                return ED_API_KEY_ANSWER;
        }
        if (keys->kind == ED_API_KEY_FILE && !keys->has_helped && keys->changes == 0) {
                ed_api_keys_look(keys);
                return generation != key->generation ? ED_API_KEY_STALE : ED_API_KEY_ANSWER;
        }
        verdict = key_due(key, refusals, keys->has_helped);
        return verdict == ED_API_KEY_USELESS && was_unauthorized ? ED_API_KEY_ANSWER : verdict;
}
