/*
 * test_crash.c - runs of `eddy batch` on a disk whose machine crashes: after every change of the
 * disk, in the states that this can leave, the next run finds each answer that was synced, and in
 * the end each id has one line. Also if the machine crashes again during that run.
 *
 * A sample of the states; with EDDY_TEST_FULL more of them.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "batch/run/checkpoint.h"
#include "common/console.h"
#include "common/random.h"
#include "common/replace.h"
#include "disk_calls.h"
#include "eddy/alloc.h"
#include "eddy/test.h"
#include "eddy/time.h"

#define OUT      DISK_FOLDER "/out.jsonl"
#define ERRORS   DISK_FOLDER "/out.errors.jsonl"
#define REJECTED "/out.jsonl.rejected"

enum { IDS = 12, VERSIONS = 2, GARBAGE = 2, LINE_ROOM = 20000 };

static const char *const garbage[GARBAGE] = { "not an answer\n", "{\"custom_id\":\"3\"\n" };

/* One run: its requests, and how the server answers. */
struct plan {
        int ids;             /* requests 0 .. ids - 1 */
        unsigned failing;    /* a bit for each id whose attempts fail */
        unsigned changed;    /* a bit for each id with a second version of its request */
        int lines_max;       /* the run is stopped after these; 0: all */
        bool is_signalled;   /* stopped by a signal */
        unsigned bad_before; /* another program adds garbage before the run: a bit for each */
        unsigned strays;     /* and failures of these ids to the output */
        bool is_file;        /* the ids of the input are known before the run */
};

/* ---- lines --------------------------------------------------------------------------------- */

/* Returns the bytes of a line, whose request has that version. */
static size_t line_make(int id, int version, bool is_ok, char line[LINE_ROOM])
{
        /* Parts of a sector, some sectors, more than a page. */
        static const size_t sizes[] = { 20, 600, 90, 5000, 10, 1500, 300, 0, 9000, 40, 450, 200 };
        static char body[10000];
        struct ed_draft draft = { 0 };
        char name[8];
        struct ed_answer answer = { .id = name,
                                    .id_bytes = (size_t) snprintf(name, sizeof(name), "%d", id),
                                    .number = (uint64_t) id + 1,
                                    .hash = (uint64_t) (id * 4 + version) << 40 | 1,
                                    .status = is_ok ? 200 : 500,
                                    .attempts = 1,
                                    .first_ns = -1 };
        size_t bytes;

        answer.body_bytes = (size_t) snprintf(body, sizeof(body), "{\"v\":%d,\"x\":\"%0*d\"}",
                                              version, is_ok ? (int) sizes[id] + 1 : 30, 0);
        answer.body = body;
        ed_answer_write(&answer, ED_ANSWER_META, &draft);
        CHECK(ed_draft_is_whole(&draft) && draft.bytes <= LINE_ROOM);
        bytes = draft.bytes;
        memcpy(line, draft.data, bytes);
        ed_draft_fini(&draft);
        return bytes;
}

static uint64_t mark_of(int id, int version)
{
        char name[8];
        size_t bytes = (size_t) snprintf(name, sizeof(name), "%d", id);

        return ed_answer_mark(name, bytes, (uint64_t) (id * 4 + version) << 40 | 1);
}

/* ---- a run ---------------------------------------------------------------------------------- */

static const struct ed_batch_settings settings = { .changed_ok = true };
static struct ed_batch_run run = { .settings = &settings };
static struct ed_batch_unit unit;
static const struct plan *plan;
static int lines_left;

/* A line that is due at some time. */
struct due {
        int id, version;
        bool is_ok;
        int64_t wait_ns;
};

static struct due dues[IDS];
static int dues_count;

