/*
 * sqlite/fault.c - SQLite's result codes as errors, and their texts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sqlite/sqlite.h"

const struct eddy_sqlite_fault ed_sqlite_no_fault = { .offset = -1 };

static int constraint_error(int code)
{
        switch (code) {
        case SQLITE_CONSTRAINT_UNIQUE:
        case SQLITE_CONSTRAINT_PRIMARYKEY:
        case SQLITE_CONSTRAINT_ROWID:
                return EDDY_E_SQLITE_UNIQUE;
        default:
                return EDDY_E_SQLITE_CONSTRAINT;
        }
}

static int error_of(int code)
{
        switch (code & 0xff) {
        case SQLITE_ERROR:
        case SQLITE_MISMATCH:
        case SQLITE_RANGE:
                return EDDY_E_SQLITE_SQL;
        case SQLITE_CONSTRAINT:
                return constraint_error(code);
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
                return EDDY_E_SQLITE_BUSY;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                return EDDY_E_SQLITE_CORRUPT;
        case SQLITE_ABORT:
                return EDDY_E_SQLITE_ENDED;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_IOERR:
                return code == SQLITE_IOERR_NOMEM ? -ENOMEM : -EIO;
        case SQLITE_READONLY:
                return -EROFS;
        case SQLITE_PERM:
        case SQLITE_AUTH:
                return -EACCES;
        case SQLITE_TOOBIG:
                return -EMSGSIZE;
        default:
                return EDDY_E_SQLITE_FAILED;
        }
}

/*
 * Messages of statements that run and have no values. The names in a message about a constraint are
 * the schema's, and the text of a RAISE() is the trigger's.
 */
static bool is_free_of_values(int code, const char *text)
{
        static const char *const known[] = {
                "malformed JSON",
                "integer overflow",
                "cannot start a transaction within a transaction",
                "cannot commit - no transaction is active",
                "cannot rollback - no transaction is active",
                "cannot VACUUM from within a transaction",
        };

        if ((code & 0xff) == SQLITE_CONSTRAINT)
                return code != SQLITE_CONSTRAINT_FUNCTION && code != SQLITE_CONSTRAINT_VTAB;
        for (size_t i = 0; i < ed_array_count(known); i++)
                if (strcmp(text, known[i]) == 0)
                        return true;
        return strcmp(text, sqlite3_errstr(code)) == 0;
}

static void store(struct eddy_sqlite_fault *fault, const char *text, const char *detail)
{
        snprintf(fault->text, sizeof(fault->text), "%s", text);
        snprintf(fault->detail, sizeof(fault->detail), "%s", detail);
}

int ed_sqlite_fail_of(sqlite3 *handle, int code, struct eddy_sqlite_fault *ret_fault)
{
        const char *text = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
        int system = handle ? sqlite3_system_errno(handle) : 0;

        /* The handle has the code's details, unless another step came after the failure. */
        if (handle && (sqlite3_errcode(handle) & 0xff) == (code & 0xff))
                code = sqlite3_extended_errcode(handle);
        else
                text = sqlite3_errstr(code);
        ret_fault->code = code;
        ret_fault->offset = handle ? sqlite3_error_offset(handle) : -1;
        if (is_free_of_values(code, text))
                store(ret_fault, text, "");
        else
                store(ret_fault, sqlite3_errstr(code), text);
        if (eddy_thread_is_stopping() &&
            ((code & 0xff) == SQLITE_INTERRUPT || (code & 0xff) == SQLITE_BUSY))
                return -ECANCELED;
        if ((code & 0xff) == SQLITE_CANTOPEN)
                return system > 0 && system < 4096 ? -system : -ENOENT;
        return error_of(code);
}

int ed_sqlite_fail(eddy_sqlite_conn *conn, int code)
{
        return ed_sqlite_fail_of(conn->handle, code, &conn->fault);
}

int ed_sqlite_fail_sql(eddy_sqlite_conn *conn, int code)
{
        int err = ed_sqlite_fail(conn, code);

        if (conn->fault.detail[0])
                store(&conn->fault, sqlite3_errmsg(conn->handle), "");
        return err;
}

int ed_sqlite_refuse(eddy_sqlite_conn *conn, int error, const char *format, ...)
{
        va_list args;

        conn->fault = ed_sqlite_no_fault;
        va_start(args, format);
        vsnprintf(conn->fault.text, sizeof(conn->fault.text), format, args);
        va_end(args);
        return error;
}

const struct eddy_sqlite_fault *eddy_sqlite_fault(const eddy_sqlite_conn *conn)
{
        return conn ? &conn->fault : &ed_sqlite_no_fault;
}
