/*
 * test_crash.c - what a crash of the machine leaves of files, on the simulated disk, in every state
 * that the crash can leave.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"
#include "eddy/test.h"
#include "eddy/test_file.h"
#include "test.h"

/* A program that changes files, and a check of what a crash has left of them. */
struct program {
        int (*begin)(void);         /* before the crash can come; everything it does is synced */
        int (*run)(uint64_t *done); /* until it fails; counts what it has finished */
        void (*check)(uint64_t done);
        uint64_t crashes, states; /* counted */
};

enum { STATES_MAX = 20000 };

/* Crash in the n-th operation. Returns false if the program ended before it. */
static bool crash_at(struct program *program, uint64_t n)
{
        uint64_t done = 0;
        int64_t states;
        int err;

        CHECK_EQ(program->begin(), 0);
        CHECK_EQ(eddy_test_power_off_at(n), 0);
        err = program->run(&done);
        CHECK_EQ(eddy_test_power_off_at(0), 0);
        if (err == 0)
                return false;
        states = eddy_test_power_off();
        CHECK(states >= 1 && states <= STATES_MAX);
        for (int64_t i = 0; i < states; i++) {
                CHECK_EQ(eddy_test_power_on((uint64_t) i), 0);
                program->check(done);
        }
        CHECK_EQ(eddy_test_power_on((uint64_t) states), -EINVAL);
        program->crashes++;
        program->states += (uint64_t) states;
        return true;
}

static int crash_at_each(void *arg)
{
        struct program *program = arg;

        for (uint64_t n = 1; crash_at(program, n); n++)
                continue;
        return 0;
}

static void survives_all(const char *name, struct program program)
{
        CHECK_EQ(eddy_test_run(crash_at_each, &program, NULL, NULL), 0);
        CHECK(program.crashes > 0);
        printf("# %s: %llu crashes, %llu states\n", name, (unsigned long long) program.crashes,
               (unsigned long long) program.states);
}

static char *contents_of(const char *path)
{
        size_t bytes;
        char *data;
        int err = eddy_file_read_whole(path, 1 << 20, &data, &bytes);

        if (err == -ENOENT)
                return NULL;
        CHECK_EQ(err, 0);
        return data;
}

/* --- replacing --- */

/* Longer than a sector, so that a write can be torn. */
enum { TEXT_BYTES = 700 };

static void fill(char *text, char c)
{
        memset(text, c, TEXT_BYTES);
        text[TEXT_BYTES] = '\0';
}

static int begin_replace(void)
{
        char text[TEXT_BYTES + 1];

        fill(text, 'a');
        return eddy_file_replace("/config", text, TEXT_BYTES, 0);
}

static int run_replace(uint64_t *done)
{
        char text[TEXT_BYTES + 1];
        int err = 0;

        for (char c = 'b'; c <= 'c' && err == 0; c++) {
                fill(text, c);
                err = eddy_file_replace("/config", text, TEXT_BYTES, 0);
                *done += err == 0;
        }
        return err;
}

/* The contents are those of the last replacement that was finished, or of the next. */
static void check_replace(uint64_t done)
{
        char *data = contents_of("/config"), text[TEXT_BYTES + 1];

        CHECK(data != NULL);
        CHECK(data[0] == (char) ('a' + done) || data[0] == (char) ('b' + done));
        fill(text, data[0]);
        CHECK_STR(data, text);
        eddy_free(data);
}

TEST(a_replaced_file_has_the_former_or_the_new_contents_after_every_crash)
{
        survives_all("replace", (struct program){ begin_replace, run_replace, check_replace });
}

/* --- appending --- */

enum { LINES = 3, LINE_BYTES = 300 };

static void line_of(uint64_t number, char *line)
{
        memset(line, 'A' + (int) number, LINE_BYTES);
        line[LINE_BYTES - 1] = '\n';
        line[LINE_BYTES] = '\0';
}

static int begin_append(void)
{
        eddy_file *file;
        int err = eddy_file_open("/log", EDDY_FILE_APPEND | EDDY_FILE_CREATE | EDDY_FILE_TRUNCATE,
                                 0, &file);

        if (err < 0)
                return err;
        err = eddy_file_sync(file, 0);
        eddy_file_close(file);
        return err == 0 ? eddy_folder_sync("/") : err;
}

static int append_lines(eddy_file *file, uint64_t *done)
{
        char line[LINE_BYTES + 1];
        int err = 0;

        while (err == 0 && *done < LINES) {
                line_of(*done, line);
                err = eddy_file_write(file, line, LINE_BYTES);
                if (err == 0)
                        err = eddy_file_sync(file, EDDY_FILE_DATA_ONLY);
                *done += err == 0;
        }
        return err;
}

