/*
 * test_symbol.c - what the places of functions are called in reports.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "sys/fault/symbol.h"

#include "test.h"

static void not_exported(void)
{
}

static const char *at(const void *function, size_t offset)
{
        static char name[64];

        ed_sys_symbol((const char *) function + offset, name, sizeof(name));
        return name;
}

TEST(a_function_is_called_by_its_name_and_a_place_in_it_by_the_offset_too)
{
        char name[64];

        snprintf(name, sizeof(name), "%s", at((const void *) getppid, 0));
        CHECK(strstr(name, "getppid"));
        CHECK(!strchr(name, '+'));
        CHECK(strncmp(at((const void *) getppid, 1), name, strlen(name)) == 0);
        CHECK_STR(at((const void *) getppid, 1) + strlen(name), "+0x1");
}

TEST(a_function_without_a_name_is_a_place_in_its_program_that_addr2line_knows)
{
        const char *name = at((const void *) not_exported, 0), *plus = strchr(name, '+');
        unsigned long offset;

        CHECK(strncmp(name, "test_sys", strlen("test_sys")) == 0);
        CHECK(plus != NULL);
        offset = strtoul(plus + 1, NULL, 16);
        CHECK(offset > 0 && offset < 1 << 24);
        plus = strchr(at((const void *) not_exported, 3), '+');
        CHECK(plus != NULL);
        CHECK_EQ(strtoul(plus + 1, NULL, 16), offset + 3);
}

TEST(a_place_in_nothing_is_its_address)
{
        CHECK_STR(at((const void *) 16, 0), "0x10");
}

TEST(a_file_is_called_by_its_whole_name)
{
        /* The dynamic linker's first bytes, which are no function's; its name is a long one. */
        const char *linker = (const char *) getauxval(AT_BASE), *slash;
        char expected[64];
        Dl_info info;

        if (!linker || !dladdr(linker + 16, &info))
                test_skip("no dynamic linker");
        slash = strrchr(info.dli_fname, '/');
        snprintf(expected, sizeof(expected), "%s+0x10", slash ? slash + 1 : info.dli_fname);
        CHECK(strlen(expected) > strlen("libeddy-http.so.+0x10"));
        CHECK_STR(at(linker, 16), expected);
}

TEST(where_room_is_short_the_name_is_cut_and_not_the_offset)
{
        char name[8];

        ed_sys_symbol((const char *) getppid + 1, name, sizeof(name));
        CHECK_STR(name + 3, "+0x1");
        ed_sys_symbol((const char *) getppid + 1, name, 3);
        CHECK_STR(name, "+0");
}
