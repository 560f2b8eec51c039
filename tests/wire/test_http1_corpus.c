/*
 * test_http1_corpus.c - each message of corpus.h gives what the corpus says,
 * however it is delivered: at once, cut in two at every place, byte by byte,
 * and by a thousand random ways to cut it (EDDY_SEED chooses others).  Each
 * piece ends where an unmapped page begins, and lies elsewhere than the one
 * before, so that neither reading on nor an address kept goes unnoticed.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "drive.h"
#include "test.h"

enum {
        RANDOM_CUTS = 1000,
        PIECES_MAX = 12,
        INPUT_MAX = 10000,
        LONG_INPUT = 1024, /* longer ones are cut in two at each LONG_STEP-th place only */
        LONG_STEP = 37,
        GUARDED_PAGES = 4,
};

struct corpus_case {
        const char *claim;
        const char *expected;
        struct wire_input input;
};

/* The sets of limits that cases name. */
#define LIMITS_DEFAULT                                                                             \
        {                                                                                          \
                { 0 }, 0                                                                           \
        }
#define LIMITS_LINE_20                                                                             \
        {                                                                                          \
                { .line_bytes_max = 20 }, 0                                                        \
        }
#define LIMITS_HEAD_40                                                                             \
        {                                                                                          \
                { .head_bytes_max = 40 }, 0                                                        \
        }
#define LIMITS_FIELDS_3                                                                            \
        {                                                                                          \
                { .fields_max = 3 }, 0                                                             \
        }
#define LIMITS_BODY_5                                                                              \
        {                                                                                          \
                { 0 }, 5                                                                           \
        }
#define LIMITS_HUGE_BODY                                                                           \
        {                                                                                          \
                { 0 }, INT64_MAX                                                                   \
        }

static const struct corpus_case corpus[] = {
#define CASE(claim, kind, limits, expected, input)                                                 \
        { #claim, expected, { WIRE_##kind, LIMITS_##limits, input, sizeof(input) - 1 } },
#include "corpus.h"
#undef CASE
};

enum corpus_number {
#define CASE(claim, kind, limits, expected, input) NUMBER_##claim,
#include "corpus.h"
#undef CASE
        CORPUS_COUNT,
};

/* ---- where reading on is noticed ------------------------------------------- */

static char *pages[2];    /* each run of them ends at an unmapped one */
static size_t page_bytes; /* of a run */
static unsigned page_next;
static size_t placed_bytes; /* the last time */

static char *place_before_guard(const char *data, size_t bytes)
{
        char *at;

        if (!pages[0]) {
                size_t guard_bytes = (size_t) sysconf(_SC_PAGESIZE);

                page_bytes = GUARDED_PAGES * guard_bytes;
                for (int i = 0; i < 2; i++) {
                        pages[i] = mmap(NULL, page_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                        CHECK(pages[i] != MAP_FAILED);
                        CHECK(mprotect(pages[i] + page_bytes, guard_bytes, PROT_NONE) == 0);
                }
        }
        CHECK(bytes <= page_bytes);
        /* What stood in the other one is wiped: addresses kept point to nonsense. */
        memset(pages[page_next] + page_bytes - placed_bytes, '\n', placed_bytes);
        placed_bytes = bytes;
        page_next ^= 1;
        at = pages[page_next] + page_bytes - bytes;
        memcpy(at, data, bytes);
        return at;
}

/* ---- delivering ------------------------------------------------------------ */

static uint64_t random_state;

static uint64_t random_next(void)
{
        uint64_t z = random_state += 0x9E3779B97F4A7C15;

        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
}

static void check_delivery(const struct corpus_case *corpus_case, const size_t *cuts, size_t count,
                           const char *how)
{
        struct wire_text text;

        wire_drive(&corpus_case->input, cuts, count, place_before_guard, &text);
        if (strcmp(text.text, corpus_case->expected) != 0) {
                fprintf(stderr, "# %s, cut at", how);
                for (size_t i = 0; i < count && i < PIECES_MAX; i++)
                        fprintf(stderr, " %zu", cuts[i]);
                fprintf(stderr, "\n# expected: %s\n# came out: %s\n", corpus_case->expected,
                        text.text);
                test_fail(__FILE__, __LINE__, "%s", corpus_case->claim);
        }
        wire_text_free(&text);
}

static int by_size(const void *a, const void *b)
{
        size_t x = *(const size_t *) a, y = *(const size_t *) b;

        return (x > y) - (x < y);
}

static void check_random_cuts(const struct corpus_case *corpus_case, enum corpus_number number)
{
        const char *seed = getenv("EDDY_SEED");
        size_t bytes = corpus_case->input.bytes;
        size_t cuts[PIECES_MAX];

        random_state = (seed ? strtoull(seed, NULL, 0) : 1) * CORPUS_COUNT + number;
        for (int i = 0; i < RANDOM_CUTS; i++) {
                size_t count = 1 + random_next() % PIECES_MAX;

                for (size_t j = 0; j < count; j++)
                        cuts[j] = random_next() % (bytes + 1);
                qsort(cuts, count, sizeof(cuts[0]), by_size);
                check_delivery(corpus_case, cuts, count, "random cuts");
        }
}

static void check_case(enum corpus_number number)
{
        const struct corpus_case *corpus_case = &corpus[number];
        size_t bytes = corpus_case->input.bytes;
        static size_t every[INPUT_MAX];

        CHECK(bytes < INPUT_MAX);
        check_delivery(corpus_case, NULL, 0, "at once");
        for (size_t cut = 0; cut <= bytes; cut += bytes > LONG_INPUT ? LONG_STEP : 1)
                check_delivery(corpus_case, &cut, 1, "in two");
        for (size_t i = 0; i < bytes; i++)
                every[i] = i;
        check_delivery(corpus_case, every, bytes, "byte by byte");
        check_random_cuts(corpus_case, number);
}

#define CASE(claim, kind, limits, expected, input)                                                 \
        TEST(claim)                                                                                \
        {                                                                                          \
                check_case(NUMBER_##claim);                                                        \
        }
#include "corpus.h"
#undef CASE

/* ---- about the corpus itself ----------------------------------------------- */

TEST(no_two_cases_have_the_same_input_in_the_same_role)
{
        for (size_t i = 0; i < CORPUS_COUNT; i++) {
                for (size_t j = 0; j < i; j++) {
                        const struct wire_input *a = &corpus[i].input, *b = &corpus[j].input;

                        if (a->kind == b->kind && a->bytes == b->bytes &&
                            memcmp(a->data, b->data, a->bytes) == 0 &&
                            memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0)
                                test_fail(__FILE__, __LINE__, "%s and %s are one case",
                                          corpus[i].claim, corpus[j].claim);
                }
        }
}

TEST(reading_beyond_a_piece_is_noticed_by_the_guard_page)
{
        const char *data = place_before_guard("abc", 3);
        int fds[2];

        /* A write from the page must fail: then reading it would end the test. */
        CHECK(pipe(fds) == 0);
        CHECK_EQ(write(fds[1], data, 3), 3);
        CHECK(write(fds[1], data + 3, 1) < 0);
}
