/*
 * test_accept.c - which failures --accept-failed and --accept-failed-ids accept.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "batch/request/accept.h"

/* Note a failure line of an id. Returns the mark of its request. */
static uint64_t note(struct ed_accept *accept, const char *id, uint64_t hash, bool is_final)
{
        struct ed_answer answer = { .id = id,
                                    .id_bytes = strlen(id),
                                    .number = 1,
                                    .hash = hash,
                                    .status = 500,
                                    .has_failed = true,
                                    .is_final = is_final };
        static char room[ED_ANSWER_ID_ROOM];
        struct ed_answer_seen seen;
        struct ed_draft line = { 0 };

        ed_answer_write(&answer, ED_ANSWER_META, &line);
        CHECK(ed_draft_is_whole(&line));
        CHECK(ed_answer_read(line.data, line.bytes - 1, room, &seen) == 0);
        CHECK(ed_accept_line_is_final(&seen) == is_final);
        CHECK(ed_accept_note(accept, &seen) == 0);
        ed_draft_fini(&line);
        return ed_answer_mark(id, strlen(id), hash);
}

static bool has(struct ed_accept *accept, const char *id, uint64_t mark)
{
        return ed_accept_has(accept, id, strlen(id), mark);
}

TEST(only_final_failures_are_accepted_and_the_last_line_of_an_id_counts)
{
        struct ed_accept accept = { 0 };
        uint64_t a, b, c;

        CHECK(!ed_accept_is_on(&accept) && !ed_accept_is_on(NULL));
        CHECK(ed_accept_all_finals(&accept) == 0);
        a = note(&accept, "a", 1, true);
        b = note(&accept, "b", 1, false);
        c = note(&accept, "c", 1, true);
        CHECK(has(&accept, "a", a));
        CHECK(!has(&accept, "b", b));
        CHECK(has(&accept, "c", c));
        note(&accept, "c", 1, false);
        CHECK(!has(&accept, "c", c));
        CHECK(!has(&accept, "d", 0));
        ed_accept_fini(&accept);
}

TEST(request_that_has_changed_is_not_accepted)
{
        struct ed_accept accept = { 0 };
        uint64_t mark;

        CHECK(ed_accept_all_finals(&accept) == 0);
        mark = note(&accept, "a", 1, true);
        CHECK(!has(&accept, "a", ed_answer_mark("a", 1, 2)));
        CHECK(has(&accept, "a", mark));
        CHECK(has(&accept, "a", 0)); /* not known */
        /* A later line is that of the request as it is now. */
        mark = note(&accept, "a", 2, true);
        CHECK(has(&accept, "a", mark));
        CHECK(!has(&accept, "a", ed_answer_mark("a", 1, 1)));
        ed_accept_fini(&accept);
}

TEST(line_without_final_is_judged_by_its_status)
{
        static const int finals[] = { 400, 403, 404, 409, 413, 422, 499 };
        static const int others[] = { 0, 200, 301, 401, 402, 407, 408, 425, 429, 500, 503 };
        static const char *const metas[] = { "", ",\"x_meta\":null", ",\"x_meta\":{}",
                                             ",\"x_meta\":{\"final\":1}" };
        static char room[ED_ANSWER_ID_ROOM];
        struct ed_answer_seen seen;
        char line[160];

        for (size_t m = 0; m < 4; m++) {
                for (size_t i = 0; i < 7 + 11; i++) {
                        int status = i < 7 ? finals[i] : others[i - 7];

                        snprintf(line, sizeof(line),
                                 "{\"custom_id\":\"a\",\"response\":{\"status_code\":%d},"
                                 "\"error\":{\"code\":\"c\"}%s}",
                                 status, metas[m]);
                        CHECK(ed_answer_read(line, strlen(line), room, &seen) == 0);
                        CHECK(ed_accept_line_is_final(&seen) == (i < 7));
                }
        }
}

TEST(without_an_answer_only_named_failures_are_accepted)
{
        struct ed_accept accept = { 0 };
        uint64_t a, b, c;

        CHECK(ed_accept_all_finals(&accept) == 0);
        CHECK(ed_accept_all_named(&accept) == 0);
        CHECK(ed_accept_name(&accept, "b", 1) == 0);
        CHECK(ed_accept_name(&accept, "b", 1) == 0);
        CHECK(ed_accept_name(&accept, "c", 1) == 0);
        CHECK(accept.named_count == 2);
        a = note(&accept, "a", 1, true);
        b = note(&accept, "b", 1, true);
        c = note(&accept, "c", 1, false);
        ed_accept_settle(&accept, true);
        CHECK(has(&accept, "a", a));
        ed_accept_settle(&accept, false);
        CHECK(!has(&accept, "a", a));
        CHECK(accept.met_count == 0);
        CHECK(has(&accept, "b", b) && has(&accept, "b", b));
        CHECK(has(&accept, "c", c));
        CHECK(accept.met_count == 2);
        CHECK(ed_accept_takes(&accept, "b", 1, false));
        CHECK(ed_accept_takes(&accept, "a", 1, true));
        CHECK(!ed_accept_takes(&accept, "a", 1, false));
        CHECK(!ed_accept_takes(NULL, "a", 1, true));
        ed_accept_fini(&accept);
}
