/*
 * test_generator_words.c - generators of words on the kernel's table: there a
 * value goes from hand to hand by the shortest way, which the simulation, whose
 * table chooses who is next, does not take.
 */
#include "sim_run.h"

enum { MANY = 1000 };

struct words {
        long upto;
        int wait_each; /* so many values there is a wait before the next; 0: never */
        int shielded;  /* it gives its values in a shield */
        int err;
};

static int give(eddy_generator *gen, const struct words *words)
{
        int err = 0;

        for (long i = 1; i <= words->upto && err == 0; i++) {
                if (words->wait_each && i % words->wait_each == 0)
                        err = eddy_sleep(0);
                if (err == 0)
                        err = eddy_generator_yield(gen, &i);
        }
        return err;
}

static int gives_words(eddy_generator *gen, void *arg)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        struct words *words = arg;
        eddy_scope scope;

        if (!words->shielded)
                return words->err = give(gen, words);
        eddy_scope_begin(&scope, &shield);
        words->err = give(gen, words);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return words->err;
}

static void begin_words(eddy_generator *gen, eddy_scope *scope, struct words *words)
{
        eddy_generator_begin(gen, scope, gives_words, words, sizeof(long));
}

static void expect_word(eddy_generator *gen, long value)
{
        long word = -1;

        CHECK_EQ(eddy_generator_next(gen, &word), 1);
        CHECK_EQ(word, value);
}

/* The same from elsewhere on the stack. */
static __attribute__((noinline)) void expect_word_below(eddy_generator *gen, long value)
{
        volatile char deep[300] = { 1 };

        expect_word(gen, value + deep[1]);
}

#define WORDS_TEST(claim)                                                                          \
        static int main_##claim(void *arg);                                                        \
        TEST(claim)                                                                                \
        {                                                                                          \
                CHECK_EQ(eddy_run(main_##claim, NULL, NULL), 0);                                   \
        }                                                                                          \
        static int main_##claim(void *arg)

WORDS_TEST(words_of_several_reach_any_caller_from_any_task)
{
        struct words words[2] = { { .upto = MANY }, { .upto = MANY, .wait_each = 3 } };
        eddy_generator gen[2];
        eddy_scope scope;
        long word = -1;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++)
                begin_words(&gen[i], &scope, &words[i]);
        for (long i = 1; i <= MANY; i++) {
                expect_word(&gen[0], i);
                if (i % 5 == 0)
                        CHECK_EQ(eddy_sleep(0), 0);
                expect_word_below(&gen[1], i);
        }
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_generator_next(&gen[i], &word), 0);
        CHECK_EQ(word, -1);
        return eddy_scope_end(&scope);
}

struct turns {
        eddy_generator *gen;
        bool seen[2 * MANY + 1];
        long given;
};

/* While the loop looks outside another one may be waiting for a word, or have one in hand. */
static int takes_turns(void *arg)
{
        struct turns *turns = arg;
        int err = 0;

        while (err == 0 && turns->given < MANY) {
                long word = -1;

                if (eddy_generator_next(turns->gen, &word) == 1) {
                        CHECK(!turns->seen[word]);
                        turns->seen[word] = true;
                        turns->given++;
                } else {
                        err = eddy_sleep(0);
                }
                if (err == 0 && turns->given % 7 == 0)
                        err = eddy_sleep(0);
        }
        return err;
}

WORDS_TEST(words_go_to_the_task_that_asks_now)
{
        struct words words = { .upto = 2 * MANY };
        eddy_scope scope, askers;
        eddy_generator gen;
        static struct turns turns;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        begin_words(&gen, &scope, &words);
        turns.gen = &gen;
        eddy_scope_begin(&askers, NULL);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start(&askers, takes_turns, &turns), 0);
        CHECK_EQ(eddy_scope_end(&askers), 0);
        for (long i = 1; i <= turns.given; i++)
                CHECK(turns.seen[i]);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(words.err, -ECANCELED);
        return eddy_scope_end(&scope);
}

