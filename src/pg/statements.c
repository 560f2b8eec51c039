/*
 * pg/statements.c - the prepared statements of a connection: the most recently used are kept.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "pg/pg.h"

/* A longer command is not prepared. */
enum { SQL_BYTES_MAX = 64 << 10 };

/*
 * In a transaction no statement is released, since an error would end the transaction. It has at
 * most this many times the statements; further ones are not prepared.
 */
enum { IN_TRANSACTION_MAX = 2 };

void ed_pg_statements_init(struct ed_pg_statements *statements, uint32_t max)
{
        memset(statements, 0, sizeof(*statements));
        ed_list_init(&statements->list);
        statements->max = max;
}

static void forget(struct ed_pg_statements *statements, struct ed_pg_statement *statement)
{
        ed_hash_table_remove(&statements->table, &statement->node);
        ed_list_remove(&statement->link);
        statements->count--;
        ed_free(statement);
}

void ed_pg_statements_fini(struct ed_pg_statements *statements)
{
        while (!ed_list_is_empty(&statements->list))
                forget(statements,
                       ed_container_of(statements->list.next, struct ed_pg_statement, link));
        ed_hash_table_fini(&statements->table);
}

void ed_pg_statement_drop(eddy_pg *pg, struct ed_pg_statement *statement)
{
        forget(&pg->statements, statement);
}

void ed_pg_statement_name(const struct ed_pg_statement *statement, char name[ED_PG_NAME_BYTES])
{
        snprintf(name, ED_PG_NAME_BYTES, "eddy_%u", statement->number);
}

bool ed_pg_statement_is_wanted(const struct ed_pg_statements *statements, const char *sql)
{
        return statements->max > 0 && strnlen(sql, SQL_BYTES_MAX + 1) <= SQL_BYTES_MAX;
}

struct ed_pg_statement *ed_pg_statement_find(struct ed_pg_statements *statements, const char *sql)
{
        size_t bytes = strlen(sql);
        uint64_t hash = ed_hash(ED_HASH_EMPTY, sql, bytes);

        ed_hash_each (node, &statements->table, hash) {
                struct ed_pg_statement *at = ed_container_of(node, struct ed_pg_statement, node);

                if (at->bytes != bytes || memcmp(at->sql, sql, bytes) != 0)
                        continue;
                ed_list_remove(&at->link);
                ed_list_push_front(&statements->list, &at->link);
                return at;
        }
        return NULL;
}

struct ed_pg_statement *ed_pg_statement_surplus(const struct ed_pg_statements *statements)
{
        if (statements->count < statements->max)
                return NULL;
        return ed_container_of(statements->list.prev, struct ed_pg_statement, link);
}

struct ed_pg_statement *ed_pg_statement_add(struct ed_pg_statements *statements, const char *sql)
{
        size_t bytes = strlen(sql);
        struct ed_pg_statement *statement = ed_alloc(sizeof(*statement) + bytes + 1);

        if (!statement)
                return NULL;
        *statement =
                (struct ed_pg_statement){ .bytes = bytes, .number = ++statements->last_number };
        memcpy(statement->sql, sql, bytes + 1);
        ed_hash_table_add(&statements->table, &statement->node, ed_hash(ED_HASH_EMPTY, sql, bytes));
        ed_list_push_front(&statements->list, &statement->link);
        statements->count++;
        return statement;
}

/*
 * Drop the statement used longest ago. It is forgotten first: after a cancel the server may have
 * released it, or keeps it under a name that is not used again.
 */
static int evict(eddy_pg *pg)
{
        struct ed_pg_statement *last =
                ed_container_of(pg->statements.list.prev, struct ed_pg_statement, link);
        char name[ED_PG_NAME_BYTES], sql[64];
        int err;

        ed_pg_statement_name(last, name);
        snprintf(sql, sizeof(sql), "DEALLOCATE %s", name);
        forget(&pg->statements, last);
        err = ed_pg_simple(pg, sql, NULL);
        /* The program may have released it. */
        return err == EDDY_E_PG_SERVER ? 0 : err;
}

int ed_pg_statements_trim(eddy_pg *pg, uint32_t max)
{
        int err = 0;

        while (err == 0 && pg->statements.count > max)
                err = evict(pg);
        return err;
}

/* On failure the statement is gone; after a cancel the server may have it, under a name not used again. */
static int prepare(eddy_pg *pg, struct ed_pg_statement *statement)
{
        char name[ED_PG_NAME_BYTES];
        int err;

        ed_pg_statement_name(statement, name);
        err = PQsendPrepare(pg->conn, name, statement->sql, 0, NULL) ? 0 : ed_pg_lose(pg);
        if (err == 0)
                err = ed_pg_collect(pg, NULL);
        if (err < 0)
                forget(&pg->statements, statement);
        return err;
}

int ed_pg_statement_get(eddy_pg *pg, const char *sql, struct ed_pg_statement **ret_statement)
{
        struct ed_pg_statement *statement;
        int err = 0;

        *ret_statement = NULL;
        if (!ed_pg_statement_is_wanted(&pg->statements, sql) ||
            PQtransactionStatus(pg->conn) == PQTRANS_INERROR)
                return 0;
        statement = ed_pg_statement_find(&pg->statements, sql);
        if (statement) {
                *ret_statement = statement;
                return 0;
        }
        if (PQtransactionStatus(pg->conn) == PQTRANS_IDLE)
                err = ed_pg_statements_trim(pg, pg->statements.max - 1);
        else if (pg->statements.count / IN_TRANSACTION_MAX >= pg->statements.max)
                return 0;
        if (err < 0)
                return err;
        statement = ed_pg_statement_add(&pg->statements, sql);
        if (!statement)
                return -ENOMEM;
        err = prepare(pg, statement);
        if (err == 0)
                *ret_statement = statement;
        return err;
}