static int run_append(uint64_t *done)
{
        eddy_file *file;
        int err = eddy_file_open("/log", EDDY_FILE_APPEND, 0, &file);

        if (err < 0)
                return err;
        err = append_lines(file, done);
        eddy_file_close(file);
        return err;
}

/* The lines that were synced are there, whole and in order; a part of one more may follow. */
static void check_append(uint64_t done)
{
        char *data = contents_of("/log"), line[LINE_BYTES + 1];
        size_t bytes;

        CHECK(data != NULL);
        bytes = strlen(data);
        for (uint64_t i = 0; i < done; i++) {
                line_of(i, line);
                CHECK(bytes >= (i + 1) * LINE_BYTES);
                CHECK(memcmp(data + i * LINE_BYTES, line, LINE_BYTES) == 0);
        }
        CHECK(bytes <= (done + 1) * LINE_BYTES);
        eddy_free(data);
}

TEST(lines_that_were_appended_and_synced_survive_every_crash)
{
        survives_all("append", (struct program){ begin_append, run_append, check_append });
}

/* --- that the states are those of a real disk --- */

/* The well-known mistake: a rename without a sync of the file. */
static int run_careless(uint64_t *done)
{
        char text[TEXT_BYTES + 1];
        int err;

        fill(text, 'b');
        err = eddy_file_write_whole("/new", text, TEXT_BYTES, 0);
        if (err == 0)
                err = eddy_path_rename("/new", "/config", 0);
        if (err == 0)
                err = eddy_folder_sync("/");
        *done += err == 0;
        return err == 0 ? eddy_path_stat("/config", 0, &(struct eddy_file_info){ 0 }) : err;
}

static struct {
        uint64_t whole, torn, former, zeros;
} seen;

static void see(uint64_t done)
{
        char *data = contents_of("/config");
        size_t bytes = strlen(data);

        (void) done;
        seen.former += data[0] == 'a';
        seen.whole += data[0] == 'b' && bytes == TEXT_BYTES;
        seen.torn += data[0] == 'b' && bytes < TEXT_BYTES;
        seen.zeros += bytes == 0 && data[0] == '\0';
        eddy_free(data);
}

TEST(a_rename_without_a_sync_can_leave_a_torn_an_empty_and_a_whole_file)
{
        survives_all("careless", (struct program){ begin_replace, run_careless, see });
        CHECK(seen.former > 0 && seen.whole > 0 && seen.torn > 0 && seen.zeros > 0);
}

/* --- renames between folders --- */

static int begin_move(void)
{
        int err = eddy_folder_make("/a", 0);

        if (err == 0 || err == -EEXIST)
                err = eddy_folder_make("/b", 0);
        if (err == 0 || err == -EEXIST)
                err = eddy_folder_sync("/");
        if (err == 0)
                err = eddy_file_replace("/a/x", "x", 1, 0);
        if (err == 0)
                err = eddy_path_remove("/b/y"); /* of the former crash */
        return err == 0 || err == -ENOENT ? eddy_folder_sync("/b") : err;
}

/* Over a new file that is not synced. */
static int run_move(uint64_t *done)
{
        int err = eddy_file_write_whole("/b/y", "y", 1, 0);

        if (err == 0)
                err = eddy_path_rename("/a/x", "/b/y", 0);
        *done += err == 0;
        return err == 0 ? eddy_folder_sync("/b") : err;
}

/* The moved file has its former or its new name. */
static void check_move(uint64_t done)
{
        char *from = contents_of("/a/x"), *to = contents_of("/b/y");

        (void) done;
        CHECK((from && strcmp(from, "x") == 0) || (to && strcmp(to, "x") == 0));
        eddy_free(from);
        eddy_free(to);
}

TEST(a_file_that_moves_to_another_folder_is_never_lost)
{
        survives_all("move", (struct program){ begin_move, run_move, check_move });
}

/* A new file that moved to a folder that was synced has left its former folder. */
static int moved_for_good(void *arg)
{
        struct eddy_file_info info;
        int64_t states;

        (void) arg;
        CHECK_EQ(begin_move(), 0);
        CHECK_EQ(eddy_file_write_whole("/a/new", "new", 3, 0), 0);
        CHECK_EQ(eddy_path_rename("/a/new", "/b/new", 0), 0);
        CHECK_EQ(eddy_folder_sync("/b"), 0);
        states = eddy_test_power_off();
        for (int64_t i = 0; i < states; i++) {
                CHECK_EQ(eddy_test_power_on((uint64_t) i), 0);
                CHECK_EQ(eddy_path_stat("/b/new", 0, &info), 0);
                CHECK_EQ(eddy_path_stat("/a/new", 0, &info), -ENOENT);
        }
        return 0;
}

