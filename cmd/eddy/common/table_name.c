/*
 * common/table_name.c - see table_name.h.
 */
#include "common/table_name.h"

#include <string.h>

#include "common/console.h"

const char *ed_table_name_end(const char *name, size_t bytes)
{
        static const char *const ends[] = { ".csv",   ".tsv", ".parquet", ".feather",
                                            ".arrow", ".xls", ".xlsx" };

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t end_bytes = strlen(ends[i]);

                if (bytes >= end_bytes && memcmp(name + bytes - end_bytes, ends[i], end_bytes) == 0)
                        return ends[i];
        }
        return NULL;
}

int ed_table_name_refuse(const char *command, const char *name)
{
        if (!ed_table_name_end(name, strlen(name)))
                return 0;
        return ed_console_usage(command,
                                "-o %s: the output is JSON lines: name it .jsonl, and make a table "
                                "from it by eddy select",
                                name);
}
