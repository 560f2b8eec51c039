/*
 * test_media_type.c - media types by the endings of names.
 */
#include "test.h"
#include "wire/media_type.h"

TEST(an_ending_has_its_type_whatever_its_case)
{
        CHECK_STR(ed_media_type_of("index.html"), "text/html; charset=utf-8");
        CHECK_STR(ed_media_type_of("a/b.c/INDEX.HTM"), "text/html; charset=utf-8");
        CHECK_STR(ed_media_type_of("a.css"), "text/css; charset=utf-8");
        CHECK_STR(ed_media_type_of("a.min.js"), "text/javascript; charset=utf-8");
        CHECK_STR(ed_media_type_of("a.json"), "application/json");
        CHECK_STR(ed_media_type_of("a.tar.gz"), "application/gzip");
        CHECK_STR(ed_media_type_of("a.7z"), "application/x-7z-compressed");
        CHECK_STR(ed_media_type_of("a.zst"), "application/zstd");
        CHECK_STR(ed_media_type_of("a.webmanifest"), "application/manifest+json");
        CHECK_STR(ed_media_type_of("a.Wasm"), "application/wasm");
}

TEST(a_name_without_a_known_ending_is_bytes)
{
        static const char *const names[] = { "",         "html",    "a",       "a.",     "a.b",
                                             "a.html/b", "a.htmlx", "x.html.", "a.htm l" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                CHECK_STR(ed_media_type_of(names[i]), "application/octet-stream");
}

/* A binary search finds each ending only in a sorted table. */
TEST(each_ending_of_the_table_is_found)
{
        static const char endings[] = "7z aac apng atom avif bmp bz2 css csv docx epub flac "
                                      "geojson gif gz heic htm html ico "
                                      "ics jar jpeg jpg js json jsonl jsonld jxl log m3u8 m4a map "
                                      "md mjs mov mp3 mp4 mpd mpeg "
                                      "odp ods odt oga ogg ogv opus otf parquet pdf png pptx rss "
                                      "rtf svg tar tif tiff ts ttf "
                                      "txt vtt wasm wav weba webm webmanifest webp woff woff2 "
                                      "xhtml xlsx xml xz yaml yml zip "
                                      "zst";
        char name[32];
        int n, count = 0;

        for (const char *at = endings; sscanf(at, "%29s%n", name + 2, &n) == 1; at += n, count++) {
                memcpy(name, "a.", 2);
                if (strcmp(ed_media_type_of(name), "application/octet-stream") == 0)
                        test_fail(__FILE__, __LINE__, "%s has no type", name);
        }
        CHECK_EQ(count, 77);
}

TEST(a_media_type_is_compared_without_its_case_and_parameters)
{
        CHECK(ed_media_type_is("text/html", "text/html"));
        CHECK(ed_media_type_is("Text/HTML", "text/html"));
        CHECK(ed_media_type_is("text/html; charset=utf-8", "text/html"));
        CHECK(ed_media_type_is("text/html \t; a=b", "text/html"));
        CHECK(ed_media_type_is("text/html;", "text/html"));
        CHECK(!ed_media_type_is("text/html x", "text/html"));
        CHECK(!ed_media_type_is("text/html, text/css", "text/html"));
        CHECK(!ed_media_type_is("text/htmlx", "text/html"));
        CHECK(!ed_media_type_is("text/htm", "text/html"));
        CHECK(!ed_media_type_is("", "text/html"));
        CHECK(!ed_media_type_is(" text/html", "text/html"));
        CHECK(!ed_media_type_is(NULL, "text/html"));
}

TEST(a_media_type_is_compared_with_a_suffix_or_a_kind)
{
        CHECK(ed_media_type_is("application/ld+JSON; a=b", "+json"));
        CHECK(!ed_media_type_is("application/json", "+json"));
        CHECK(!ed_media_type_is("application/ld+json-seq", "+json"));
        CHECK(!ed_media_type_is("+json", "+json"));
        CHECK(!ed_media_type_is("a/b+json x", "+json"));
        CHECK(ed_media_type_is("TEXT/css; charset=utf-8", "text/"));
        CHECK(!ed_media_type_is("text", "text/"));
        CHECK(!ed_media_type_is("atext/css", "text/"));
}