static int due_write(void *arg)
{
        const struct due *due = arg;
        static char lines[IDS][LINE_ROOM];
        size_t bytes = line_make(due->id, due->version, due->is_ok, lines[due->id]);
        char name[8];
        size_t name_bytes = (size_t) snprintf(name, sizeof(name), "%d", due->id);
        bool same;

        if (eddy_sleep(due->wait_ns) < 0 || lines_left-- <= 0)
                return 0;
        if (ed_output_line(due->is_ok ? &unit.sink.output : &unit.sink.errors, lines[due->id],
                           bytes) < 0)
                return 0;
        if (ed_ids_add(unit.sink.ids, name, name_bytes, mark_of(due->id, due->version),
                       due->is_ok ? ED_IDS_ANSWERED : ED_IDS_FAILED, &same) >= 0 &&
            !same)
                ed_ids_set_hash(unit.sink.ids, name, name_bytes, mark_of(due->id, due->version));
        return 0;
}

/* Returns true if the request is sent: it has no answer, or has changed. */
static bool is_sent(int id, int version)
{
        char name[8];
        size_t bytes = (size_t) snprintf(name, sizeof(name), "%d", id);
        bool same;
        int flags =
                ed_ids_add(unit.sink.ids, name, bytes, mark_of(id, version), ED_IDS_READ, &same);

        CHECK(flags >= 0);
        return !(flags & ED_IDS_ANSWERED) || !same;
}

/* Choose the requests to send. Some lines are written together. */
static void dues_make(void)
{
        dues_count = 0;
        for (int id = 0; id < plan->ids; id++) {
                struct due *due = &dues[dues_count];

                *due = (struct due){ .id = id,
                                     .version = 1 + (plan->changed >> id & 1),
                                     .is_ok = !(plan->failing >> id & 1) };
                if (is_sent(id, due->version))
                        due->wait_ns = EDDY_MS(180) * (1 + dues_count++ * 2 / 3);
        }
}

static int lines_write(void *arg)
{
        eddy_scope whole, work;

        (void) arg;
        CHECK_EQ(ed_output_begin(&unit.sink.output), 0);
        CHECK_EQ(ed_output_begin(&unit.sink.errors), 0);
        eddy_scope_begin(&whole, NULL);
        eddy_scope_begin(&work, NULL);
        eddy_scope_start(&whole, ed_checkpoint_sync, &unit);
        for (int i = 0; i < dues_count; i++)
                eddy_scope_start(&work, due_write, &dues[i]);
        CHECK_EQ(eddy_scope_end(&work), 0);
        eddy_scope_cancel(&whole);
        eddy_scope_end(&whole);
        ed_output_end(&unit.sink.output);
        ed_output_end(&unit.sink.errors);
        return 0;
}

/* Check the input. */
static void ids_read(void)
{
        char name[8];

        for (int id = 0; id < plan->ids && plan->is_file; id++)
                CHECK(ed_ids_add(unit.sink.ids, name,
                                 (size_t) snprintf(name, sizeof(name), "%d", id), 0, ED_IDS_READ,
                                 NULL) >= 0);
        unit.checked.total_is_known = plan->is_file;
}

/* Begin a run. Returns its exit code, or 0. */
static int run_open(const struct plan *next)
{
        static const struct ed_batch_paths paths = { .input = "in",
                                                     .output = OUT,
                                                     .errors = ERRORS };
        int code;

        plan = next;
        lines_left = plan->lines_max ? plan->lines_max : IDS;
        unit = (struct ed_batch_unit){ .input = { .fd = -1 }, .run = &run, .paths = &paths };
        unit.input.whole = !plan->lines_max;
        code = ed_checkpoint_open(&unit);
        if (!code) {
                ids_read();
                code = ed_checkpoint_begin(&unit);
                ed_ids_clear(unit.sink.ids, ED_IDS_READ);
        }
        if (!code)
                return 0;
        if (unit.sink.output.fd > 0)
                ed_output_close(&unit.sink.output, false);
        ed_answers_file_close(&unit.sink.answers);
        ed_answers_file_close(&unit.sink.failures);
        ed_ids_free(unit.sink.ids);
        return code;
}

