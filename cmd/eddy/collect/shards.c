/*
 * collect/shards.c - see shards.h.
 */
#include "collect/shards.h"

#include <errno.h>
#include <inttypes.h>

#include "batch/answer/shard_mark.h"
#include "collect/ranges.h"
#include "common/pack.h"
#include "common/shard.h"
#include "common/shell_word.h"
#include "eddy/alloc.h"

enum { COMMANDS_MAX = 10 };

/* Returns the number of shards if the outputs have all numbers from 0 on, once each; else 0. Errors: -ENOMEM */
static int64_t count_guess(const struct ed_parts *parts)
{
        struct ed_bits seen = { 0 };
        uint32_t count = 0, most = 0;
        int added = 1;

        for (size_t i = 0; added > 0 && i < parts->count; i++) {
                const struct ed_part *part = &parts->items[i];

                if (part->is_errors)
                        continue;
                added = part->has_index && part->index < ED_SHARD_COUNT_MAX
                                ? ed_bits_add(&seen, part->index)
                                : 0;
                count++;
                most = part->index > most ? part->index : most;
        }
        ed_bits_fini(&seen);
        if (added <= 0)
                return added;
        return count >= 2 && count == most + 1 ? count : 0;
}

/* Note which requests show that a file is that of its shard. Errors: -ENOMEM */
static int checks_note(struct ed_shards *shards, const struct ed_parts *parts)
{
        shards->checks = eddy_malloc((2 * parts->count + 1) * sizeof(*shards->checks));
        if (!shards->checks)
                return -ENOMEM;
        for (size_t i = 0; i < parts->count; i++) {
                const struct ed_part *part = &parts->items[i];

                if (!part->has_index || part->first == 0)
                        continue;
                shards->checks[shards->checks_count++] =
                        (struct ed_pair){ part->first, part->index };
                shards->checks[shards->checks_count++] =
                        (struct ed_pair){ part->last, part->index };
        }
        ed_pair_sort(shards->checks, shards->checks_count);
        return 0;
}

void ed_shards_mark(struct ed_shards *shards, const char *mark)
{
        struct ed_shard shard;
        uint64_t size;

        if (!ed_shard_mark_parse(mark, &shard, &size))
                return;
        if (shards->marked_count == 0) {
                shards->marked_count = shard.count;
                shards->marked_size = size;
        }
        if (shard.count != shards->marked_count || size != shards->marked_size)
                shards->marks_differ = true;
}

/* Find the number of the shard of a file. Returns false if it is not known. */
static bool index_find(const struct ed_shards *shards, const struct ed_part *part,
                       uint32_t *ret_index)
{
        bool is_marked = shards->is_marked && part->is_marked;

        *ret_index = is_marked ? part->marked_index : part->index;
        return is_marked || part->has_index;
}

/* Note the shards whose outputs a run writes. Errors: -ENOMEM */
static int active_note(struct ed_shards *shards, const struct ed_parts *parts)
{
        uint32_t index;
        int added = 0;

        for (size_t i = 0; added >= 0 && i < parts->count; i++)
                if (parts->items[i].is_active && index_find(shards, &parts->items[i], &index) &&
                    index < shards->count)
                        added = ed_bits_add(&shards->active, index);
        return added < 0 ? added : 0;
}

int ed_shards_begin(struct ed_shards *shards, const struct ed_parts *parts)
{
        uint32_t marked = shards->marked_count, count = shards->given;
        int64_t guess;
        int err;

        shards->is_begun = true;
        shards->is_marked = marked > 0 && !shards->marks_differ &&
                            shards->marked_size == shards->size && (count == 0 || count == marked);
        shards->count = count > 0 ? count : marked;
        if (shards->is_marked)
                return active_note(shards, parts);
        guess = shards->count > 0 ? shards->count : count_guess(parts);
        if (guess < 0)
                return (int) guess;
        shards->count = (uint32_t) guess;
        err = active_note(shards, parts);
        return err == 0 && guess > 0 ? checks_note(shards, parts) : err;
}