TEST(a_name_that_was_moved_and_synced_does_not_come_back)
{
        CHECK_EQ(eddy_test_run(moved_for_good, NULL, NULL, NULL), 0);
}

/* --- the disk as a program sees it --- */

enum { MANY = 200 };

static int remove_all(void *arg)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        char path[300];

        (void) arg;
        CHECK_EQ(eddy_folder_make("/many", 0), 0);
        for (int i = 0; i < MANY; i++) {
                snprintf(path, sizeof(path), "/many/%d", i);
                CHECK_EQ(eddy_file_write_whole(path, "", 0, 0), 0);
        }
        CHECK_EQ(eddy_folder_open("/many", &folder), 0);
        while (eddy_folder_next(folder, &entry) > 0) {
                snprintf(path, sizeof(path), "/many/%s", entry.name);
                CHECK_EQ(eddy_path_remove(path), 0);
        }
        eddy_folder_close(folder);
        CHECK_EQ(eddy_folder_remove("/many"), 0);
        return 0;
}

TEST(names_that_are_removed_during_a_listing_hide_no_others)
{
        CHECK_EQ(eddy_test_run(remove_all, NULL, NULL, NULL), 0);
}

/* At the beginning of a sector, and with an empty piece of memory. */
static int write_nothing(void *arg)
{
        const struct eddy_space spaces[] = { { NULL, 0 }, { &(char){ 0 }, 1 } };
        eddy_file *file;

        (void) arg;
        CHECK_EQ(
                eddy_file_open("/a", EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &file),
                0);
        CHECK_EQ(eddy_file_write(file, "", 0), 0);
        CHECK_EQ(eddy_file_write(file, "x", 1), 0);
        CHECK_EQ(eddy_file_readv(file, spaces, 2, 0), 1);
        eddy_file_close(file);
        return 0;
}

TEST(pieces_without_bytes_are_passed_over)
{
        for (uint64_t seed = 0; seed < 8; seed++)
                CHECK_EQ(eddy_test_run(write_nothing, NULL,
                                       &(struct eddy_test_opts){ .seed = seed }, NULL),
                         0);
}

static int after_a_crash(void *arg)
{
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_test_power_on(0), -EINVAL);
        CHECK_EQ(eddy_file_open("/kept", EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &file), 0);
        CHECK_EQ(eddy_file_write(file, "kept", 4), 0);
        CHECK_EQ(eddy_file_sync(file, 0), 0);
        CHECK_EQ(eddy_folder_sync("/"), 0);
        CHECK_EQ(eddy_test_power_off(), 1);
        CHECK_EQ(eddy_file_write(file, "x", 1), -EIO);
        CHECK_EQ(eddy_test_power_on(0), 0);
        CHECK_EQ(eddy_file_write(file, "x", 1), -EIO);
        eddy_file_close(file);
        CHECK_EQ(eddy_path_remove("/kept"), 0);
        CHECK_EQ(eddy_test_power_on(0), 0);
        CHECK_EQ(eddy_path_remove("/kept"), 0);
        CHECK(eddy_test_file_operations() > 0);
        return 0;
}

TEST(a_file_that_was_open_is_useless_after_a_crash_and_a_state_can_be_entered_again)
{
        CHECK_EQ(eddy_test_run(after_a_crash, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_power_off(), EDDY_E_TEST_NO_RUN);
        CHECK_EQ(eddy_test_power_on(0), EDDY_E_TEST_NO_RUN);
        CHECK_EQ(eddy_test_power_off_at(1), EDDY_E_TEST_NO_RUN);
        CHECK_EQ(eddy_test_file_operations(), EDDY_E_TEST_NO_RUN);
}

/* A sync that failed loses its writes for good, as on Linux. */
static int lost(void *arg)
{
        eddy_file *file;
        int err;

        (void) arg;
        err = eddy_file_open("/a", EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &file);
        if (err < 0)
                return err;
        err = eddy_file_write(file, "a", 1);
        if (err == 0) {
                err = eddy_file_sync(file, 0);
                if (err < 0 && err != -ECANCELED && err != -ENOMEM)
                        CHECK_EQ(eddy_file_write(file, "b", 1), EDDY_E_FILE_SYNC);
        }
        eddy_file_close(file);
        return err;
}

TEST(a_program_that_writes_a_file_ends_cleanly_whatever_fails)
{
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CALLS, lost, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, lost, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, lost, NULL, NULL, NULL), 0);
}

/* --- sweeps over a program --- */

enum { COPIED = 3000 };