/* Send all, and end. */
static int run_finish(void)
{
        struct eddy_test_result result;
        int code;

        dues_make();
        /* The kit also counts the memory of the disk, which stays. */
        (void) eddy_test_run(lines_write, NULL, NULL, &result);
        if (result.result != 0 || result.left.tasks > 0 || result.left.timers > 0)
                test_fail(__FILE__, __LINE__, "%s", result.problem);
        code = ed_checkpoint_close(&unit, !plan->is_signalled);
        ed_ids_free(unit.sink.ids);
        return code;
}

/* Another program writes to the output. */
static void garbage_add(const struct plan *plan_next)
{
        unsigned which = plan_next->bad_before;
        static char line[LINE_ROOM];
        int fd = open(OUT, O_WRONLY | O_APPEND | O_CLOEXEC);

        CHECK(fd >= 0);
        for (int i = 0; i < GARBAGE; i++)
                if (which >> i & 1)
                        CHECK(write(fd, garbage[i], strlen(garbage[i])) > 0);
        for (int id = 0; id < IDS; id++)
                if (plan_next->strays >> id & 1)
                        CHECK(write(fd, line, line_make(id, 1, false, line)) > 0);
        CHECK_EQ(fsync(fd), 0);
        CHECK(write(fd, "{\"id\":", 6) == 6); /* torn */
        close(fd);
}

/* ---- what the files hold -------------------------------------------------------------------- */

/* Versions of lines by id. 0: none. */
struct held {
        int ok[IDS], failed[IDS];
        int lines[IDS];     /* of the output that are answers */
        bool is_stray[IDS]; /* the output has a failure */
        bool garbage[GARBAGE];
};

/* Returns the version of a whole line, 0 if it is not exactly such a line. */
static int version_of(int id, bool is_ok, const char *data, size_t bytes)
{
        static char line[LINE_ROOM];

        for (int version = VERSIONS; version > 0; version--)
                if (line_make(id, version, is_ok, line) == bytes && memcmp(line, data, bytes) == 0)
                        return version;
        return 0;
}

/*
 * Note the lines of a file. 'is_strict': they are lines of the test, whole, and none is twice in the
 * output.
 */
static void held_add(struct held *held, const char *name, bool is_out, bool is_strict)
{
        const struct ed_disk_node *node = disk_file(name);
        const char *at = node ? node->now.data : NULL, *end = at ? at + node->now.bytes : NULL;
        char room[ED_ANSWER_ID_ROOM];
        struct ed_answer_seen seen;

        while (at < end) {
                const char *feed = memchr(at, '\n', (size_t) (end - at));
                int id = 0, version = 0;

                if (is_strict && !feed)
                        test_fail(__FILE__, __LINE__, "%s: torn end", name);
                if (!feed)
                        return;
                for (int i = 0; i < GARBAGE; i++)
                        held->garbage[i] |= strncmp(at, garbage[i], strlen(garbage[i])) == 0;
                if (ed_answer_read(at, (size_t) (feed - at), room, &seen) == 0) {
                        id = (int) strtol(seen.id, NULL, 10);
                        CHECK(id >= 0 && id < IDS);
                        version = version_of(id, seen.is_ok, at, (size_t) (feed + 1 - at));
                }
                if (is_strict && version == 0)
                        test_fail(__FILE__, __LINE__, "%s: garbage: %.60s", name, at);
                if (version > 0 && is_strict && seen.is_ok && held->ok[id] == version)
                        test_fail(__FILE__, __LINE__, "%s: %d is there twice", name, id);
                if (version > 0 && seen.is_ok && held->ok[id] < version)
                        held->ok[id] = version;
                if (version > 0 && !seen.is_ok && held->failed[id] < version)
                        held->failed[id] = version;
                held->lines[id] += version > 0 && seen.is_ok;
                held->is_stray[id] |= version > 0 && is_out && !seen.is_ok;
                at = feed + 1;
        }
}

