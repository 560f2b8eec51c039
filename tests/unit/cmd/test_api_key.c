/*
 * test_api_key.c - when API keys are replaced, and what a 401 means. On the simulated clock.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/api_key.h"
#include "eddy/test.h"
#include "eddy/time.h"

static struct ed_api_keys keys;
static char why[ED_API_KEY_WHY_BYTES];
static char folder[] = "/tmp/eddy-test-key-XXXXXX", path[sizeof(folder) + 8];

static void keys_make(enum ed_api_key_kind kind, const char *text)
{
        ed_api_keys_fini(&keys);
        keys.kind = kind;
        keys.from = "of the test";
        CHECK_EQ(ed_api_keys_set(&keys, text, strlen(text), why), 0);
}

static eddy_task_fn *main_fn;

static int main_whole(void *arg)
{
        int err = main_fn(arg);

        ed_api_keys_fini(&keys);
        return err;
}

static void run(eddy_task_fn *fn)
{
        struct eddy_test_result result;

        main_fn = fn;
        CHECK_EQ(eddy_test_run(main_whole, NULL, NULL, &result), 0);
}

static bool has_value(unsigned number, const char *value, uint32_t generation)
{
        uint32_t got;

        return strcmp(ed_api_key_value(&keys, number, &got), value) == 0 && got == generation;
}

TEST(texts_with_keys_are_read_and_others_have_a_reason)
{
        static const struct {
                enum ed_api_key_kind kind;
                const char *text, *why;
        } bad[] = {
                { ED_API_KEY_FIXED, "", "it is empty" },
                { ED_API_KEY_FIXED, " \n", "it is empty" },
                { ED_API_KEY_FIXED, "a\nb", "it cannot be a header's value" },
                { ED_API_KEY_FILE, "", "it is empty" },
                { ED_API_KEY_FILE, "# a\n\n", "it is empty" },
                { ED_API_KEY_FILE, "a\x01\n", "it cannot be a header's value" },
                { ED_API_KEY_FILE, "a\n\nb\x7f\n", "line 3: it cannot be a header's value" },
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                ed_api_keys_fini(&keys);
                keys.kind = bad[i].kind;
                CHECK_EQ(ed_api_keys_set(&keys, bad[i].text, strlen(bad[i].text), why), -EINVAL);
                CHECK_STR(why, bad[i].why);
        }
        keys_make(ED_API_KEY_FIXED, "#a b \r\n");
        CHECK(keys.count == 1 && has_value(1, "#a b", 1));
        keys_make(ED_API_KEY_FILE, "#x\na\nb\na\n\nc");
        CHECK(keys.count == 3 && has_value(1, "a", 1) && has_value(2, "b", 1));
        CHECK(ed_api_keys_are_in(&keys, "the b", 5) && !ed_api_keys_are_in(&keys, "x", 1));
        ed_api_keys_fini(&keys);
}

/* ---- 401 ------------------------------------------------------------------------------------- */

static enum ed_api_key_verdict refused(uint32_t generation, unsigned refusals)
{
        return ed_api_key_refused(&keys, 1, generation, refusals, false);
}

/* A command has printed another value, as far as this can be without one. */
static void refresh(void)
{
        CHECK(keys.items[0].is_due);
        keys.items[0].is_due = keys.items[0].was_refused = keys.items[0].has_helped = false;
        keys.items[0].generation++;
}

static int fixed_main(void *arg)
{
        (void) arg;
        keys_make(ED_API_KEY_FIXED, "k");
        ed_api_key_accepted(&keys, 1, 1, 0);
        for (int i = 0; i < 10; i++)
                CHECK_EQ(refused(1, 0), ED_API_KEY_ANSWER);
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
        return 0;
}

TEST(key_that_cannot_change_makes_a_401_an_answer)
{
        run(fixed_main);
}

static int once_main(void *arg)
{
        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        ed_api_key_accepted(&keys, 1, 1, 0);
        CHECK_EQ(refused(1, 0), ED_API_KEY_REPEAT);
        for (int i = 0; i < 63; i++)
                CHECK_EQ(refused(1, 0), ED_API_KEY_STALE);
        CHECK_EQ(keys.items[0].due_ns, eddy_now());
        refresh();
        /* Those that come late are about the old value. */
        CHECK_EQ(refused(1, 0), ED_API_KEY_STALE);
        CHECK(!keys.items[0].is_due);
        return 0;
}

TEST(one_401_of_many_refreshes_the_key_at_once)
{
        run(once_main);
}

