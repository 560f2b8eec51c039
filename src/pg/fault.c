/*
 * pg/fault.c - errors of the server and of libpq.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/def.h"
#include "pg/pg.h"

/* Copy a text that may be NULL; control characters become spaces, and none remain at its end. */
static void copy(char *out, size_t room, const char *text)
{
        size_t bytes = 0;

        while (text && text[bytes] && bytes < room - 1) {
                unsigned char c = (unsigned char) text[bytes];

                out[bytes++] = c < ' ' || c == 0x7f ? ' ' : (char) c;
        }
        /* Do not cut a character of UTF-8. */
        if (text && text[bytes])
                while (bytes > 0 && ((unsigned char) text[bytes] & 0xc0) == 0x80)
                        bytes--;
        while (bytes > 0 && out[bytes - 1] == ' ')
                bytes--;
        out[bytes] = '\0';
}

void ed_pg_fault_set(struct eddy_pg_fault *fault, const char *text)
{
        memset(fault, 0, sizeof(*fault));
        copy(fault->text, sizeof(fault->text), text);
}

void ed_pg_fault_of_conn(struct eddy_pg_fault *fault, const PGconn *conn)
{
        ed_pg_fault_set(fault, PQerrorMessage(conn));
}

int ed_pg_fault_of_result(struct eddy_pg_fault *fault, const PGresult *result)
{
        const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        const char *position = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION);

        ed_pg_fault_set(fault, message ? message : PQresultErrorMessage(result));
        copy(fault->sqlstate, sizeof(fault->sqlstate), state);
        copy(fault->detail, sizeof(fault->detail),
             PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL));
        copy(fault->hint, sizeof(fault->hint), PQresultErrorField(result, PG_DIAG_MESSAGE_HINT));
        copy(fault->context, sizeof(fault->context), PQresultErrorField(result, PG_DIAG_CONTEXT));
        copy(fault->schema, sizeof(fault->schema), PQresultErrorField(result, PG_DIAG_SCHEMA_NAME));
        copy(fault->table, sizeof(fault->table), PQresultErrorField(result, PG_DIAG_TABLE_NAME));
        copy(fault->column, sizeof(fault->column), PQresultErrorField(result, PG_DIAG_COLUMN_NAME));
        copy(fault->constraint, sizeof(fault->constraint),
             PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME));
        if (position)
                fault->position = (uint32_t) strtoul(position, NULL, 10);
        if (!state)
                return EDDY_E_PG_CLOSED;
        return strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0 ? EDDY_E_PG_RETRY
                                                                          : EDDY_E_PG_SERVER;
}