static struct held held_read(bool is_strict)
{
        struct held held = { 0 };

        held_add(&held, "/out.jsonl", true, is_strict);
        held_add(&held, "/out.errors.jsonl", false, is_strict);
        return held;
}

/* A change of the disk was made: what a program now takes as being on the disk. */
static void synced_update(struct held *synced, const struct disk_op *op)
{
        struct held held;
        const char *name;

        if (op->kind != DISK_SYNC)
                return;
        name = disk_name(op->node);
        if (!name)
                return;
        held = *synced;
        if (strcmp(name, "out.jsonl") == 0)
                held_add(&held, "/out.jsonl", true, false);
        else if (strcmp(name, "out.errors.jsonl") == 0)
                held_add(&held, "/out.errors.jsonl", false, false);
        *synced = held;
}

/* After the start of a run: nothing that was synced is missing, and nothing else is there. */
static void started_check(const struct held *synced)
{
        struct held held = held_read(true), rejected = { 0 };

        held_add(&rejected, REJECTED, true, false);
        for (int id = 0; id < IDS; id++) {
                bool failed_since = held.failed[id] > synced->ok[id];

                if (held.ok[id] < synced->ok[id] && !failed_since)
                        test_fail(__FILE__, __LINE__, "the answer of %d is lost", id);
                if (synced->failed[id] && !held.failed[id] && !held.ok[id])
                        test_fail(__FILE__, __LINE__, "the failure of %d is lost", id);
        }
        for (int i = 0; i < GARBAGE; i++)
                if (synced->garbage[i] && !rejected.garbage[i])
                        test_fail(__FILE__, __LINE__, "rejected line %d is lost", i);
}

/* After the end of a run: each id has one line, as the plan says. */
static void ended_check(void)
{
        struct held held = held_read(true);

        for (int id = 0; id < plan->ids; id++) {
                int version = 1 + (plan->changed >> id & 1);
                bool is_failing = plan->failing >> id & 1;

                if (held.lines[id] > 1 || held.is_stray[id])
                        test_fail(__FILE__, __LINE__, "%d has %d answers, stray: %d", id,
                                  held.lines[id], held.is_stray[id]);
                /* An answer that was there already is not asked for again. */
                if (held.ok[id] == version && !held.failed[id])
                        continue;
                if (!is_failing || held.ok[id] || held.failed[id] != version)
                        test_fail(__FILE__, __LINE__, "%d has answer %d and failure %d", id,
                                  held.ok[id], held.failed[id]);
        }
}

/* ---- crashes -------------------------------------------------------------------------------- */

static struct disk_log history, again;
static struct held synced[4096]; /* after each change */
static int planned[4096];        /* the plan whose run made the change */
static uint64_t states_count, nested_count, crashes_count;
static struct ed_random random_state = { .state = 1 };

static bool is_full(void)
{
        return test_is_full();
}

/* The disk after 'count' changes of the history, a crash, and one of the states. */
static uint64_t crash_enter(size_t count, uint64_t state)
{
        uint64_t states;

        disk_make();
        disk_replay(&history, count);
        states = disk_crash();
        disk_enter(state);
        return states;
}

/* The next run, after a crash. */
static void recover(const struct plan *next, const struct held *expected)
{
        struct plan whole = *next;

        whole.lines_max = 0;
        CHECK_EQ(run_open(&whole), 0);
        started_check(expected);
        CHECK_EQ(run_finish(), 0);
        CHECK_EQ(disk_open_count(), 0);
        ended_check();
        for (int id = next->ids; id < IDS; id++)
                if (expected->is_stray[id] && !held_read(true).is_stray[id])
                        test_fail(__FILE__, __LINE__,
                                  "the failure of %d, not in the input, is lost", id);
}

/* Returns the i-th of the states to look at: all of a few, else the first, and random ones. */
static uint64_t state_at(uint64_t i, uint64_t states, uint64_t most)
{
        return states <= most || i == 0 ? i : ed_random_next(&random_state) % states;
}

