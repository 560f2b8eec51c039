/*
 * test_collect.c - the parts of `eddy collect` without I/O: numbers in names, ranges of numbers, the pick
 * of one line for each request, and the shards that lack answers.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "batch/sort/merge_sort.h"
#include "collect/collected.h"
#include "collect/numbered.h"
#include "collect/pick.h"
#include "collect/ranges.h"
#include "collect/sample.h"
#include "collect/shards.h"

/* ---- names ----------------------------------------------------------------------------------- */

TEST(numbers_in_names_are_found_from_the_right)
{
        struct ed_numbered form = { 0 };
        char room[64];

        CHECK(ed_numbered_find("d1/run7.03.12.jsonl", &form));
        CHECK(ed_numbered_show(&form, room, sizeof(room)));
        CHECK_STR(room, "d1/run7.03.%i.jsonl");
        CHECK(ed_numbered_find("d1/run7.03.12.jsonl", &form));
        CHECK(ed_numbered_find("d1/run7.03.12.jsonl", &form));
        CHECK(ed_numbered_show(&form, room, sizeof(room)));
        CHECK_STR(room, "d1/run%i.03.12.jsonl");
        CHECK(!ed_numbered_find("d1/run7.03.12.jsonl", &form));
        CHECK(!ed_numbered_show(&form, room, 10));
}

TEST(names_of_a_form_have_a_number_without_zeros_before_it)
{
        struct ed_numbered form = { 0 };

        CHECK(ed_numbered_find("out.5.jsonl", &form));
        CHECK_EQ(ed_numbered_read(&form, "out.5.jsonl"), 5);
        CHECK_EQ(ed_numbered_read(&form, "out.0.jsonl"), 0);
        CHECK_EQ(ed_numbered_read(&form, "out.123456789.jsonl"), 123456789);
        CHECK_EQ(ed_numbered_read(&form, "out.05.jsonl"), -1);
        CHECK_EQ(ed_numbered_read(&form, "out.1234567890.jsonl"), -1);
        CHECK_EQ(ed_numbered_read(&form, "out.x.jsonl"), -1);
        CHECK_EQ(ed_numbered_read(&form, "out..jsonl"), -1);
        CHECK_EQ(ed_numbered_read(&form, "out.jsonl"), -1);
        CHECK_EQ(ed_numbered_read(&form, "out.5.errors.jsonl"), -1);
        CHECK_EQ(ed_numbered_read(&form, ""), -1);
}