/* After waits of another kind, and in a shield, it is closed all the same. */
WORDS_TEST(one_that_gave_words_is_closed_by_its_scope)
{
        for (int i = 0; i < 4; i++) {
                struct words words = { .upto = MANY,
                                       .wait_each = i & 1 ? 2 : 0,
                                       .shielded = i & 2 };
                eddy_generator gen;
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                begin_words(&gen, &scope, &words);
                for (long k = 1; k <= 10; k++)
                        expect_word(&gen, k);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(words.err, -ECANCELED);
        }
        (void) arg;
        return 0;
}

static int asks_both(void *arg)
{
        eddy_generator *gen = arg;
        long word = -1;

        expect_word(&gen[0], 2);
        CHECK_EQ(eddy_generator_next(&gen[1], &word), -ECANCELED);
        CHECK_EQ(word, -1);
        return -ECANCELED;
}

/* The fourth is on its way when who asks is cancelled: the next one gets it. */
WORDS_TEST(a_word_that_was_made_without_a_caller_is_kept_and_the_next_go_on)
{
        struct words words[2] = { { .upto = MANY }, { .upto = MANY, .wait_each = 4 } };
        eddy_scope scope, asker;
        eddy_generator gen[2];

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++)
                begin_words(&gen[i], &scope, &words[i]);
        expect_word(&gen[0], 1);
        for (long i = 1; i <= 3; i++)
                expect_word(&gen[1], i);
        eddy_scope_begin(&asker, NULL);
        CHECK_EQ(eddy_scope_start(&asker, asks_both, gen), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&asker);
        CHECK_EQ(eddy_scope_end(&asker), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        for (long i = 4; i <= 20; i++)
                expect_word(&gen[1], i);
        return eddy_scope_end(&scope);
}

static int asks_for_the_second(void *arg)
{
        long word = -1;

        CHECK_EQ(eddy_generator_next(arg, &word), -ECANCELED);
        CHECK_EQ(word, -1);
        return 0;
}

WORDS_TEST(in_a_shield_a_cancelled_one_gives_no_word_either)
{
        struct words words = { .upto = MANY, .wait_each = 2, .shielded = 1 };
        eddy_scope scope, asker;
        eddy_generator gen;

        (void) arg;
        eddy_scope_begin(&asker, NULL);
        eddy_scope_begin(&scope, NULL);
        begin_words(&gen, &scope, &words);
        expect_word(&gen, 1);
        CHECK_EQ(eddy_scope_start(&asker, asks_for_the_second, &gen), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(words.err, -ECANCELED);
        return eddy_scope_end(&asker);
}

WORDS_TEST(a_cancelled_task_is_given_no_word)
{
        struct words words = { .upto = MANY };
        eddy_scope scope, inner;
        eddy_generator gen;
        long word = -1;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        begin_words(&gen, &scope, &words);
        expect_word(&gen, 1);
        expect_word(&gen, 2);
        eddy_scope_begin(&inner, NULL);
        eddy_scope_cancel(&inner);
        CHECK_EQ(eddy_generator_next(&gen, &word), -ECANCELED);
        CHECK_EQ(word, -1);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        expect_word(&gen, 3);
        return eddy_scope_end(&scope);
}

static int counts_turns(void *arg)
{
        int err = 0;

        while (err == 0) {
                ++*(long *) arg;
                err = eddy_sleep(0);
        }
        return err;
}

WORDS_TEST(a_loop_over_words_gives_way_once_in_a_budget)
{
        struct words words = { .upto = 10 * MANY };
        eddy_generator gen;
        eddy_scope scope;
        long turns = 0;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, counts_turns, &turns), 0);
        begin_words(&gen, &scope, &words);
        expect_word(&gen, 1);
        turns = 0;
        for (long i = 2; i <= words.upto; i++) {
                expect_word(&gen, i);
                CHECK(turns >= 2 * i / 128 - 2);
        }
        CHECK(turns <= 2 * words.upto / 64);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}