/* Crash in the run that follows a crash, after each of its changes. */
static void crash_twice(size_t count, uint64_t state, const struct plan *next, uint64_t most)
{
        crash_enter(count, state);
        disk_record(&again);
        recover(next, &synced[count]);
        disk_record(NULL);
        for (size_t at = 1; at < again.count; at++) {
                uint64_t states = 1;

                for (uint64_t i = 0; i < states && i < most; i++) {
                        struct held expected = synced[count];

                        crash_enter(count, state);
                        for (size_t j = 0; j < at; j++) {
                                struct disk_log one = { &again.ops[j], 1, 1 };

                                disk_replay(&one, 1);
                                synced_update(&expected, &again.ops[j]);
                        }
                        states = disk_crash();
                        disk_enter(state_at(i, states, most));
                        recover(next, &expected);
                        nested_count++;
                }
        }
        disk_log_free(&again);
}

/* Crash after each change of the history. */
static void crash_everywhere(const struct plan *plans, uint64_t most, uint64_t nested_step)
{
        for (size_t at = 0; at <= history.count; at++) {
                const struct plan *next = &plans[planned[at]];
                uint64_t states = 1;

                for (uint64_t i = 0; i < states && i < most; i++) {
                        uint64_t state;

                        states = crash_enter(at, 0);
                        state = state_at(i, states, most);
                        disk_enter(state);
                        recover(next, &synced[at]);
                        if (states_count++ % nested_step == 0)
                                crash_twice(at, state, next, is_full() ? 3 : 1);
                }
                crashes_count++;
        }
}

/* Make the history of some runs, one after the other, and what each change has synced. */
static void history_make(const struct plan *plans, int count)
{
        struct held held = { 0 };

        disk_make();
        disk_record(&history);
        for (int i = 0; i < count; i++) {
                size_t from = history.count;

                if (plans[i].bad_before || plans[i].strays)
                        garbage_add(&plans[i]);
                CHECK_EQ(run_open(&plans[i]), 0);
                CHECK_EQ(run_finish(), 0);
                CHECK_EQ(disk_open_count(), 0);
                if (!plans[i].lines_max)
                        ended_check();
                for (size_t at = from; at <= history.count; at++)
                        planned[at] = i;
        }
        disk_record(NULL);
        disk_make();
        for (size_t at = 0; at < history.count; at++) {
                struct disk_log one = { &history.ops[at], 1, 1 };

                disk_replay(&one, 1);
                synced_update(&held, &history.ops[at]);
                synced[at + 1] = held;
        }
}

static void survives_all(const struct plan *plans, int count)
{
        history_make(plans, count);
        crash_everywhere(plans, is_full() ? 9000 : 15, 200);
        printf("# %zu changes, %llu states, and %llu of a crash in the run after a crash\n",
               history.count, (unsigned long long) states_count, (unsigned long long) nested_count);
        CHECK(history.count > 10 && states_count > history.count && nested_count > 0);
        disk_log_free(&history);
}

TEST(crash_of_the_first_run_loses_no_synced_answer)
{
        static const struct plan plans[] = { { .ids = IDS, .failing = 0x124 } };

        survives_all(plans, 1);
}

TEST(crash_of_a_run_that_retries_failures_loses_neither_answer_nor_failure)
{
        static const struct plan plans[] = { { .ids = 8, .failing = 0x36 },
                                             { .ids = IDS, .failing = 0x424 },
                                             { .ids = IDS } };

        survives_all(plans, 3);
}

TEST(crash_after_an_interrupted_run_loses_neither_answer_nor_failure)
{
        static const struct plan plans[] = { { .ids = IDS, .failing = 0x36, .lines_max = 7 },
                                             { .ids = IDS, .lines_max = 4, .is_signalled = true },
                                             { .ids = IDS, .is_signalled = true } };

        survives_all(plans, 3);
}