TEST(each_place_of_a_name_gets_the_number)
{
        char room[16];

        CHECK(ed_numbered_write("%i/o.%i", 12, room, sizeof(room)));
        CHECK_STR(room, "12/o.12");
        CHECK(ed_numbered_write("o", 1, room, sizeof(room)));
        CHECK_STR(room, "o");
        for (size_t bytes = 0; bytes < 8; bytes++)
                CHECK(!ed_numbered_write("%i/o.%i", 12, room, bytes));
        CHECK(ed_numbered_write("%i/o.%i", 12, room, 8));
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void check_text(struct ed_draft *text, const char *wanted)
{
        CHECK(ed_draft_is_whole(text));
        ed_draft_add(text, "", 1);
        CHECK_STR(text->data, wanted);
        ed_draft_fini(text);
}

TEST(ranges_beyond_the_tenth_are_counted)
{
        struct ed_bits set = { 0 };
        struct ed_draft text = { 0 };

        ed_ranges_add(&text, &set, 50);
        CHECK_EQ(text.bytes, 0);
        CHECK(ed_bits_add(&set, 0) == 1 && ed_bits_add(&set, 2) == 1 && ed_bits_add(&set, 3) == 1 &&
              ed_bits_add(&set, 7) == 1 && ed_bits_add(&set, 8) == 1 && ed_bits_add(&set, 9) == 1);
        ed_ranges_add(&text, &set, 9);
        check_text(&text, "0, 2-3, 7-8");
        for (uint64_t number = 11; number < 30; number += 2)
                CHECK_EQ(ed_bits_add(&set, number), 1);
        ed_ranges_add(&text, &set, 28);
        check_text(&text, "0, 2-3, 7-9, 11, 13, 15, 17, 19, 21, 23 and 2 more ranges");
        ed_ranges_add(&text, &set, 26);
        check_text(&text, "0, 2-3, 7-9, 11, 13, 15, 17, 19, 21, 23 and 1 more range");
        ed_bits_fini(&set);
}

TEST(sample_has_the_first_texts)
{
        static struct ed_sample sample;
        struct ed_draft text = { 0 };
        char name[8];

        for (int i = 0; i < ED_SAMPLE_MAX; i++) {
                int n = snprintf(name, sizeof(name), "n%d\n", i);

                ed_sample_add(&sample, name, (size_t) n);
        }
        ed_sample_print(&sample, &text);
        check_text(&text, "n0?, n1?, n2?, n3?, n4?, n5?, n6?, n7?, n8?, n9?");
        ed_sample_add(&sample, "x", 1);
        CHECK_EQ(sample.count, ED_SAMPLE_MAX + 1);
        ed_sample_print(&sample, &text);
        check_text(&text, "n0?, n1?, n2?, n3?, n4?, n5?, n6?, n7?, n8?, n9?, ...");
}

/* ---- the pick -------------------------------------------------------------------------------- */

static struct ed_draft picked;
static size_t picked_most;

static int picked_take(void *arg, uint64_t place, bool is_answer, const char *line, size_t bytes)
{
        (void) arg;
        if (picked.bytes >= picked_most)
                return -EPIPE;
        ed_draft_add_printf(&picked, "%d%c ", (int) place, is_answer ? 'a' : 'f');
        ed_draft_add(&picked, line, bytes);
        return 0;
}

/* Pick from lines that come in pieces of 'piece' bytes. */
static int pick_from(struct ed_pick *pick, const char *const *lines, const uint64_t *keys,
                     size_t count, size_t piece)
{
        int err = 0;

        *pick = (struct ed_pick){ .fn = picked_take };
        ed_draft_reset(&picked, SIZE_MAX);
        for (size_t i = 0; i < count; i++) {
                size_t bytes = strlen(lines[i]);

                for (size_t at = 0; err == 0 && at < bytes; at += piece) {
                        size_t n = bytes - at < piece ? bytes - at : piece;

                        err = ed_pick_take(pick, keys[i], lines[i] + at, n, at + n == bytes);
                }
        }
        return err < 0 ? err : ed_pick_finish(pick);
}

TEST(last_answer_is_picked_or_else_the_last_failure)
{
        static const char *const lines[] = { "f1\n", "f2\n", "a1\n", "a1\n", "f3\n",
                                             "f4\n", "a2\n", "a3\n", "\n" };
        static const uint64_t keys[] = { 2, 2, 3, 3, 4, 4, 7, 7, 9 };
        struct ed_pick pick;

        picked_most = SIZE_MAX;
        for (size_t piece = 1; piece < 5; piece++) {
                CHECK_EQ(pick_from(&pick, lines, keys, 9, piece), 0);
                CHECK_EQ(pick.equal, 1);
                ed_pick_fini(&pick);
                check_text(&picked, "1a a1\n2f f4\n3a a3\n4a \n");
        }
        CHECK_EQ(pick_from(&pick, lines, keys, 0, 1), 0);
        CHECK_EQ(picked.bytes, 0);
        ed_pick_fini(&pick);
        for (picked_most = 0; picked_most < 16; picked_most += 6) {
                CHECK_EQ(pick_from(&pick, lines, keys, 9, 2), -EPIPE);
                ed_pick_fini(&pick);
        }
        ed_draft_fini(&picked);
        CHECK_EQ(ed_pick_key(5, true), 11);
        CHECK_EQ(ed_pick_key(5, false), 10);
}

/* ---- requests -------------------------------------------------------------------------------- */

static uint64_t line_add(struct ed_collected *collected, const char *id, bool is_answer)
{
        uint64_t place;

        CHECK_EQ(ed_collected_line(collected, id, strlen(id), is_answer, &place), 0);
        return place;
}

TEST(requests_are_answered_failed_or_missing)
{
        static struct ed_collected collected;
        static const char *const ids[] = { "a", "b", "c", "b", "d", "e" };

        ed_collected_init(&collected);
        for (uint64_t i = 0; i < 6; i++)
                CHECK_EQ(ed_collected_request(&collected, ids[i], 1, 2 * i + 1, false), 0);
        CHECK_EQ(ed_collected_seal(&collected), 0);
        CHECK_EQ(collected.requests_count, 5);
        CHECK_EQ(collected.repeated_count, 1);
        CHECK_EQ(line_add(&collected, "c", false), 5);
        CHECK_EQ(line_add(&collected, "a", true), 1);
        CHECK_EQ(line_add(&collected, "x", true), ED_PLACE_NONE);
        CHECK_EQ(line_add(&collected, "b", false), 3);
        CHECK_EQ(line_add(&collected, "b", true), 3);
        CHECK_EQ(collected.doubled.count, 0);
        CHECK_EQ(line_add(&collected, "a", true), 1);
        CHECK_EQ(line_add(&collected, "a", true), 1);
        CHECK_EQ(ed_collected_failed(&collected, "c", 1, 5, ED_COLLECTED_AGAIN), 1);
        CHECK_EQ(ed_collected_end(&collected), 0);
        CHECK_EQ(collected.answered_count, 2);
        CHECK_EQ(collected.failed_count, 1);
        CHECK_EQ(collected.missing_count, 2);
        CHECK_EQ(collected.doubled.count, 1);
        CHECK_EQ(collected.foreign.count, 1);
        CHECK(!ed_collected_is_whole(&collected));
        CHECK(ed_bits_has(&collected.missing, 9) && ed_bits_has(&collected.missing, 11));
        CHECK(!ed_bits_has(&collected.missing, 7) && ed_bits_has(&collected.lacking, 5));
        ed_collected_fini(&collected);
}

/* ---- shards ---------------------------------------------------------------------------------- */

enum { LINES = 100, LINE_BYTES = 10 };

static const char *const *marks; /* NULL: none; ends with NULL */

/* Two shards of three lack answers. Returns the text. */
static struct ed_draft shards_text(struct ed_parts *parts, uint32_t count)
{
        struct ed_shards shards = { 0 };
        struct ed_draft text = { 0 };

        shards.size = LINES * LINE_BYTES;
        shards.input = "in put";
        for (size_t i = 0; marks && marks[i]; i++)
                ed_shards_mark(&shards, marks[i]);
        shards.given = count;
        CHECK_EQ(ed_shards_begin(&shards, parts), 0);
        for (uint64_t i = 1; i <= LINES; i++)
                CHECK_EQ(ed_shards_line(&shards, i, (i - 1) * LINE_BYTES, i == 7 || i == 99), 0);
        ed_shards_print(&shards, parts, &text);
        ed_shards_fini(&shards);
        return text;
}

TEST(shards_are_known_by_names_that_agree_with_their_answers)
{
        static char texts[][4] = { "o.0", "o.1", "o.2" };
        char *const names[] = { texts[0], texts[1], texts[2] };
        struct ed_part items[] = {
                { .name = 0, .has_index = true, .first = 1, .last = 34 },
                { .name = 1, .has_index = true, .index = 1, .first = 35, .last = 67 },
                { .name = 2, .has_index = true, .index = 2 }
        };
        struct ed_parts parts = { .names = names, .names_count = 3, .items = items, .count = 3 };
        static const char wanted[] = "2 of 3 shards lack answers: 0, 2\n"
                                     "run, with all other options as before:\n"
                                     "  eddy batch 'in put' --shard 0/3 -o o.%i\n"
                                     "  eddy batch 'in put' --shard 2/3 -o o.%i\n";
        static const char hint[] =
                "if the runs had --shard I/N, give --shards N to see which of them "
                "lack answers\n";
        struct ed_draft text;

        CHECK(ed_numbered_find(names[0], &parts.form));
        text = shards_text(&parts, 0);
        check_text(&text, wanted);
        text = shards_text(&parts, 3);
        check_text(&text, wanted);
        items[1].last = 68;
        text = shards_text(&parts, 0);
        check_text(&text, hint);
        text = shards_text(&parts, 3);
        check_text(&text,
                   "--shards 3: a file of shard 1 has the request of line 68, which is of shard 2: "
                   "give the N of the runs, or the file of requests as it was\n");
        items[1].last = 67;
        items[2].index = 3;
        text = shards_text(&parts, 0);
        check_text(&text, hint);
        items[2].index = 1;
        text = shards_text(&parts, 0);
        check_text(&text, hint);
}

/* Returns the text about outputs whose marks are of shards of three. */
static void marked_text(struct ed_part *items, char *const *names, size_t count, const char *wanted)
{
        static const char *const three[] = { "0/3 of 1000 bytes", NULL };
        struct ed_parts parts = {
                .names = names, .names_count = count, .items = items, .count = count
        };
        struct ed_draft text;

        marks = three;
        text = shards_text(&parts, 0);
        check_text(&text, wanted);
        marks = NULL;
}

TEST(outputs_have_the_names_that_their_marks_explain)
{
        static char texts[][12] = { "v.0.jsonl", "cut2.2.x", "o1.1.jsonl" };
        char *const names[] = { texts[0], texts[1], texts[2] };
        struct ed_part items[] = { { .name = 0, .is_marked = true, .first = 1, .last = 34 },
                                   { .name = 2, .is_marked = true, .marked_index = 1 },
                                   { .name = 1, .is_marked = true, .marked_index = 2 } };
        static const char either[] = "2 of 3 shards lack answers: 0, 2\n"
                                     "run, with all other options as before:\n"
                                     "  eddy batch 'in put' --shard 0/3 -o v.%i.jsonl\n"
                                     "  eddy batch 'in put' --shard 2/3 -o v.%i.jsonl\n";
        static const char none[] = "2 of 3 shards lack answers: 0, 2\n"
                                   "run, with -o and all other options as before:\n"
                                   "  eddy batch 'in put' --shard 0/3\n"
                                   "  eddy batch 'in put' --shard 2/3\n";

        /* "cut2.2.x" and "o1.1.jsonl" have two places for the number; another output is of help. */
        marked_text(items, names, 3, either);
        items[0].is_errors = true;
        marked_text(items, names, 3, none);
        items[0] = (struct ed_part){ .name = 0, .first = 1, .last = 34 };
        marked_text(items, names, 3, none);
        texts[1][3] = 's';
        items[0].is_marked = true;
        marked_text(items, names, 3,
                    "2 of 3 shards lack answers: 0, 2\n"
                    "run, with all other options as before:\n"
                    "  eddy batch 'in put' --shard 0/3 -o v.%i.jsonl\n"
                    "  eddy batch 'in put' --shard 2/3 -o cuts.%i.x\n");
}

TEST(shards_to_which_runs_write_are_not_to_be_run)
{
        static char texts[][12] = { "v.0.jsonl", "v.2.jsonl" };
        char *const names[] = { texts[0], texts[1] };
        struct ed_part items[] = { { .name = 0, .is_marked = true, .is_active = true, .first = 1 },
                                   { .name = 1, .is_marked = true, .marked_index = 2 } };

        marked_text(items, names, 2,
                    "2 of 3 shards lack answers: 0, 2\n"
                    "runs still write to the outputs of shards 0\n"
                    "run, with all other options as before:\n"
                    "  eddy batch 'in put' --shard 2/3 -o v.%i.jsonl\n");
        items[1].is_active = true;
        marked_text(items, names, 2,
                    "2 of 3 shards lack answers: 0, 2\n"
                    "runs still write to the outputs of shards 0, 2\n");
        /* One without an answer yet, which only its name explains. */
        items[1] = (struct ed_part){ .name = 1, .is_active = true, .has_index = true, .index = 2 };
        marked_text(items, names, 2,
                    "2 of 3 shards lack answers: 0, 2\n"
                    "runs still write to the outputs of shards 0, 2\n");
}

TEST(marks_of_the_lines_name_the_shards)
{
        static const char *const right[] = { "", "0/3 of 1000 bytes", "2/3 of 1000 bytes", NULL };
        static const char *const differ[] = { "0/3 of 1000 bytes", "0/4 of 1000 bytes", NULL };
        static const char *const sizes[] = { "0/3 of 1000 bytes", "0/3 of 900 bytes", NULL };
        static const char *const grown[] = { "0/3 of 900 bytes", NULL };
        static const char *const none[] = { "0/3 of 900 byte", "3/3 of 9 bytes", "0/3",
                                            "x of 9 bytes", NULL };
        char name[] = "o.jsonl";
        char *const names[] = { name };
        struct ed_part items[] = { { .first = 1, .last = 90 } };
        struct ed_parts parts = { .names = names, .names_count = 1, .items = items, .count = 1 };
        static const char wanted[] = "2 of 3 shards lack answers: 0, 2\n"
                                     "run, with -o and all other options as before:\n"
                                     "  eddy batch 'in put' --shard 0/3\n"
                                     "  eddy batch 'in put' --shard 2/3\n";
        static const char several[] =
                "the outputs are of different --shard I/N, or of different files of "
                "requests: run the command of each again\n";
        struct ed_draft text;

        marks = right;
        for (uint32_t count = 0; count <= 3; count += 3) {
                text = shards_text(&parts, count);
                check_text(&text, wanted);
        }
        text = shards_text(&parts, 4);
        check_text(&text, "--shards 4: the runs had --shard I/3; give --shards 3\n");
        marks = differ;
        text = shards_text(&parts, 0);
        check_text(&text, several);
        marks = sizes;
        text = shards_text(&parts, 3);
        check_text(&text, several);
        marks = grown;
        text = shards_text(&parts, 0);
        check_text(
                &text,
                "in put has 1000 bytes, and had 900 in the runs, so its shards have other borders "
                "now: put it back as it was, and new requests into another file\n");
        marks = none;
        text = shards_text(&parts, 0);
        check_text(&text, "");
        marks = NULL;
}

TEST(line_that_skip_empty_leaves_out_is_a_request_only_with_an_answer)
{
        static struct ed_collected collected;

        ed_collected_init(&collected);
        CHECK_EQ(ed_collected_request(&collected, "a", 1, 1, false), 0);
        CHECK_EQ(ed_collected_request(&collected, "b", 1, 2, true), 0);
        CHECK_EQ(ed_collected_request(&collected, "c", 1, 3, true), 0);
        CHECK_EQ(ed_collected_request(&collected, "d", 1, 4, true), 0);
        CHECK_EQ(ed_collected_seal(&collected), 0);
        CHECK_EQ(collected.requests_count, 1);
        CHECK_EQ(line_add(&collected, "a", true), 1);
        CHECK_EQ(line_add(&collected, "b", true), 2);
        CHECK_EQ(line_add(&collected, "c", false), 3);
        CHECK_EQ(ed_collected_failed(&collected, "c", 1, 3, ED_COLLECTED_AGAIN), 0);
        CHECK_EQ(ed_collected_end(&collected), 0);
        CHECK_EQ(collected.requests_count, 2);
        CHECK_EQ(collected.answered_count, 2);
        CHECK_EQ(collected.missing_count, 0);
        CHECK(ed_collected_is_whole(&collected));
        ed_collected_fini(&collected);
}
