/*
 * test_clock.c - the time between two readings of the clock: never before now,
 * after it by no more than was said, whatever the counter and the clock do.
 *
 * The counter is the processor's.  The clock is made from it, so that it can
 * run as fast as a case wants, and all of this takes no time.
 */
#include "loop/clock.h"

#include "test.h"

enum { ROUNDS = 20000 };

static struct {
        uint64_t from_ticks;
        int64_t from_ns;
        int64_t ns_per_1024_ticks;
        long readings;
} fake;

static int64_t fake_ns(uint64_t ticks)
{
        return fake.from_ns + (int64_t) (ticks - fake.from_ticks) * fake.ns_per_1024_ticks / 1024;
}

static int64_t fake_now(struct ed_sys *sys)
{
        (void) sys;
        fake.readings++;
        return fake_ns(ed_ticks());
}

static const struct ed_sys_ops fake_ops = { .now = fake_now };
static struct ed_sys fake_sys = { .ops = &fake_ops, .clock_source = ED_TICKS_SOURCE };
static struct ed_clock fake_clock;

/* From now on the clock runs so fast; it does not jump. */
static void run_at(int64_t ns_per_1024_ticks)
{
        uint64_t ticks = ed_ticks();

        fake.from_ns = fake_ns(ticks);
        fake.from_ticks = ticks;
        fake.ns_per_1024_ticks = ns_per_1024_ticks;
}

/* Until a tick has been measured. */
static void start_at(int64_t ns_per_1024_ticks)
{
        fake.from_ns = 1000000007;
        run_at(ns_per_1024_ticks);
        ed_clock_init(&fake_clock, &fake_sys);
        while (!fake_clock.fresh_ticks)
                (void) ed_clock_not_before(&fake_clock, &fake_sys);
        fake.readings = 0;
}

/* One reading, between two of the clock itself; those do not count. */
static void look(void)
{
        int64_t before = fake_ns(ed_ticks()), at, after;

        at = ed_clock_not_before(&fake_clock, &fake_sys);
        after = fake_ns(ed_ticks());
        CHECK(at >= before);
        CHECK(at <= after + ED_CLOCK_FRESH_NS);
}

static void look_often(void)
{
        for (int i = 0; i < ROUNDS; i++)
                look();
}

TEST(the_time_is_not_before_now_and_not_long_after)
{
        static const int64_t rates[] = { 40 * 1024, 10000, 1024, 394, 40 };

        for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
                start_at(rates[i]);
                look_often();
        }
}

/* Ticks of 40/1024 ns; the clock is read with 'phase' of 1024 of a nanosecond gone. */
static void look_from_phase(int64_t phase)
{
        struct ed_clock clock = { .tick_length = ((uint64_t) 40 << ED_CLOCK_BITS) / 1024 };

        for (int64_t ticks = 0; ticks < 200; ticks++)
                CHECK(ed_clock_at(&clock, (uint64_t) ticks) >= (phase + 40 * ticks) / 1024);
}

TEST(the_nanosecond_that_had_begun_at_the_reading_counts)
{
        for (int64_t phase = 0; phase < 1024; phase++)
                look_from_phase(phase);
}

/* A reading is good for so many ticks, which on a slow machine are few looks. */
TEST(the_clock_is_not_read_each_time)
{
        uint64_t begin_ticks, readings;

        /* 16 us are more than 400,000 ticks. */
        start_at(40);
        begin_ticks = ed_ticks();
        look_often();
        readings = (ed_ticks() - begin_ticks) / (fake_clock.fresh_ticks / 4 * 3) + 2;
        CHECK(fake.readings <= (long) readings);
}

TEST(a_clock_that_is_being_set_right_makes_no_time_early)
{
        for (int i = 0; i < 20; i++) {
                start_at(1200);
                run_at(1200 * 13 / 12);
                look_often();
                run_at(1200 * 11 / 12);
                look_often();
        }
}

/* Each step is within the eighth; all of them are not. */
TEST(a_clock_that_goes_faster_and_faster_is_measured_again_and_again)
{
        start_at(40 * 1024);
        for (int rate = 44; rate <= 60; rate += 4) {
                int measured = 0;

                /* The first time over a while in which the clock was slower too. */
                run_at(rate * 1024);
                while (measured < 3) {
                        uint64_t begin_ticks = fake_clock.begin_ticks;

                        look();
                        measured += fake_clock.begin_ticks != begin_ticks;
                }
        }
}

/*
 * The counter goes on by 'ticks' and the clock does not.  It cannot be moved;
 * what was read of it is moved back.
 */
static void sleep_for(uint64_t ticks)
{
        fake_clock.ticks -= ticks;
        fake_clock.begin_ticks -= ticks;
}

TEST(a_machine_that_slept_takes_no_tick_for_too_short)
{
        for (int i = 0; i < 10; i++) {
                start_at(40 * 1024);
                for (int round = 0; round < 5; round++) {
                        sleep_for((uint64_t) 1 << (30 + round));
                        look_often();
                }
        }
}

/* Nor when it slept before the first measurement, which then is all nonsense. */
TEST(one_measurement_is_not_believed)
{
        fake.from_ns = 1000000007;
        run_at(40 * 1024);
        ed_clock_init(&fake_clock, &fake_sys);
        sleep_for((uint64_t) 1 << 30);
        while (!fake_clock.fresh_ticks)
                look();
        look_often();
}

TEST(a_clock_that_is_measured_anew_is_read_meanwhile)
{
        uint64_t measured;

        start_at(40 * 1024);
        measured = fake_clock.measured;
        sleep_for((uint64_t) 1 << 40);
        while (fake_clock.measured == measured)
                look();
        CHECK_EQ(fake_clock.fresh_ticks, 0);
        while (!fake_clock.fresh_ticks)
                look();
        look_often();
}

TEST(a_counter_that_went_back_is_not_gone_by)
{
        for (int i = 0; i < 10; i++) {
                start_at(40 * 1024);
                for (int round = 0; round < 5; round++) {
                        sleep_for(-((uint64_t) 1 << (30 + round)));
                        look_often();
                }
        }
}

/* The clock may be finer than the counter. */
TEST(a_tick_that_has_begun_counts)
{
        const struct ed_clock at_1000 = { .ticks = 7,
                                          .now_ns = 1000,
                                          .tick_length = 40 << ED_CLOCK_BITS };

        CHECK_EQ(ed_clock_at(&at_1000, 7), 1041);
        CHECK_EQ(ed_clock_at(&at_1000, 9), 1121);
}

TEST(a_table_whose_clock_is_no_counter_is_asked_each_time)
{
        fake_sys.clock_source = "another";
        fake.from_ns = 5;
        run_at(1024);
        ed_clock_init(&fake_clock, &fake_sys);
        fake.readings = 0;
        look_often();
        CHECK_EQ(fake.readings, ROUNDS);
}