int ed_shards_line(struct ed_shards *shards, uint64_t place, uint64_t offset, bool is_lacking)
{
        uint32_t index;
        int added;

        if (shards->count == 0 || offset >= shards->size)
                return 0;
        index = ed_shard_of(shards->count, shards->size, offset);
        for (; shards->at < shards->checks_count && shards->checks[shards->at].first <= place;
             shards->at++) {
                const struct ed_pair *check = &shards->checks[shards->at];

                if (check->first != place || check->second == index || shards->wrong_place > 0)
                        continue;
                shards->wrong_place = place;
                shards->wrong_index = (uint32_t) check->second;
                shards->right_index = index;
        }
        if (!is_lacking)
                return 0;
        added = ed_bits_add(&shards->lacking, index);
        if (added < 0)
                return added;
        shards->lacking_count += (uint64_t) added;
        if (added == 0 || !ed_bits_has(&shards->active, index))
                return 0;
        shards->running_count++;
        added = ed_bits_add(&shards->running, index);
        return added < 0 ? added : 0;
}

/* ---- what to run ----------------------------------------------------------------------------- */

/* Find the name of the outputs with the place of the number. Returns NULL if it is not known. */
static const char *output_form(const struct ed_parts *parts, char room[ED_PART_PATH_BYTES / 4])
{
        for (size_t i = 0; i < parts->names_count; i++)
                if (ed_numbered_is_form(parts->names[i]))
                        return parts->names[i];
        if (!parts->form.name || !ed_numbered_show(&parts->form, room, ED_PART_PATH_BYTES / 4))
                return NULL;
        return room;
}

/*
 * Find the place of the number in the name of a marked output: the only number that is that of its shard.
 * Returns false if there are several, or none.
 */
static bool marked_form(const struct ed_parts *parts, const struct ed_part *part,
                        char room[ED_PART_PATH_BYTES / 4])
{
        const char *name = parts->names[part->name];
        struct ed_numbered form = { 0 }, found = { 0 };

        if (!part->is_marked || part->is_errors)
                return false;
        while (ed_numbered_find(name, &form)) {
                if (ed_numbered_read(&form, name) != part->marked_index)
                        continue;
                if (found.name)
                        return false;
                found = form;
        }
        return found.name && ed_numbered_show(&found, room, ED_PART_PATH_BYTES / 4);
}

/* Find the name of the output of a shard in the marked ones; else that of another. Returns NULL for none. */
static const char *marked_output_form(const struct ed_shards *shards, const struct ed_parts *parts,
                                      uint32_t index, char room[ED_PART_PATH_BYTES / 4])
{
        const struct ed_part *other = NULL;

        for (size_t i = 0; shards->is_marked && i < parts->count; i++) {
                const struct ed_part *part = &parts->items[i];
                bool is_own = part->is_marked && part->marked_index == index;

                if ((!is_own && other) || !marked_form(parts, part, room))
                        continue;
                if (is_own)
                        return room;
                other = part;
        }
        return other && marked_form(parts, other, room) ? room : NULL;
}

static void command_add(const struct ed_shards *shards, const char *form, uint32_t index,
                        struct ed_draft *out)
{
        ed_draft_add_str(out, "  eddy batch ");
        ed_shell_word_add(out, shards->input);
        ed_draft_add_printf(out, " --shard %" PRIu32 "/%" PRIu32, index, shards->count);
        if (form) {
                ed_draft_add_str(out, " -o ");
                ed_shell_word_add(out, form);
        }
        ed_draft_add_str(out, "\n");
}

/* Append what to do before the commands. */
static void before_add(uint64_t count, bool is_packed, bool lacks_name, struct ed_draft *out)
{
        ed_draft_add_str(
                out, is_packed ? "decompress their outputs first, because a run cannot continue a "
                                 "compressed file; then run, "
                               : "run, ");
        ed_draft_add_str(out, lacks_name ? "with -o and all other options as before"
                                         : "with all other options as before");
        if (count > COMMANDS_MAX)
                ed_draft_add_printf(out,
                                    ", these for the first %d shards, and likewise for the others",
                                    (int) COMMANDS_MAX);
        ed_draft_add_str(out, ":\n");
}

static void commands_add(const struct ed_shards *shards, const struct ed_parts *parts,
                         struct ed_draft *out)
{
        char room[ED_PART_PATH_BYTES / 4];
        const char *common = output_form(parts, room);
        bool is_packed = false, lacks_name = false;
        struct ed_draft commands = { 0 };
        unsigned shown = 0;