TEST(crash_while_changed_requests_are_sent_again_leaves_one_answer_of_each)
{
        static const struct plan plans[] = {
                { .ids = 8 },
                { .ids = 8, .changed = 0xaa, .failing = 0x20 },
                { .ids = 8, .changed = 0xff, .failing = 0x10, .is_signalled = true },
        };

        survives_all(plans, 3);
}

TEST(crash_during_the_repair_of_damage_loses_no_line)
{
        static const struct plan plans[] = { { .ids = 6, .failing = 0x4 },
                                             { .ids = 8, .bad_before = 0x1 },
                                             { .ids = IDS, .bad_before = 0x3 } };

        survives_all(plans, 3);
}

/* Another program has put failures of ids into the output, of the input and others. */
TEST(crash_while_failures_move_to_the_errors_file_loses_none)
{
        static const struct plan plans[] = {
                { .ids = 6, .failing = 0x4, .is_file = true },
                { .ids = 8, .failing = 0x44, .strays = 0xc6a, .bad_before = 0x1, .is_file = true },
                { .ids = 9, .failing = 0x2, .strays = 0x280, .is_file = true },
        };

        survives_all(plans, 3);
}

TEST(crash_while_failures_move_after_a_run_from_a_pipe_loses_none)
{
        static const struct plan plans[] = {
                { .ids = 6, .failing = 0x4 },
                { .ids = 8, .failing = 0x44, .strays = 0xc6a, .bad_before = 0x1 },
                { .ids = 9, .failing = 0x2, .strays = 0x280, .changed = 0x11 },
        };

        survives_all(plans, 3);
}

/* ---- failed calls --------------------------------------------------------------------------- */

/* Returns true if the program ends such a run with the exit code of a failed output. */
static bool run_failed(int code)
{
        return code == ED_EXIT_OUTPUT || unit.sink.output.err < 0 ||
               unit.sink.output.save_err < 0 || unit.sink.errors.err < 0 ||
               unit.sink.errors.save_err < 0;
}

/*
 * A run of which a call fails, after the others. Returns false if the call was not reached. 'crash':
 * the machine crashes after the run.
 */
static bool failed_run(const struct plan *plans, int count, long call, int error, bool forever,
                       bool crash)
{
        struct held held = { 0 };
        int code, failed;

        disk_make();
        for (int i = 0; i < count - 1; i++) {
                CHECK_EQ(run_open(&plans[i]), 0);
                CHECK_EQ(run_finish(), 0);
        }
        held = held_read(true);
        disk_fail(call, error, forever);
        code = run_open(&plans[count - 1]);
        if (code == 0)
                code = run_finish();
        failed = disk_failed();
        disk_fail(-1, 0, false);
        CHECK_EQ(disk_open_count(), 0);
        if (failed & (1 << DISK_WRITE | 1 << DISK_SYNC | 1 << DISK_TRUNCATE | 1 << DISK_RENAME) &&
            !run_failed(code))
                test_fail(__FILE__, __LINE__, "call %ld: error %d was not reported", call, error);
        if (crash) {
                uint64_t states = disk_crash();

                disk_enter(states > 1 ? ed_random_next(&random_state) % states : 0);
        }
        recover(&plans[count - 1], &held);
        return failed != 0;
}

static void failures_survived(const struct plan *plans, int count)
{
        static const struct {
                int error;
                bool forever;
        } faults[] = {
                { ENOSPC, true }, { ENOSPC, false }, { EIO, false }, { EIO, true }, { EROFS, true }
        };
        long call;

        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
                for (int crash = 0; crash < 2; crash++) {
                        for (call = 0; failed_run(plans, count, call, faults[i].error,
                                                  faults[i].forever, crash);
                             call++)
                                continue;
                        CHECK(call > 10);
                }
        printf("# %ld calls\n", call);
}

