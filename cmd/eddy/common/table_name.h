/*
 * common/table_name.h - names of tables, which a file of another format should not have.
 */
#ifndef ED_CMD_COMMON_TABLE_NAME_H
#define ED_CMD_COMMON_TABLE_NAME_H

#include <stddef.h>

/* Returns the end of a name if it is that of a table, such as ".csv" or ".parquet", or NULL. */
const char *ed_table_name_end(const char *name, size_t bytes);

/*
 * Refuse the name of a table for the -o of a command that writes JSON lines. Returns 0, or the exit code
 * after a message.
 */
int ed_table_name_refuse(const char *command, const char *name);

#endif
