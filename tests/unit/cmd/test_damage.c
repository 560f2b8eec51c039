/*
 * test_damage.c - 64 KiB of output that a disk or a program has damaged: a run starts all the same,
 * and knows every answer whose line is whole.
 *
 * On the simulated disk. A sample of the damages; with EDDY_TEST_FULL all.
 */
#include "test.h"

#include <malloc.h>

#include "batch/run/checkpoint.h"
#include "common/random.h"
#include "disk_calls.h"
#include "eddy/alloc.h"

enum { BYTES = 64 << 10, LINES = 20, NAME_BYTES = 16, BYTES_MAX = 2 * BYTES };

static char lines[BYTES_MAX];
static size_t ends[LINES + 1]; /* of the lines */
static char damaged[BYTES_MAX];
static struct ed_random random_state = { .state = 1 };
static uint64_t tried;

static bool is_full(void)
{
        return test_is_full();
}

/* Keep the buffers of files for the next run: mapping them anew takes most of the time. */
static void *allocate(void *ctx, void *ptr, size_t bytes)
{
        enum { KEPT_BYTES = 256 << 10, KEPT_MAX = 4 };
        static void *kept[KEPT_MAX];
        static int count;

        (void) ctx;
        if (bytes == 0 && ptr && count < KEPT_MAX && malloc_usable_size(ptr) == KEPT_BYTES) {
                kept[count++] = ptr;
                return NULL;
        }
        if (!ptr && bytes == KEPT_BYTES && count > 0)
                return kept[--count];
        if (bytes > 0)
                return realloc(ptr, bytes);
        free(ptr);
        return NULL;
}

static size_t id_make(int i, char name[NAME_BYTES])
{
        return (size_t) snprintf(name, NAME_BYTES, "id-%d", i);
}

/* Lines of BYTES in all. */
static void lines_make(void)
{
        size_t at = 0;

        eddy_alloc_set(allocate, NULL);
        for (int i = 0; i < LINES; i++) {
                /* The last one fills the rest. */
                size_t body_bytes = i < LINES - 1 ? 2000 + (size_t) i * 100 : BYTES - at - 158;
                static char body[BYTES];
                struct ed_draft draft = { 0 };
                char name[NAME_BYTES];
                struct ed_answer answer = { .id = name,
                                            .id_bytes = id_make(i, name),
                                            .hash = (uint64_t) i + 1,
                                            .status = 200,
                                            .body = body,
                                            .body_bytes = body_bytes };

                memset(body, 'x', body_bytes);
                memcpy(body, "{\"a\":[1,-2.5e3,true,null],\"b\":\"", 31);
                memcpy(body + body_bytes - 10, "\\u00e9\"   }", 10);
                body[body_bytes - 1] = '}';
                ed_answer_write(&answer, 0, &draft);
                CHECK(ed_draft_is_whole(&draft));
                memcpy(lines + at, draft.data, draft.bytes);
                at += draft.bytes;
                ends[i + 1] = at;
                ed_draft_fini(&draft);
        }
        if (at != BYTES)
                test_fail(__FILE__, __LINE__, "%zu bytes", at);
}

static void disk_put(const char *data, size_t bytes)
{
        struct ed_disk_node *node;

        disk_make();
        CHECK_EQ(ed_disk_make(&disk, "/out.jsonl", false, 0644, &node), 0);
        if (bytes > 0)
                CHECK_EQ(ed_disk_write(&disk, node, data, bytes, 0), 0);
}

/* Start a run with the damaged file: all lines are known but those from 'first' to 'last'. */
static void start_check(size_t bytes, int first, int last, const char *what, size_t where)
{
        static char out[] = DISK_FOLDER "/out.jsonl", errors[] = DISK_FOLDER "/out.errors.jsonl";
        static const struct ed_batch_settings settings;
        static struct ed_batch_run run = { .settings = &settings };
        static const struct ed_batch_paths paths = { .output = out, .errors = errors };
        static struct ed_batch_unit unit;
        const struct ed_disk_node *file;
        char name[NAME_BYTES];

        disk_put(damaged, bytes);
        unit = (struct ed_batch_unit){ .input = { .fd = -1 }, .run = &run, .paths = &paths };
        if (ed_checkpoint_open(&unit) != 0 || ed_checkpoint_begin(&unit) != 0)
                test_fail(__FILE__, __LINE__, "%s %zu: the run does not start", what, where);
        for (int i = 0; i < LINES; i++)
                if ((i < first || i > last) &&
                    ed_ids_flags(unit.sink.ids, name, id_make(i, name)) != ED_IDS_ANSWERED)
                        test_fail(__FILE__, __LINE__, "%s %zu: line %d is lost", what, where, i);
        file = disk_file("/out.jsonl");
        CHECK(file->now.bytes == 0 || file->now.data[file->now.bytes - 1] == '\n');
        CHECK_EQ(ed_checkpoint_close(&unit, true), 0);
        ed_ids_free(unit.sink.ids);
        tried++;
}

