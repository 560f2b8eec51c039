/*
 * 97-notes - an application's file: notes in SQLite, which survive a crash in the middle of a change.
 *
 * The file is an SQLite database; its user_version is the version of its schema, and a newer
 * program adds the missing parts in one transaction. Adding several notes is one transaction too:
 * if one of them is refused, or Ctrl-C cancels the task, none is stored. The list is read in
 * batches, so it may be larger than the memory. A backup copies the file while it is in use.
 *
 *     97-notes FILE add TITLE...
 *     97-notes FILE list
 *     97-notes FILE show TITLE
 *     97-notes FILE backup FILE
 *
 * Run: D=$(mktemp -d); 97-notes $D/notes add Milk Bread Salt; rm -r $D
 * Time: wall 0 s
 * Output:
 *     3 notes stored
 *
 * Run: D=$(mktemp -d); n() { 97-notes $D/"$@" 2>&1; }; n notes add Milk Bread; n notes add Salt Milk; n notes list; n notes show Bread; n notes show Tea; n notes backup $D/copy; n copy list; rm -r $D
 * Time: wall 0 s
 * Output:
 *     2 notes stored
 *     97-notes: a row with this key exists already: UNIQUE constraint failed: notes.title
 *     Milk
 *     Bread
 *     note 2 is "Bread"
 *     no note "Tea"
 *     copied
 *     Milk
 *     Bread
 */
#include <eddy/eddy.h>
#include <stdio.h>
#include <string.h>

/* The changes of the schema, in order. New versions of the program only append entries. */
static const char *const schema[] = {
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE)",
        "ALTER TABLE notes ADD COLUMN is_done INTEGER NOT NULL DEFAULT 0",
};

enum { SCHEMA_VERSION = sizeof(schema) / sizeof(schema[0]) };

struct version {
        int number;
};

static const struct eddy_field version_list[] = {
        EDDY_FIELD(struct version, number, EDDY_FIELD_AS("user_version"), EDDY_FIELD_MIN(0),
                   EDDY_FIELD_MAX(SCHEMA_VERSION)),
};
static const struct eddy_fields version_fields = EDDY_FIELDS(struct version, version_list, 0);

struct note {
        int64_t id;
        char title[80];
        bool is_done;
};

static const struct eddy_field note_list[] = {
        EDDY_FIELD(struct note, id),
        EDDY_FIELD(struct note, title),
        EDDY_FIELD(struct note, is_done),
};
static const struct eddy_fields note_fields = EDDY_FIELDS(struct note, note_list, 0);

/* Bring the schema up to date: all changes or none. */
static int upgrade(eddy_sqlite_conn *conn)
{
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        struct version version = { 0 };
        char sql[64];
        int err = eddy_sqlite_begin(conn, &tx);

        if (err == 0)
                err = eddy_sqlite_one(conn, "PRAGMA user_version", NULL, 0, &version_fields,
                                      &version);
        for (int i = version.number; err == 0 && i < SCHEMA_VERSION; i++)
                err = eddy_sqlite_script(conn, schema[i]);
        snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA_VERSION);
        if (err == 0 && version.number < SCHEMA_VERSION)
                err = eddy_sqlite_exec(conn, sql, NULL, 0);
        return err < 0 ? err : eddy_sqlite_commit(&tx);
}

static int add(eddy_sqlite_conn *conn, char **titles, int count)
{
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        int err = eddy_sqlite_begin(conn, &tx);

        for (int i = 0; i < count && err == 0; i++)
                err = eddy_sqlite_exec(conn, "INSERT INTO notes (title) VALUES (?)",
                                       EDDY_SQLITE_BIND(eddy_sqlite_text(titles[i])));
        if (err == 0)
                err = eddy_sqlite_commit(&tx);
        if (err == 0)
                printf("%d notes stored\n", count);
        return err;
}

static int list(eddy_sqlite_conn *conn)
{
        EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;
        const char *title;
        int err = eddy_sqlite_query(conn, "SELECT title FROM notes ORDER BY id", NULL, 0, &rows);

        while (err == 0 && (err = eddy_sqlite_rows_next(rows)) > 0) {
                err = eddy_sqlite_rows_text(rows, 0, &title, NULL);
                if (err == 0)
                        puts(title);
        }
        return err;
}

static int show(eddy_sqlite_conn *conn, const char *title)
{
        struct note note = { 0 };
        int found = eddy_sqlite_one_or_none(conn, "SELECT * FROM notes WHERE title = ?",
                                            EDDY_SQLITE_BIND(eddy_sqlite_text(title)), &note_fields,
                                            &note);

        if (found == 0)
                printf("no note \"%s\"\n", title);
        else if (found > 0)
                printf("note %lld is \"%s\"\n", (long long) note.id, note.title);
        return found < 0 ? found : 0;
}

static int backup(eddy_sqlite *db, const char *path, struct eddy_sqlite_fault *ret_fault)
{
        struct eddy_sqlite_backup_opts opts = { .ret_fault = ret_fault };
        int err = eddy_sqlite_backup(db, path, &opts);

        if (err == 0)
                puts("copied");
        return err;
}

static int run(void *arg)
{
        char **args = arg;
        int count = 0;
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct eddy_sqlite_fault fault = { 0 };
        int err = eddy_sqlite_open(args[1], &(struct eddy_sqlite_opts){ .ret_fault = &fault }, &db);

        while (args[3 + count])
                count++;
        if (err == 0)
                err = eddy_pool_acquire(eddy_sqlite_writer(db), &loan);
        if (err == 0)
                err = upgrade(loan.item);
        if (err < 0)
                ;
        else if (strcmp(args[2], "add") == 0)
                err = add(loan.item, args + 3, count);
        else if (strcmp(args[2], "list") == 0)
                err = list(loan.item);
        else if (strcmp(args[2], "show") == 0 && count == 1)
                err = show(loan.item, args[3]);
        else if (strcmp(args[2], "backup") == 0 && count == 1)
                err = backup(db, args[3], &fault);
        else
                err = -EINVAL;
        if (err < 0 && loan.item && fault.code == 0)
                fault = *eddy_sqlite_fault(loan.item);
        if (err < 0)
                fprintf(stderr, "97-notes: %s: %s\n", eddy_error_text(err), fault.text);
        return err;
}

int main(int argc, char **argv)
{
        if (argc < 3) {
                fprintf(stderr,
                        "usage: 97-notes FILE add TITLE... | list | show TITLE | backup FILE\n");
                return 2;
        }
        return eddy_run(run, argv, NULL) < 0;
}
