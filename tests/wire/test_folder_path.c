/*
 * test_folder_path.c - paths of URLs as names of files: decoded, hidden, or not valid; and 500 forms of paths
 * that try to leave the folder.
 */
#include "test.h"
#include "traversal.h"
#include "wire/folder_path.h"

/* Returns the name, with a '/' at its end for a folder; "400" or "404". */
static const char *decode(const char *path, unsigned flags)
{
        static char out[20000];
        bool is_folder = false;
        char *room = malloc(strlen(path) + 1);
        int status;

        CHECK(room);
        status = ed_folder_path_decode(path, flags, room, &is_folder);
        if (status != 0)
                snprintf(out, sizeof(out), "%d", status);
        else
                snprintf(out, sizeof(out), "%s%s", room, is_folder ? "/" : "");
        free(room);
        return out;
}

static void check(const char *path, const char *expected)
{
        const char *seen = decode(path, ED_FOLDER_PATH_QUOTED);

        if (strcmp(seen, expected) != 0)
                test_fail(__FILE__, __LINE__, "'%s' is '%s', expected '%s'", path, seen, expected);
}

TEST(a_path_is_the_name_of_a_file_or_a_folder)
{
        check("a.txt", "a.txt");
        check("a/b/c.d", "a/b/c.d");
        check("a%20b/caf%C3%A9%2e", "a b/caf\xc3\xa9.");
        check("%61", "a");
        check("a%25b", "a%b");
        check("a\\b", "a\\b");
        check("a..b/c...", "a..b/c...");
        check("a+b;c=d:e", "a+b;c=d:e");
        check("", "/");
        check("a/", "a/");
        check("a/b/", "a/b/");
        check("\xff\xfe", "\xff\xfe");
}

TEST(hidden_names_and_names_that_cannot_be_are_404)
{
        static const char *const paths[] = {
                ".",      "..",          "../a",    "a/..", "a/../b", "a/.",
                "./a",    ".git/config", "a/.b",    "%2e",  "%2e%2e", "a/%2E./b",
                ".%2e/a", "a/.%2e",      "a//b",    "/",    "/a",     "//",
                "a//",    "a%2fb",       "a%2Fb",   "%2f",  "%2fetc", "..%2f..%2fetc",
                "a\n",    "a%0a",        "a%0d%0a", "%7f",  "%01",    "a/%09b",
                "...",    "a/..\\b",
        };

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
                check(paths[i], "404");
}

TEST(a_wrong_escape_or_a_nul_is_400)
{
        check("%", "400");
        check("a%2", "400");
        check("a%zz", "400");
        check("a%00", "400");
        check("%00", "400");
        check("../%00", "400");
        check("a/b%00.txt/c", "400");
        check("%u002e", "400");
}

TEST(a_name_of_a_handler_is_not_decoded)
{
        CHECK_STR(decode("a%20b/%", 0), "a%20b/%");
        CHECK_STR(decode("a/", 0), "a/");
        CHECK_STR(decode("../a", 0), "404");
        CHECK_STR(decode("a//b", 0), "404");
}

TEST(a_long_part_or_path_is_404)
{
        static char path[4 * ED_FOLDER_PATH_BYTES_MAX];

        memset(path, 'a', ED_FOLDER_PATH_PART_MAX);
        check(path, path);
        path[ED_FOLDER_PATH_PART_MAX] = 'a';
        check(path, "404");
        memset(path, 0, sizeof(path));
        for (int i = 0; i < ED_FOLDER_PATH_BYTES_MAX - 1; i++)
                path[i] = i % 2 ? '/' : 'a';
        check(path, path);
        path[ED_FOLDER_PATH_BYTES_MAX - 1] = 'a';
        check(path, path);
        path[ED_FOLDER_PATH_BYTES_MAX] = 'a';
        check(path, "404");
        /* The length that counts is the decoded one. */
        memset(path, 0, sizeof(path));
        for (int i = 0; i < ED_FOLDER_PATH_PART_MAX; i++)
                memcpy(path + 3 * i, "%61", 3);
        CHECK_EQ(strlen(decode(path, ED_FOLDER_PATH_QUOTED)), ED_FOLDER_PATH_PART_MAX);
        memcpy(path + 3 * ED_FOLDER_PATH_PART_MAX, "%61", 3);
        check(path, "404");
}

TEST(no_form_of_traversal_is_a_name_with_a_part_of_dots)
{
        char path[TRAVERSAL_BYTES];
        size_t count = 0;

        for (; traversal_next(count, path); count++) {
                const char *name = decode(path + 1, ED_FOLDER_PATH_QUOTED);

                CHECK(strncmp(name, "..", 2) != 0 && !strstr(name, "/..") && name[0] != '/');
        }
        CHECK(count >= 500);
}
