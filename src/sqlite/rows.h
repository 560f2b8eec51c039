/*
 * sqlite/rows.h - rows in memory.
 */
#ifndef ED_SQLITE_ROWS_H
#define ED_SQLITE_ROWS_H

#include "sqlite/sqlite.h"

struct ed_sqlite_cell {
        uint32_t type; /* enum eddy_sqlite_type */
        uint32_t bytes;
        union {
                int64_t integer;
                double real;
                int64_t offset; /* of the bytes, from the row's begin; 0: none */
        } as;
};

struct ed_sqlite_row {
        uint64_t bytes; /* of all, a multiple of 8 */
        struct ed_sqlite_cell cells[];
};

struct eddy_sqlite_rows {
        struct ed_member member; /* of the database's loop; the connection may be gone */
        eddy_sqlite_conn *conn;
        struct ed_sqlite_statement *statement; /* is active; NULL: all rows are in the buffer */
        uint32_t batch_rows;
        bool is_open;   /* they are the connection's open rows, so the connection exists */
        bool is_in_job; /* of the connection, which may be writing the buffer, or ending the rows */
        bool is_closed; /* by the program, during a job or a call: the last user frees them */
        uint32_t users; /* calls of eddy_sqlite_rows_next() */
        int columns;
        int error;           /* the result of all later calls; 0: none */
        struct ed_buf names; /* of the columns; each ends in a NUL */
        struct ed_buf batch;
        size_t next;                   /* offset of the next row */
        struct ed_sqlite_row *present; /* NULL: none */
        /* The table of the last struct that a row was read into: it is right. */
        const struct eddy_fields *checked;
};

/* The bytes of a text or blob, which end in a NUL. */
static inline const void *ed_sqlite_cell_data(const struct ed_sqlite_row *row,
                                              const struct ed_sqlite_cell *cell)
{
        return cell->as.offset ? (const char *) row + cell->as.offset : "";
}

/* eddy_sqlite_query(), with the rows of a batch. */
int ed_sqlite_rows_open(eddy_sqlite_conn *conn, const struct ed_sqlite_run *run,
                        uint32_t batch_rows, eddy_sqlite_rows **ret_rows);

/* eddy_sqlite_rows_next() inside the batch: does not suspend. */
int ed_sqlite_rows_advance(eddy_sqlite_rows *rows);

#endif
