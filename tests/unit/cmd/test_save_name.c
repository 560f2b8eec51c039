/*
 * test_save_name.c - names of saved files, from every byte and every length.
 */
#include "test.h"

#include <string.h>
#include <strings.h>

#include "common/save_name.h"
#include "eddy/json.h"

#define TAG      0x0123456789abcdefULL
#define TAG_TEXT "-0123456789abcdef"

static char name[ED_SAVE_NAME_BYTES];

static const char *named(const char *text, const char *type)
{
        ed_save_name(ED_SAVE_ID, text, strlen(text), type, TAG, false, name);
        return name;
}

/* Check the rules that hold for every name. */
static void check_safe(const char *text, size_t bytes, const char *type)
{
        size_t n;

        ed_save_name(ED_SAVE_ID, text, bytes, type, TAG, false, name);
        n = strlen(name);
        CHECK(n >= 1 && n < ED_SAVE_NAME_BYTES);
        CHECK(eddy_json_is_utf8(name, n));
        CHECK(name[0] != '.' && name[0] != '-' && name[n - 1] != '.' && name[n - 1] != ' ');
        for (size_t i = 0; i < n; i++)
                CHECK((unsigned char) name[i] >= 0x20 && name[i] != 0x7f &&
                      !strchr("/<>:\"\\|?*", name[i]));
        /* A name without a tag is the text, with or without an ending: no two texts have it. */
        if (!strstr(name, TAG_TEXT))
                CHECK(n >= bytes && memcmp(name, text, bytes) == 0);
}

TEST(plain_text_is_its_name_with_the_ending_of_its_type)
{
        CHECK_STR(named("r1", "audio/mpeg"), "r1.mp3");
        CHECK_STR(named("r1", "Audio/MPEG; rate=1"), "r1.mp3");
        CHECK_STR(named("r1", "image/jpeg"), "r1.jpg");
        CHECK_STR(named("r1", NULL), "r1.bin");
        CHECK_STR(named("r1", "application/octet-stream"), "r1.bin");
        CHECK_STR(named("r1", "x/y"), "r1.bin");
        CHECK_STR(named("r1", ""), "r1.bin");
        CHECK_STR(named("gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0", "image/png"),
                  "gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0.png");
}

TEST(other_tag_takes_the_place_of_the_tag)
{
        static const char *const texts[] = { "a", "a-b", "-", "song.mp3", ("a" TAG_TEXT), "-.-" };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                char expected[ED_SAVE_NAME_BYTES];

                ed_save_name(ED_SAVE_ID, texts[i], strlen(texts[i]), "audio/mpeg", TAG, true, name);
                ed_save_name(ED_SAVE_ID, texts[i], strlen(texts[i]), "audio/mpeg", UINT64_MAX, true,
                             expected);
                ed_save_name_set_tag(name, UINT64_MAX);
                CHECK_STR(name, expected);
        }
}

TEST(ending_that_the_text_has_is_not_repeated)
{
        CHECK_STR(named("a.mp3", "audio/mpeg"), "a.mp3");
        CHECK_STR(named("a.MP3", "audio/mpeg"), "a.MP3");
        CHECK_STR(named("a.jpeg", "image/jpeg"), "a.jpeg");
        CHECK_STR(named("a.jpg", "image/jpeg"), "a.jpg");
        CHECK_STR(named("a.bin", NULL), "a.bin");
        CHECK_STR(named("a.mp3", "image/png"), "a.mp3.png");
        CHECK_STR(named(".mp3", "audio/mpeg"), "_mp3" TAG_TEXT ".mp3");
}

TEST(text_that_is_not_a_safe_name_gets_a_tag)
{
        CHECK_STR(named("a/b", "audio/mpeg"), "a_b" TAG_TEXT ".mp3");
        CHECK_STR(named("../../etc/passwd", NULL), "_._.._etc_passwd" TAG_TEXT ".bin");
        CHECK_STR(named(".hidden", NULL), "_hidden" TAG_TEXT ".bin");
        CHECK_STR(named("-rf", NULL), "_rf" TAG_TEXT ".bin");
        CHECK_STR(named("", NULL), "_" TAG_TEXT ".bin");
        CHECK_STR(named(".", NULL), "_" TAG_TEXT ".bin");
        CHECK_STR(named("..", NULL), "__" TAG_TEXT ".bin");
        CHECK_STR(named("a.", NULL), "a_" TAG_TEXT ".bin");
        CHECK_STR(named("a\xff"
                        "b\xe2\x82",
                        NULL),
                  "a_b__" TAG_TEXT ".bin");
        CHECK_STR(named("con", NULL), "_con" TAG_TEXT ".bin");
        CHECK_STR(named("LPT1.mp3", "audio/mpeg"), "_LPT1" TAG_TEXT ".mp3");
        CHECK_STR(named("com0", NULL), "com0.bin");
        CHECK_STR(named("console", NULL), "console.bin");
        ed_save_name(ED_SAVE_ID, "r1", 2, "audio/mpeg", TAG, true, name);
        CHECK_STR(name, "r1" TAG_TEXT ".mp3");
        ed_save_name(ED_SAVE_ID, "a\0b", 3, NULL, TAG, false, name);
        CHECK_STR(name, "a_b" TAG_TEXT ".bin");
}

TEST(every_byte_at_every_place_gives_a_safe_name)
{
        char text[4];

        for (int byte = 0; byte < 256; byte++) {
                for (int at = 0; at < 3; at++) {
                        memcpy(text, "aaa", 4);
                        text[at] = (char) byte;
                        check_safe(text, 3, "audio/mpeg");
                        check_safe(text + at, 1, NULL);
                }
        }
}

TEST(long_names_are_cut_at_a_character_and_have_a_tag)
{
        static const char *const characters[] = { "x", "\xc3\xa9", "\xe4\xbd\xa0",
                                                  "\xf0\x9f\x98\x80" };
        char text[600];

        for (int i = 0; i < 4; i++) {
                size_t bytes = strlen(characters[i]);

                for (size_t n = 220; n <= 320; n++) {
                        size_t end = 0;

                        memset(text, 'a', n % bytes);
                        for (end = n % bytes; end + bytes <= n; end += bytes)
                                memcpy(text + end, characters[i], bytes);
                        check_safe(text, end, "image/webp");
                        CHECK((strstr(name, TAG_TEXT) == NULL) == (end + 5 <= 255));
                        CHECK(strcmp(name + strlen(name) - 5, ".webp") == 0);
                        if (strstr(name, TAG_TEXT))
                                CHECK(strlen(name) > 255 - bytes);
                }
        }
}

TEST(end_of_a_url_keeps_its_ending)
{
        static const char *const rows[][3] = {
                { "a.tar.gz", "text/html", "a.tar.gz" },
                { "page", "text/html", "page.html" },
                { "page", NULL, "page" },
                { "page", "application/octet-stream", "page" },
                { "script.py", "text/plain", "script.py" },
                { "a?b.txt", NULL, "a_b" TAG_TEXT ".txt" },
                { "v1.2 final", "text/html", "v1.2 final" },
                { ".profile", NULL, "_profile" TAG_TEXT },
                { "a.", NULL, "a_" TAG_TEXT },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                ed_save_name(ED_SAVE_URL, rows[i][0], strlen(rows[i][0]), rows[i][1], TAG, false,
                             name);
                CHECK_STR(name, rows[i][2]);
        }
}
