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

int ed_shards_begin(struct ed_shards *shards, const struct ed_parts *parts, uint32_t count)
{
        uint32_t marked = shards->marked_count;
        int64_t guess;

        shards->is_begun = true;
        shards->is_given = count > 0;
        shards->is_marked = marked > 0 && !shards->marks_differ &&
                            shards->marked_size == shards->size && (count == 0 || count == marked);
        shards->count = count > 0 ? count : marked;
        if (shards->is_marked)
                return 0;
        guess = shards->count > 0 ? shards->count : count_guess(parts);
        if (guess < 0)
                return (int) guess;
        shards->count = (uint32_t) guess;
        return guess > 0 ? checks_note(shards, parts) : 0;
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
        return 0;
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

static void commands_add(const struct ed_shards *shards, const struct ed_parts *parts,
                         struct ed_draft *out)
{
        char room[ED_PART_PATH_BYTES / 4];
        const char *form = output_form(parts, room);
        unsigned shown = 0;

        if (form && ed_pack_kind_of(form) != ED_PACK_PLAIN)
                ed_draft_add_str(out,
                                 "decompress their outputs first, because a run cannot continue a "
                                 "compressed file; then run, ");
        else
                ed_draft_add_str(out, "run, ");
        ed_draft_add_str(out, "with all other options as before");
        if (shards->lacking_count > COMMANDS_MAX)
                ed_draft_add_printf(out,
                                    ", these for the first %d shards, and likewise for the others",
                                    (int) COMMANDS_MAX);
        ed_draft_add_str(out, ":\n");
        for (uint32_t i = 0; i < shards->count && shown < COMMANDS_MAX; i++) {
                if (!ed_bits_has(&shards->lacking, i))
                        continue;
                command_add(shards, form, i, out);
                shown++;
        }
}

/* Explain why the marks of the outputs do not name their shards. Returns false if they are no reason. */
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
                ed_draft_add_printf(out,
                                    "--shards %" PRIu32 ": the runs had --shard I/%" PRIu32
                                    "; give --shards %" PRIu32 "\n",
                                    shards->count, shards->marked_count, shards->marked_count);
        return true;
}

/* Explain why the shards are not known. */
static void unknown_print(const struct ed_shards *shards, const struct ed_parts *parts,
                          struct ed_draft *out)
{
        if (shards->is_given)
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
        commands_add(shards, parts, out);
}

void ed_shards_fini(struct ed_shards *shards)
{
        ed_bits_fini(&shards->lacking);
        eddy_free(shards->checks);
        shards->checks = NULL;
}