TEST(failed_call_is_reported_and_the_next_run_completes)
{
        static const struct plan first[] = { { .ids = IDS, .failing = 0x124 } };
        static const struct plan retried[] = { { .ids = 8, .failing = 0x36 },
                                               { .ids = IDS, .failing = 0x424 } };
        static const struct plan changed[] = { { .ids = 8 },
                                               { .ids = 8, .changed = 0xaa, .failing = 0x20 } };

        failures_survived(first, 1);
        failures_survived(retried, 2);
        failures_survived(changed, 2);
}

/* The lines of the errors file took the last room, and their ids have answers. */
TEST(old_failures_are_dropped_on_a_full_disk_before_an_answer_is_written)
{
        static const struct plan plans[] = { { .ids = IDS, .failing = 0xfff }, { .ids = IDS } };
        struct disk_log log = { 0 };
        int writes = 0;

        disk_make();
        CHECK_EQ(run_open(&plans[0]), 0);
        CHECK_EQ(run_finish(), 0);
        /* A run that was killed before it cleaned the errors file. */
        CHECK_EQ(run_open(&plans[1]), 0);
        dues_make();
        (void) eddy_test_run(lines_write, NULL, NULL, &(struct eddy_test_result){ 0 });
        ed_output_close(&unit.sink.output, false);
        ed_output_close(&unit.sink.errors, false);
        ed_answers_file_close(&unit.sink.answers);
        ed_answers_file_close(&unit.sink.failures);
        ed_ids_free(unit.sink.ids);
        CHECK(disk_file("/out.errors.jsonl")->now.bytes > 0);

        disk_record(&log);
        CHECK_EQ(run_open(&plans[1]), 0);
        CHECK_EQ(disk_file("/out.errors.jsonl")->now.bytes, 0);
        CHECK_EQ(run_finish(), 0);
        ended_check();
        CHECK(!disk_file("/out.errors.jsonl"));
        for (size_t i = 0; i < log.count; i++)
                writes += log.ops[i].kind == DISK_WRITE || log.ops[i].kind == DISK_MAKE;
        CHECK_EQ(writes, 0);
        disk_log_free(&log);
}

/* ---- a file that is replaced ---------------------------------------------------------------- */

enum { SORTED_BYTES = 9000 };

static void sorted_write(char c)
{
        struct ed_replace replace;
        char text[SORTED_BYTES];

        memset(text, c, sizeof(text));
        CHECK_EQ(ed_replace_begin(&replace, DISK_FOLDER "/sorted"), 0);
        for (size_t at = 0; at < sizeof(text); at += sizeof(text) / 3)
                CHECK_EQ(write(replace.fd, text + at, sizeof(text) / 3), sizeof(text) / 3);
        CHECK_EQ(ed_replace_commit(&replace), 0);
        ed_replace_end(&replace);
}

/* Returns the letter that the file is full of. */
static char sorted_read(void)
{
        const struct ed_disk_node *node = disk_file("/sorted");

        CHECK(node && node->now.bytes == SORTED_BYTES);
        for (size_t i = 0; i < SORTED_BYTES; i++)
                CHECK_EQ(node->now.data[i], node->now.data[0]);
        return node->now.data[0];
}

TEST(crash_while_a_file_is_replaced_leaves_the_old_one_or_the_new_one)
{
        size_t old;

        disk_make();
        disk_record(&history);
        sorted_write('a');
        old = history.count;
        sorted_write('b');
        disk_record(NULL);
        for (size_t at = old; at <= history.count; at++) {
                uint64_t states = 1;

                for (uint64_t state = 0; state < states; state++) {
                        char c;

                        states = crash_enter(at, state);
                        c = sorted_read();
                        CHECK(c == 'b' || (c == 'a' && at < history.count));
                        sorted_write('c');
                        CHECK_EQ(sorted_read(), 'c');
                        states_count++;
                }
        }
        printf("# %llu states\n", (unsigned long long) states_count);
        CHECK(states_count > 50);
        disk_log_free(&history);
}
