/*
 * sqlite/backup.c - copies of a database that is in use.
 *
 * A reader holds a snapshot during the whole copy, so writers neither wait nor make SQLite begin the
 * copy again. SQLite writes the copy in one transaction of the file, so a copy that ends early leaves
 * the file as it was.
 */
#include <string.h>

#include "sqlite/sqlite.h"

enum { STEP_PAGES = 256 };

struct backup {
        const char *path;
        int step_pages;
        sqlite3 *to;
        sqlite3_backup *copy;
        bool is_new; /* the file did not exist */
        bool is_done;
        uint32_t left, pages;
};

/* Job. */
static int open_copy(eddy_sqlite_conn *conn, void *arg)
{
        struct backup *backup = arg;
        int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
        char *path = sqlite3_mprintf("%s%s", strncmp(backup->path, "file:", 5) == 0 ? "./" : "",
                                     backup->path);
        int rc;

        if (!path)
                return -ENOMEM;
        rc = sqlite3_open_v2(path, &backup->to, flags, NULL);
        if (rc != SQLITE_OK && backup->to && sqlite3_system_errno(backup->to) == ENOENT) {
                (void) sqlite3_close_v2(backup->to);
                backup->is_new = true;
                rc = sqlite3_open_v2(path, &backup->to, flags | SQLITE_OPEN_CREATE, NULL);
        }
        sqlite3_free(path);
        if (rc == SQLITE_OK)
                rc = ed_sqlite_secure(backup->to, &conn->db->opts);
        if (rc != SQLITE_OK)
                return ed_sqlite_fail_of(backup->to, rc, &conn->fault);
        backup->copy = sqlite3_backup_init(backup->to, "main", conn->handle, "main");
        if (!backup->copy)
                return ed_sqlite_fail_of(backup->to, sqlite3_errcode(backup->to), &conn->fault);
        return 0;
}

/* Job. */
static int step(eddy_sqlite_conn *conn, void *arg)
{
        struct backup *backup = arg;
        int rc;

        for (int count = 0;; count++) {
                rc = sqlite3_backup_step(backup->copy, backup->step_pages);
                if (((rc & 0xff) != SQLITE_BUSY && (rc & 0xff) != SQLITE_LOCKED) ||
                    !ed_sqlite_pause(count))
                        break;
        }
        backup->is_done = rc == SQLITE_DONE;
        backup->left = (uint32_t) sqlite3_backup_remaining(backup->copy);
        backup->pages = (uint32_t) sqlite3_backup_pagecount(backup->copy);
        return rc == SQLITE_OK || rc == SQLITE_DONE
                       ? 0
                       : ed_sqlite_fail_of(backup->to, rc, &conn->fault);
}

/* Job. */
static int close_copy(eddy_sqlite_conn *conn, void *arg)
{
        struct backup *backup = arg;
        sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

        (void) conn;
        (void) sqlite3_backup_finish(backup->copy);
        (void) sqlite3_close_v2(backup->to);
        if (backup->is_new && !backup->is_done && vfs)
                (void) vfs->xDelete(vfs, backup->path, 0);
        return 0;
}

/* On a reader's connection. */
static int copy_all(eddy_sqlite_conn *conn, struct backup *backup,
                    const struct eddy_sqlite_backup_opts *opts)
{
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        int err = conn->is_reader ? eddy_sqlite_begin(conn, &tx) : 0;

        /*
         * The first read fixes the snapshot. In memory, nothing changes while the only connection is
         * lent, and SQLite does not copy what its own transaction locks.
         */
        if (err == 0)
                err = eddy_sqlite_exec(conn, "SELECT 1 FROM sqlite_schema", NULL, 0);
        if (err == 0)
                err = ed_sqlite_call(conn, NULL, open_copy, backup);
        while (err == 0 && !backup->is_done) {
                err = ed_sqlite_call(conn, NULL, step, backup);
                if (err == 0 && !backup->is_done && opts->on_step)
                        opts->on_step(opts->arg, backup->left, backup->pages);
        }
        if (backup->to && ed_sqlite_call_shielded(conn, close_copy, backup) < 0)
                (void) close_copy(conn, backup); /* no memory for a job */
        return err;
}

int eddy_sqlite_backup(eddy_sqlite *db, const char *path,
                       const struct eddy_sqlite_backup_opts *opts)
{
        static const struct eddy_sqlite_backup_opts none;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct backup backup = { .path = path };
        int err;

        if (!opts)
                opts = &none;
        if (!db || !path || !*path || opts->step_pages > EDDY_SQLITE_STEP_PAGES_MAX)
                return -EINVAL;
        backup.step_pages = opts->step_pages ? (int) opts->step_pages : STEP_PAGES;
        db->fault = ed_sqlite_no_fault; /* acquiring a reader may open it */
        err = eddy_pool_acquire(db->readers, &loan);
        if (err == 0)
                err = copy_all(loan.item, &backup, opts);
        if (err < 0 && opts->ret_fault)
                *opts->ret_fault = loan.item ? *eddy_sqlite_fault(loan.item) : db->fault;
        return err;
}