static int useless_main(void *arg)
{
        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        for (uint32_t i = 0; i < 3; i++) {
                CHECK_EQ(refused(i + 1, i), ED_API_KEY_REPEAT);
                CHECK_EQ(keys.items[0].due_ns - eddy_now(), EDDY_SEC(i == 2 ? 3 : i));
                refresh();
        }
        CHECK_EQ(refused(4, 3), ED_API_KEY_USELESS);
        CHECK_EQ(refused(4, 0), ED_API_KEY_USELESS);
        return 0;
}

TEST(three_refreshes_in_a_row_that_do_not_help_are_the_end)
{
        run(useless_main);
}

static int helpful_main(void *arg)
{
        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        for (uint32_t i = 0; i < 20; i++) {
                CHECK_EQ(refused(i + 1, 0), ED_API_KEY_REPEAT);
                refresh();
                if (i % 3 == 2)
                        ed_api_key_accepted(&keys, 1, i + 2, 1);
        }
        return 0;
}

TEST(refresh_that_helps_begins_the_count_again)
{
        run(helpful_main);
}

static int stubborn_main(void *arg)
{
        uint32_t generation = 1;

        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        /* Three requests are refused whatever key they have; all others are accepted. */
        for (int request = 0; request < 3; request++) {
                for (unsigned refusals = 0; refusals < 3; refusals++) {
                        ed_api_key_accepted(&keys, 1, generation, 0);
                        CHECK_EQ(refused(generation++, refusals), ED_API_KEY_REPEAT);
                        refresh();
                }
                ed_api_key_accepted(&keys, 1, generation, 0);
                CHECK_EQ(refused(generation, 3), ED_API_KEY_ANSWER);
        }
        /* More of them cost no more keys. */
        for (int i = 0; i < 100; i++) {
                ed_api_key_accepted(&keys, 1, generation, 0);
                CHECK_EQ(refused(generation, 0), ED_API_KEY_ANSWER);
        }
        /* When nothing is accepted any more, it is the key. */
        ed_api_key_accepted(&keys, 1, generation, 0);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(refused(generation, 0), ED_API_KEY_ANSWER);
        CHECK_EQ(refused(generation++, 0), ED_API_KEY_REPEAT);
        refresh();
        /* A repeated request was accepted: a refusal is about the key again. */
        ed_api_key_accepted(&keys, 1, generation, 1);
        CHECK_EQ(refused(generation, 0), ED_API_KEY_REPEAT);
        return 0;
}

TEST(requests_that_no_key_helps_get_their_401_and_cost_few_refreshes)
{
        run(stubborn_main);
}

static int alone_main(void *arg)
{
        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        ed_api_key_accepted(&keys, 1, 1, 0);
        for (uint32_t i = 0; i < 3; i++) {
                CHECK_EQ(refused(i + 1, i), ED_API_KEY_REPEAT);
                refresh();
        }
        /* One at a time: the next request shows whether it is the key. */
        CHECK_EQ(refused(4, 3), ED_API_KEY_ANSWER);
        CHECK_EQ(refused(4, 0), ED_API_KEY_USELESS);
        ed_api_key_accepted(&keys, 1, 4, 0);
        CHECK_EQ(refused(4, 0), ED_API_KEY_REPEAT);
        return 0;
}

TEST(request_that_is_refused_alone_gets_its_401_and_the_next_one_decides)
{
        run(alone_main);
}

static int earlier_main(void *arg)
{
        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        for (uint32_t i = 0; i < 3; i++) {
                CHECK_EQ(ed_api_key_refused(&keys, 1, i + 1, i, true), ED_API_KEY_REPEAT);
                refresh();
        }
        /* Nothing was accepted in this run, and the others of this kind cost no more keys. */
        for (int i = 0; i < 100; i++)
                CHECK_EQ(ed_api_key_refused(&keys, 1, 4, 0, true), ED_API_KEY_ANSWER);
        CHECK_EQ(refused(4, 0), ED_API_KEY_USELESS);
        return 0;
}

TEST(requests_with_a_401_of_an_earlier_run_get_it_again)
{
        run(earlier_main);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int failing_main(void *arg)
{
        struct ed_api_key *key = &keys.items[0];

        /* Programs cannot be run on the simulated clock, so the command always fails. */
        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        key->refresh_wall_ns = 0;
        key->end_wall_ns = INT64_MAX;
        for (uint32_t i = 1; i < 10; i++) {
                int64_t now_ns = eddy_time_of_day();

                CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
                CHECK(has_value(1, "k", 1) && key->failures == i);
                CHECK(key->refresh_wall_ns >= now_ns + EDDY_SEC(i < 6 ? 1 << (i - 1) : 32));
                CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
                CHECK_EQ(key->failures, i); /* not tried again yet */
                key->refresh_wall_ns = 0;
        }
        CHECK_EQ(keys.refreshes, 0);
        /* It is tried again at the end of the key's life at the latest, and then it has to succeed. */
        key->end_wall_ns = eddy_time_of_day() + EDDY_MIN(1) / 4;
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
        CHECK_EQ(key->refresh_wall_ns, key->end_wall_ns);
        key->refresh_wall_ns = key->end_wall_ns = 0;
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), -EINVAL);
        return 0;
}

