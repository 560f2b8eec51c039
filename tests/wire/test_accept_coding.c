/*
 * test_accept_coding.c - the fields Accept-Encoding: weights, "*", the choice, and parts that are not
 * valid.
 */
#include "test.h"
#include "wire/accept_coding.h"

static struct ed_accept_coding accept_of(const char *value)
{
        struct ed_accept_coding accept;

        ed_accept_coding_init(&accept);
        ed_accept_coding_add(&accept, value);
        return accept;
}

static int weight_in(const char *value, enum ed_accept_coding_id coding)
{
        const struct ed_accept_coding accept = accept_of(value);

        return ed_accept_coding_weight(&accept, coding);
}

static int gzip_in(const char *value)
{
        return weight_in(value, ED_ACCEPT_GZIP);
}

TEST(a_coding_has_the_weight_of_its_part)
{
        CHECK_EQ(gzip_in("gzip"), 1000);
        CHECK_EQ(gzip_in("x-gzip"), 1000);
        CHECK_EQ(gzip_in("br, GZIP;q=0.5"), 500);
        CHECK_EQ(gzip_in("gzip;q=0.123, br"), 123);
        CHECK_EQ(gzip_in("gzip ; q=1.000 ,br"), 1000);
        CHECK_EQ(gzip_in(" \tgzip \t; \tq=0.3 , ,"), 300);
        CHECK_EQ(gzip_in("gzip;Q=0.07"), 70);
        CHECK_EQ(gzip_in("gzip;q=1."), 1000);
        CHECK_EQ(gzip_in("gzip;q=0"), 0);
        CHECK_EQ(gzip_in("gzip;q=0.000"), 0);
        CHECK_EQ(gzip_in("deflate, zstd"), 0);
        CHECK_EQ(gzip_in(""), 0);
        CHECK_EQ(gzip_in("gzipped, xgzip, gzi"), 0);
        CHECK_EQ(weight_in("br;q=0.2, zstd;q=0.4", ED_ACCEPT_BR), 200);
        CHECK_EQ(weight_in("br;q=0.2, zstd;q=0.4", ED_ACCEPT_ZSTD), 400);
}

TEST(an_asterisk_has_the_weight_of_all_others)
{
        CHECK_EQ(gzip_in("*"), 1000);
        CHECK_EQ(weight_in("*;q=0.1, gzip", ED_ACCEPT_BR), 100);
        CHECK_EQ(gzip_in("*;q=0.1, gzip"), 1000);
        CHECK_EQ(gzip_in("gzip;q=0, *"), 0);
        CHECK_EQ(gzip_in("*;q=0"), 0);
}

TEST(content_without_a_coding_is_acceptable_unless_it_is_excluded)
{
        CHECK_EQ(weight_in("", ED_ACCEPT_IDENTITY), 1);
        CHECK_EQ(weight_in("gzip", ED_ACCEPT_IDENTITY), 1);
        CHECK_EQ(weight_in("*", ED_ACCEPT_IDENTITY), 1);
        CHECK_EQ(weight_in("identity;q=0.5", ED_ACCEPT_IDENTITY), 500);
        CHECK_EQ(weight_in("identity;q=0", ED_ACCEPT_IDENTITY), 0);
        CHECK_EQ(weight_in("*;q=0", ED_ACCEPT_IDENTITY), 0);
        CHECK_EQ(weight_in("*;q=0, identity", ED_ACCEPT_IDENTITY), 1000);
}

TEST(a_part_that_is_not_valid_is_not_there)
{
        static const char *const wrong[] = {
                "gzip;q=2",   "gzip;q=1.001", "gzip;q=0.1234", "gzip;q=",  "gzip;q=-1",
                "gzip;q=a",   "gzip;q=.5",    "gzip;x=1",      "gzip q",   "gzip;q=1x",
                "gzip;q=1.1", "gzip;q",       "gzip;",         "gzip q=1", "gzip;q=0.5;x=1",
                "gzip zstd",  "gzip=1",       "gzip;;q=1",     "gzip; ,",  "gzip;q=0.5 1",
        };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(gzip_in(wrong[i]), 0);
        CHECK_EQ(gzip_in("gzip;q=2, gzip;q=0.5"), 500);
        CHECK_EQ(gzip_in("gzip;q=0, gzip"), 0);
        CHECK_EQ(gzip_in(";q=1,,;,gzip"), 1000);
}

/* ---- the choice ------------------------------------------------------------ */

static void check_taken(const struct ed_accept_coding *accept, unsigned set, const char *letters)
{
        for (; *letters; letters++)
                CHECK_EQ("bzgi"[ed_accept_coding_take(accept, &set)], *letters);
        CHECK_EQ(ed_accept_coding_take(accept, &set), ED_ACCEPT_IDENTITY);
}

TEST(the_coding_is_the_one_that_the_client_prefers)
{
        static const struct {
                const char *value, *letters;
        } cases[] = {
                { "", "" },
                { "gzip", "g" },
                { "GZip, br", "bg" },
                { "gzip, deflate, br, zstd", "bzg" },
                { "deflate", "" },
                { "identity", "" },
                { "*", "bzg" },
                { "*;q=0", "" },
                { "*;q=0, gzip", "g" },
                { "gzip;q=0, *", "bz" },
                { "gzip;q=0.001", "g" },
                { "gzip;q=1.0, zstd;q=0.9", "gz" },
                { "gzip;q=0.8, br;q=0.9, zstd;q=0.81", "bzg" },
                { "br;q=0.5, gzip;q=0.8, zstd;q=0.7", "gzb" },
                { "gzip;q=0.5, identity", "" },
                { "br;q=0.3, gzip;q=0.5, identity;q=0.4", "g" },
                { "gzip;q=0.5, identity;q=0.5", "g" },
                { "identity;q=0", "" },
                { "gzip, identity;q=0", "g" },
        };
        struct ed_accept_coding accept = accept_of("gzip, br, zstd");

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const struct ed_accept_coding by_case = accept_of(cases[i].value);

                check_taken(&by_case, 7, cases[i].letters);
        }
        check_taken(&accept, 1U << ED_ACCEPT_ZSTD, "z");
        check_taken(&accept, 1U << ED_ACCEPT_GZIP | 1U << ED_ACCEPT_BR, "bg");
        check_taken(&accept, 0, "");
}

TEST(all_fields_count_and_the_first_part_of_a_coding)
{
        struct ed_accept_coding accept = accept_of("gzip;q=0.5");

        ed_accept_coding_add(&accept, "br;q=0.7, gzip");
        ed_accept_coding_add(&accept, "identity;q=0");
        check_taken(&accept, 7, "bg");
        CHECK_EQ(ed_accept_coding_weight(&accept, ED_ACCEPT_GZIP), 500);
        CHECK_EQ(ed_accept_coding_weight(&accept, ED_ACCEPT_IDENTITY), 0);
}
