/*
 * test_symbol.c - what the places of functions are called in reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/process.h"
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

TEST(what_has_no_name_is_a_place_in_its_program_that_addr2line_knows)
{
        const char *name = at((const void *) not_exported, 0), *plus = strchr(name, '+');
        unsigned long offset;

        CHECK(strncmp(name, "test_sys_symbol", strlen("test_sys_symbol")) == 0);
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
