/*
 * test_uuid.c - identifiers: their bits, their order, their text, and that a run on the simulated
 * table repeats them.
 */
#include "sim_run.h"

static void check_bits(const struct eddy_uuid *uuid, int version)
{
        CHECK_EQ(uuid->bytes[6] >> 4, version);
        CHECK_EQ(uuid->bytes[8] >> 6, 2);
}

static int64_t ms_of(const struct eddy_uuid *uuid)
{
        int64_t ms = 0;

        for (int i = 0; i < 6; i++)
                ms = ms << 8 | uuid->bytes[i];
        return ms;
}

static int compare(const struct eddy_uuid *a, const struct eddy_uuid *b)
{
        return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* ---- making ---------------------------------------------------------------- */

enum { MANY = 1000 };

/* Each of the 122 bits is 0 and 1 among many; the other six never change. */
static int make_random(void *arg)
{
        struct eddy_uuid zeros = { { 0 } }, ones = { { 0 } };

        (void) arg;
        for (int i = 0; i < MANY; i++) {
                struct eddy_uuid uuid;

                eddy_uuid_v4(&uuid);
                check_bits(&uuid, 4);
                for (int at = 0; at < 16; at++) {
                        zeros.bytes[at] |= (uint8_t) ~uuid.bytes[at];
                        ones.bytes[at] |= uuid.bytes[at];
                }
        }
        for (int at = 0; at < 16; at++) {
                uint8_t fixed = at == 6 ? 0xf0 : at == 8 ? 0xc0 : 0;

                CHECK_EQ(zeros.bytes[at] & ones.bytes[at], (uint8_t) ~fixed);
        }
        return 0;
}

TEST(version_4_has_122_random_bits)
{
        CHECK_EQ(sim_run_with(make_random, NULL, 7, (struct eddy_run_opts){ 0 }), 0);
        CHECK_EQ(eddy_run(make_random, NULL, NULL), 0);
        CHECK_EQ(make_random(NULL), 0); /* without a loop */
}

SIM_TEST(version_7_begins_with_the_time_of_day_in_steps_of_244_ns)
{
        struct eddy_uuid uuid;
        int64_t before_ns, after_ns, steps;

        CHECK_EQ(eddy_sleep(EDDY_US(1234)), 0);
        before_ns = eddy_time_of_day();
        eddy_uuid_v7(&uuid);
        after_ns = eddy_time_of_day();
        check_bits(&uuid, 7);
        CHECK(ms_of(&uuid) >= before_ns / MS && ms_of(&uuid) <= after_ns / MS);
        steps = (uuid.bytes[6] & 15) << 8 | uuid.bytes[7];
        CHECK_EQ(steps, before_ns % MS * 4096 / MS);
}

static int make_in_order(void *arg)
{
        struct eddy_uuid last = { { 0 } }, uuid;
        int64_t first_ms;

        (void) arg;
        eddy_uuid_v7(&uuid);
        first_ms = ms_of(&uuid);
        for (int i = 0; i < 10 * MANY; i++) {
                eddy_uuid_v7(&uuid);
                check_bits(&uuid, 7);
                CHECK(compare(&last, &uuid) < 0);
                last = uuid;
        }
        CHECK(ms_of(&last) - first_ms < 60000);
        return 0;
}

TEST(version_7_is_in_order_within_a_loop)
{
        CHECK_EQ(sim_run(make_in_order, NULL), 0); /* the clock does not move meanwhile */
        CHECK_EQ(eddy_run(make_in_order, NULL, NULL), 0);
}

static int64_t (*real_time)(struct ed_sys *sys);
static int64_t moved_ns;

static int64_t moved_time(struct ed_sys *sys)
{
        return real_time(sys) + moved_ns;
}

static int64_t time_before_1970(struct ed_sys *sys)
{
        (void) sys;
        return -1;
}

SIM_TEST(version_7_stays_in_order_after_the_clock_was_set_back)
{
        struct ed_sys *sys = ed_loop_current->sys;
        struct ed_sys_poll poll = *sys->poll;
        const struct ed_sys_poll *kept = sys->poll;
        struct eddy_uuid before, after, later;

        eddy_uuid_v7(&before);
        real_time = poll.time_of_day;
        poll.time_of_day = moved_time;
        sys->poll = &poll;
        moved_ns = -EDDY_SEC(3600);
        eddy_uuid_v7(&after);
        CHECK(compare(&before, &after) < 0);
        CHECK_EQ(ms_of(&before), ms_of(&after));
        moved_ns = EDDY_SEC(3600);
        eddy_uuid_v7(&later);
        CHECK(ms_of(&later) >= ms_of(&before) + 3600000);
        poll.time_of_day = time_before_1970;
        eddy_uuid_v7(&after);
        CHECK(compare(&later, &after) < 0);
        sys->poll = kept;
}

struct made {
        struct eddy_uuid uuids[4];
};

static int make_some(void *arg)
{
        struct made *made = arg;

        eddy_uuid_v4(&made->uuids[0]);
        eddy_uuid_v7(&made->uuids[1]);
        eddy_uuid_v7(&made->uuids[2]);
        eddy_uuid_v4(&made->uuids[3]);
        return 0;
}

TEST(a_seed_repeats_its_identifiers_and_another_seed_does_not)
{
        const struct eddy_run_opts opts = { 0 };
        struct made first, second, other;

        CHECK_EQ(sim_run_with(make_some, &first, 5, opts), 0);
        CHECK_EQ(sim_run_with(make_some, &second, 5, opts), 0);
        CHECK_EQ(sim_run_with(make_some, &other, 6, opts), 0);
        CHECK(memcmp(&first, &second, sizeof(first)) == 0);
        for (int i = 0; i < 4; i++)
                CHECK(compare(&first.uuids[i], &other.uuids[i]) != 0);
}

/* ---- the text -------------------------------------------------------------- */

static void check_refused(const char *text, size_t bytes)
{
        struct eddy_uuid uuid = { { 42 } };

        if (eddy_uuid_parse(text, bytes, &uuid) != -EINVAL)
                test_fail(__FILE__, __LINE__, "'%s' was read", text);
        CHECK_EQ(uuid.bytes[0], 42);
}

/* RFC 9562, appendix A, and the nil and the max of 5.9 and 5.10. */
TEST(texts_are_read_and_written_back_in_lower_case)
{
        static const char *const texts[] = {
                "c232ab00-9414-11ec-b3c8-9f6bdeced846", "5df41881-3aed-3515-88a7-2f4a814cf09e",
                "919108f7-52d1-4320-9bac-f847db4148a8", "2ed6657d-e927-568b-95e1-2665a8aea6a2",
                "1ec9414c-232a-6b00-b3c8-9f6bdeced846", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                char upper[EDDY_UUID_TEXT_BYTES], text[EDDY_UUID_TEXT_BYTES];
                struct eddy_uuid uuid, same;

                for (size_t at = 0; at <= EDDY_UUID_TEXT_BYTES - 1; at++)
                        upper[at] = texts[i][at] >= 'a' ? (char) (texts[i][at] - 32) : texts[i][at];
                CHECK_EQ(eddy_uuid_parse(texts[i], EDDY_UUID_TEXT_BYTES - 1, &uuid), 0);
                CHECK_EQ(eddy_uuid_parse(upper, EDDY_UUID_TEXT_BYTES - 1, &same), 0);
                CHECK(compare(&uuid, &same) == 0);
                eddy_uuid_format(&uuid, text);
                CHECK_STR(text, texts[i]);
        }
}

TEST(other_texts_are_refused)
{
        static const char text[] = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f-0";
        char changed[EDDY_UUID_TEXT_BYTES];

        for (size_t bytes = 0; bytes < sizeof(text); bytes++)
                if (bytes != EDDY_UUID_TEXT_BYTES - 1)
                        check_refused(text, bytes);
        for (size_t at = 0; at < EDDY_UUID_TEXT_BYTES - 1; at++)
                for (int c = 0; c < 256; c++) {
                        int is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
                                       (c >= 'A' && c <= 'F');
                        struct eddy_uuid uuid;

                        memcpy(changed, text, EDDY_UUID_TEXT_BYTES - 1);
                        changed[EDDY_UUID_TEXT_BYTES - 1] = '\0';
                        changed[at] = (char) c;
                        if (text[at] == '-' ? c == '-' : is_digit)
                                CHECK_EQ(eddy_uuid_parse(changed, EDDY_UUID_TEXT_BYTES - 1, &uuid),
                                         0);
                        else
                                check_refused(changed, EDDY_UUID_TEXT_BYTES - 1);
                }
        check_refused("{17f22e2-79b0-7cc3-98c4-dc0c0c07398}", EDDY_UUID_TEXT_BYTES - 1);
        check_refused("017f22e2079b007cc3098c40dc0c0c07398f", EDDY_UUID_TEXT_BYTES - 1);
}