static int copy(eddy_file *from, eddy_file *to)
{
        eddy_stream *in, *out;
        int err = eddy_file_stream(from, 0, &in);

        if (err < 0)
                return err;
        err = eddy_file_stream(to, 0, &out);
        if (err == 0) {
                err = eddy_stream_copy(in, out, UINT64_MAX, NULL);
                if (err == 0)
                        err = eddy_stream_shutdown(out);
                eddy_stream_close(out);
        }
        eddy_stream_close(in);
        return err;
}

static int copy_between(const char *from, const char *to)
{
        eddy_file *in, *out;
        int err = eddy_file_open(from, EDDY_FILE_READ, 0, &in);

        if (err < 0)
                return err;
        err = eddy_file_open(to, EDDY_FILE_WRITE | EDDY_FILE_CREATE | EDDY_FILE_TRUNCATE, 0, &out);
        if (err == 0) {
                err = copy(in, out);
                eddy_file_close(out);
        }
        eddy_file_close(in);
        return err;
}

static int make_copy(void *arg)
{
        static char text[COPIED];
        int err = eddy_folder_make("/copies", 0);

        (void) arg;
        memset(text, 'c', sizeof(text));
        if (err == 0)
                err = eddy_file_write_whole("/copies/from", text, sizeof(text), 0);
        if (err == 0)
                err = copy_between("/copies/from", "/copies/to");
        if (err == 0)
                err = eddy_path_rename("/copies/to", "/copies/from", 0);
        if (err == 0)
                err = eddy_path_remove("/copies/from");
        return err == 0 ? eddy_folder_remove("/copies") : err;
}

static int replace_some(void *arg)
{
        size_t bytes;
        char *data;
        int err = eddy_file_replace("/config", "new", 3, 0);

        (void) arg;
        if (err == 0)
                err = eddy_file_read_whole("/config", 3, &data, &bytes);
        if (err < 0)
                return err;
        EDDY_TEST_CHECK(bytes == 3 && memcmp(data, "new", 3) == 0);
        eddy_free(data);
        return 0;
}

static int list_root(void *arg)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        int n, err = eddy_folder_open("/", &folder);

        (void) arg;
        if (err < 0)
                return err;
        do
                n = eddy_folder_next(folder, &entry);
        while (n > 0);
        eddy_folder_close(folder);
        return n;
}

static int uses_files(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start(&scope, make_copy, arg);
        (void) eddy_scope_start(&scope, replace_some, arg);
        (void) eddy_scope_start(&scope, list_root, arg);
        return eddy_scope_end(&scope);
}

static void sweep(int kind)
{
        CHECK_EQ(eddy_test_sweep(kind, uses_files, NULL, NULL, NULL), 0);
}

TEST(a_program_with_files_ends_cleanly_in_every_order)
{
        sweep(EDDY_TEST_SEEDS);
}

TEST(a_program_with_files_ends_cleanly_wherever_it_is_cancelled)
{
        sweep(EDDY_TEST_CANCEL);
        sweep(EDDY_TEST_CANCEL_TASK);
}

TEST(a_program_with_files_ends_cleanly_wherever_memory_fails)
{
        sweep(EDDY_TEST_ALLOC);
        sweep(EDDY_TEST_ALLOC_FOREVER);
        sweep(EDDY_TEST_ALLOC_TWICE);
}

TEST(a_program_with_files_ends_cleanly_wherever_a_call_fails)
{
        sweep(EDDY_TEST_CALLS);
}

/* --- a cancelled replacement --- */

static size_t names_in_root(void)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        size_t n = 0;

        CHECK_EQ(eddy_folder_open("/", &folder), 0);
        while (eddy_folder_next(folder, &entry) > 0)
                n++;
        eddy_folder_close(folder);
        return n;
}

static int replace_once(void *arg)
{
        (void) arg;
        return eddy_file_replace("/config", "new", 3, 0);
}

static int replace_in_time(void *arg)
{
        int err;

        (void) arg;
        for (int64_t ns = 1; ns < EDDY_MS(3); ns += 50000) {
                char *data;

                CHECK_EQ(eddy_file_write_whole("/config", "old", 3, 0), 0);
                err = eddy_call_timeout(replace_once, NULL, ns);
                CHECK(err == 0 || err == -ETIMEDOUT);
                CHECK_EQ(names_in_root(), 2); /* with /tmp */
                data = contents_of("/config");
                CHECK_STR(data, err < 0 ? "old" : "new");
                eddy_free(data);
        }
        return 0;
}

TEST(a_cancelled_replacement_leaves_one_of_both_files_and_no_other)
{
        for (uint64_t seed = 0; seed < 20; seed++)
                CHECK_EQ(eddy_test_run(replace_in_time, NULL,
                                       &(struct eddy_test_opts){ .seed = seed }, NULL),
                         0);
}