/* Returns the line that has a byte; LINES after the last one. */
static int line_at(size_t at)
{
        int i = 0;

        while (i < LINES && ends[i + 1] <= at)
                i++;
        return i;
}

/* Bytes 'at' to 'end' are damaged. A line feed that is gone joins two lines. */
static void range_check(size_t bytes, size_t at, size_t end, const char *what)
{
        int first = line_at(at), last = line_at(end - 1);

        if (end == ends[last + 1])
                last++;
        start_check(bytes, first, last, what, at);
}

TEST(flipped_bit_costs_only_the_line_that_has_it)
{
        size_t step = is_full() ? 1 : 97;

        lines_make();
        memcpy(damaged, lines, BYTES);
        for (size_t bit = 0; bit < (size_t) BYTES * 8; bit += step) {
                damaged[bit / 8] ^= (char) (1 << bit % 8);
                range_check(BYTES, bit / 8, bit / 8 + 1, "flip in byte");
                damaged[bit / 8] ^= (char) (1 << bit % 8);
        }
        printf("# %llu flips\n", (unsigned long long) tried);
}

TEST(file_cut_anywhere_costs_only_the_line_that_is_cut)
{
        size_t step = is_full() ? 1 : 61;

        lines_make();
        memcpy(damaged, lines, BYTES);
        for (size_t bytes = 0; bytes <= BYTES; bytes += step)
                start_check(bytes, line_at(bytes), LINES, "cut at", bytes);
        printf("# %llu cuts\n", (unsigned long long) tried);
}

TEST(junk_at_the_end_costs_no_line)
{
        size_t count = is_full() ? 5000 : 300;

        lines_make();
        for (size_t i = 0; i < count; i++) {
                size_t bytes = 1 + ed_random_next(&random_state) % 5000;

                memcpy(damaged, lines, BYTES);
                for (size_t at = 0; at < bytes; at++)
                        damaged[BYTES + at] = (char) ed_random_next(&random_state);
                /* Some of it is a part of the file. */
                if (i % 2)
                        memcpy(damaged + BYTES,
                               lines + ed_random_next(&random_state) % (BYTES - bytes), bytes);
                start_check(BYTES + bytes, LINES, LINES, "junk", i);
        }
        printf("# %llu ends\n", (unsigned long long) tried);
}

TEST(block_of_zeros_or_of_another_place_costs_only_the_lines_in_it)
{
        static const size_t sizes[] = { 512, 4096 };

        lines_make();
        for (size_t size = 0; size < 2; size++)
                for (size_t at = 0; at < BYTES; at += sizes[size]) {
                        size_t bytes = sizes[size], from = at;

                        memcpy(damaged, lines, BYTES);
                        memset(damaged + at, '\0', bytes);
                        range_check(BYTES, at, at + bytes, "zeros at");
                        for (int i = 0; i < (is_full() ? 30 : 3); i++) {
                                memcpy(damaged, lines, BYTES);
                                from = (from + bytes * 7) % BYTES;
                                memcpy(damaged + at, lines + from, bytes);
                                range_check(BYTES, at, at + bytes, "block at");
                        }
                        /* Twice, so that all that follows is at another place. */
                        memcpy(damaged, lines, at + bytes);
                        memcpy(damaged + at + bytes, lines + at, BYTES - at);
                        start_check(BYTES + bytes, line_at(at), line_at(at + bytes - 1), "twice at",
                                    at);
                }
        printf("# %llu blocks\n", (unsigned long long) tried);
}