TEST(command_that_fails_is_tried_again_while_the_key_lives)
{
        run(failing_main);
}

static int refused_main(void *arg)
{
        (void) arg;
        keys_make(ED_API_KEY_COMMAND, "k");
        ed_api_key_accepted(&keys, 1, 1, 0);
        CHECK_EQ(refused(1, 0), ED_API_KEY_REPEAT);
        ed_api_key_accepted(&keys, 1, 1, 0); /* after the 401, which was about a request */
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
        keys.items[0].refresh_wall_ns = INT64_MAX;
        CHECK_EQ(refused(1, 0), ED_API_KEY_REPEAT);
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), -EINVAL);
        return 0;
}

TEST(command_that_fails_after_a_401_is_the_end_unless_the_key_is_still_accepted)
{
        run(refused_main);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void file_write(const char *text)
{
        FILE *file = fopen(path, "w");

        CHECK(file != NULL);
        CHECK_EQ(fwrite(text, 1, strlen(text), file), strlen(text));
        CHECK_EQ(fclose(file), 0);
}

static void file_make(const char *text)
{
        memset(folder + sizeof(folder) - 7, 'X', 6);
        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/key", folder);
        file_write(text);
        keys_make(ED_API_KEY_FILE, text);
        keys.from = path;
        CHECK(ed_watched_file_look(path, &keys.file));
        CHECK(!ed_watched_file_look(path, &keys.file));
}

static void file_remove(void)
{
        unlink(path);
        CHECK_EQ(rmdir(folder), 0);
}

/* Wait until the file is looked at again. */
static void wait_looked(void)
{
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
}

static int file_main(void *arg)
{
        (void) arg;
        file_make("one\n");
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
        file_write("second\n");
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
        CHECK(has_value(1, "one", 1)); /* at most once a second */
        wait_looked();
        CHECK(has_value(1, "second", 2));
        CHECK(ed_api_keys_are_in(&keys, "one", 3)); /* the old value is not shown either */
        /* A file that cannot be used keeps the key, and is said once. */
        file_write("");
        wait_looked();
        CHECK(has_value(1, "second", 2) && keys.fault_was_said);
        CHECK_EQ(unlink(path), 0);
        wait_looked();
        CHECK(has_value(1, "second", 2) && keys.fault_was_said);
        file_write("third\n");
        wait_looked();
        CHECK(has_value(1, "third", 3) && !keys.fault_was_said);
        file_remove();
        return 0;
}

TEST(file_is_read_again_when_it_changes_and_a_bad_one_keeps_the_key)
{
        run(file_main);
}

static int wrong_main(void *arg)
{
        (void) arg;
        file_make("wrong\n");
        CHECK_EQ(refused(1, 0), ED_API_KEY_ANSWER);
        file_write("right\n");
        CHECK_EQ(refused(1, 0), ED_API_KEY_STALE);
        CHECK(has_value(1, "right", 2));
        ed_api_key_accepted(&keys, 1, 2, 0);
        /* Nothing has changed: the same value has another chance. */
        CHECK_EQ(refused(2, 0), ED_API_KEY_REPEAT);
        CHECK_EQ(ed_api_key_wait(&keys, 1, why), 0);
        CHECK(has_value(1, "right", 3));
        file_remove();
        return 0;
}

TEST(first_key_of_a_file_that_is_refused_is_wrong_until_the_file_changes)
{
        run(wrong_main);
}

static int several_main(void *arg)
{
        (void) arg;
        file_make("a\nb\nc\n");
        /* Keys that stay keep their numbers; a new one takes the place of one that has gone. */
        file_write("c\nd\na\n");
        wait_looked();
        CHECK(has_value(1, "a", 1) && has_value(2, "d", 2) && has_value(3, "c", 1));
        file_write("c\n");
        wait_looked();
        CHECK(keys.items[0].is_gone && keys.items[1].is_gone && !keys.items[2].is_gone);
        file_write("e\nc\na\nf\n");
        wait_looked();
        CHECK(!keys.items[0].is_gone && has_value(1, "a", 1));
        CHECK(!keys.items[1].is_gone && has_value(2, "e", 3));
        CHECK(keys.count == 3 && keys.extra_was_said);
        file_remove();
        return 0;
}

TEST(several_keys_of_a_file_keep_their_places_when_it_changes)
{
        run(several_main);
}