        for (uint32_t i = 0; i < shards->count && shown < COMMANDS_MAX; i++) {
                const char *form = common;

                if (!ed_bits_has(&shards->lacking, i) || ed_bits_has(&shards->running, i))
                        continue;
                if (!form)
                        form = marked_output_form(shards, parts, i, room);
                command_add(shards, form, i, &commands);
                is_packed |= form && ed_pack_kind_of(form) != ED_PACK_PLAIN;
                lacks_name |= !form;
                shown++;
        }
        before_add(shards->lacking_count - shards->running_count, is_packed, lacks_name, out);
        ed_draft_add(out, commands.data, commands.bytes);
        ed_draft_fini(&commands);
}

/* Report that --shards is not the number of the runs. */
static void given_print(const struct ed_shards *shards, struct ed_draft *out)
{
        ed_draft_add_printf(out,
                            "--shards %" PRIu32 ": the runs had --shard I/%" PRIu32
                            "; give --shards %" PRIu32 "\n",
                            shards->given, shards->marked_count, shards->marked_count);
}

/* Print why the marks of the outputs do not name their shards. Returns false if the marks are not the reason. */
static bool marks_print(const struct ed_shards *shards, struct ed_draft *out)
{
        if (shards->marked_count == 0 || shards->is_marked)
                return false;
        if (shards->marks_differ)
                ed_draft_add_str(out, "the outputs are of different --shard I/N, or of different "
                                      "files of requests: run the command of each again\n");
        else if (shards->marked_size != shards->size)
                ed_draft_add_printf(
                        out,
                        "%s has %" PRIu64 " bytes, and had %" PRIu64
                        " in the runs, so its shards have other borders now: put it back "
                        "as it was, and new requests into another file\n",
                        shards->input, shards->size, shards->marked_size);
        else
                given_print(shards, out);
        return true;
}

/* Explain why the shards are not known. */
static void unknown_print(const struct ed_shards *shards, const struct ed_parts *parts,
                          struct ed_draft *out)
{
        if (shards->given > 0)
                ed_draft_add_printf(out,
                                    "--shards %" PRIu32 ": a file of shard %" PRIu32
                                    " has the request of line %" PRIu64
                                    ", which is of shard %" PRIu32
                                    ": give the N of the runs, or the file of requests as it was\n",
                                    shards->count, shards->wrong_index, shards->wrong_place,
                                    shards->right_index);
        else if (shards->size > 0 && parts->names_count > 1)
                ed_draft_add_str(out,
                                 "if the runs had --shard I/N, give --shards N to see which of "
                                 "them lack answers\n");
}

void ed_shards_print(const struct ed_shards *shards, const struct ed_parts *parts,
                     struct ed_draft *out)
{
        if (!shards->is_begun && shards->given > 0 && shards->marked_count > 0 &&
            !shards->marks_differ && shards->given != shards->marked_count)
                given_print(shards, out);
        if (!shards->is_begun || marks_print(shards, out))
                return;
        if (shards->count == 0 || shards->wrong_place > 0) {
                unknown_print(shards, parts, out);
                return;
        }
        if (shards->lacking_count == 0)
                return;
        ed_draft_add_grouped(out, shards->lacking_count);
        ed_draft_add_printf(out, " of %" PRIu32 " %s: ", shards->count,
                            shards->lacking_count == 1 ? "shards lacks answers"
                                                       : "shards lack answers");
        ed_ranges_add(out, &shards->lacking, shards->count);
        ed_draft_add_str(out, "\n");
        if (shards->running_count > 0) {
                ed_draft_add_str(out, "runs still write to the outputs of shards ");
                ed_ranges_add(out, &shards->running, shards->count);
                ed_draft_add_str(out, "\n");
        }
        if (shards->running_count < shards->lacking_count)
                commands_add(shards, parts, out);
}

void ed_shards_fini(struct ed_shards *shards)
{
        ed_bits_fini(&shards->lacking);
        ed_bits_fini(&shards->active);
        ed_bits_fini(&shards->running);
        eddy_free(shards->checks);
        shards->checks = NULL;
}
