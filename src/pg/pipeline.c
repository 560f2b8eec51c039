/*
 * pg/pipeline.c - pipelines: calls, and the connection that they share.
 *
 * The connections are those of a pool, so the pool connects, and resets those whose last commands were
 * cancelled. A connection is lent as long as it works and a task may wait for its answers.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/pg_pool.h"
#include "eddy/scope.h"
#include "pg/pipeline.h"
#include "scope/misuse.h"

enum { COMMANDS_DEFAULT = 256 };

#define SILENCE_MAX_NS EDDY_SEC(1)

void ed_pg_pipeline_unref(eddy_pg_pipeline *pipeline)
{
        if (--pipeline->refs > 0)
                return;
        ed_member_leave(&pipeline->member);
        ed_free(pipeline);
}

int eddy_pg_pipeline_new(const struct eddy_pg_opts *opts,
                         const struct eddy_pg_pipeline_opts *pipeline_opts,
                         eddy_pg_pipeline **ret_pipeline)
{
        struct eddy_pool_opts pool_opts = { .size = EDDY_PG_PIPELINE_CONNECTIONS };
        struct eddy_pg_opts own = { .flags = 0 };
        uint32_t max = pipeline_opts ? pipeline_opts->commands_max : 0;
        eddy_pg_pipeline *pipeline;
        int err;

        if (!ret_pipeline || max > EDDY_PG_PIPELINE_MAX)
                return -EINVAL;
        pipeline = ed_alloc_zero(sizeof(*pipeline));
        if (!pipeline)
                return -ENOMEM;
        if (opts)
                own = *opts;
        own.ret_fault = &pipeline->fault;
        err = eddy_pg_pool_new(&own, &pool_opts, &pipeline->pool);
        if (err < 0) {
                ed_free(pipeline);
                return err;
        }
        pipeline->refs = 1;
        ed_member_join(&pipeline->member, ed_loop_current, NULL);
        pipeline->commands_max = max ? max : COMMANDS_DEFAULT;
        pipeline->command_timeout_ns = own.command_timeout_ns;
        pipeline->silence_max_ns = own.cancel_timeout_ns ? own.cancel_timeout_ns : SILENCE_MAX_NS;
        ed_list_init(&pipeline->links);
        *ret_pipeline = pipeline;
        return 0;
}

void eddy_pg_pipeline_close(eddy_pg_pipeline *pipeline)
{
        struct ed_list *at, *next;

        if (!pipeline || pipeline->is_closed ||
            !ed_misuse_may_close(&pipeline->member, "a pipeline"))
                return;
        pipeline->is_closed = true;
        for (at = pipeline->links.next; at != &pipeline->links; at = next) {
                struct ed_pg_link *link = ed_container_of(at, struct ed_pg_link, entry);

                next = at->next;
                ed_pg_fault_set(&link->fault, "the pipeline was closed");
                link->has_last_words = true;
                if (link->waiting == 0)
                        ed_pg_link_give_back(link);
                else
                        ed_pg_link_fail(link, EDDY_E_PG_CLOSED);
        }
        eddy_pool_close(pipeline->pool);
        ed_pg_pipeline_unref(pipeline);
}

const struct eddy_pg_fault *eddy_pg_pipeline_fault(const eddy_pg_pipeline *pipeline)
{
        static const struct eddy_pg_fault none;

        return pipeline ? &pipeline->fault : &none;
}

void eddy_pg_pipeline_stats(const eddy_pg_pipeline *pipeline,
                            struct eddy_pg_pipeline_stats *ret_stats)
{
        static const struct eddy_pg_pipeline_stats none;

        *ret_stats = pipeline ? pipeline->stats : none;
}

/* --- the connection --- */

/* Borrow a connection. The caller has the lock. */
static int attempt(eddy_pg_pipeline *pipeline)
{
        eddy_pool_loan loan = { .item = NULL };
        int err = eddy_pool_acquire(pipeline->pool, &loan);

        if (err == 0 && pipeline->is_closed)
                err = EDDY_E_PG_CLOSED;
        if (err == 0)
                err = ed_pg_link_new(pipeline, &loan, &pipeline->link);
        (void) eddy_pool_discard(&loan);
        if (err == -ECANCELED)
                return err;
        pipeline->attempts++;
        pipeline->attempt_err = err;
        pipeline->stats.connects += err == 0;
        return err == EDDY_E_POOL_CLOSED ? EDDY_E_PG_CLOSED : err;
}

/* Connect, or wait for the attempt of another task. */
static int connect_once(eddy_pg_pipeline *pipeline)
{
        uint64_t attempts = pipeline->attempts;
        int err = eddy_lock_acquire(&pipeline->connecting);

        if (err < 0)
                return err;
        if (pipeline->is_closed)
                err = EDDY_E_PG_CLOSED;
        else if (!pipeline->link && pipeline->attempts != attempts && pipeline->attempt_err < 0)
                err = pipeline->attempt_err; /* of an attempt that began after this call */
        else if (!pipeline->link)
                err = attempt(pipeline);
        (void) eddy_lock_release(&pipeline->connecting);
        return err;
}

static bool has_link(eddy_pg_pipeline *pipeline)
{
        return pipeline->link && ed_pg_link_is_fit(pipeline->link);
}

/* --- calls --- */

/* Returns the end of a comment that begins at 'sql'; comments nest. */
static const char *skip_comment(const char *sql)
{
        unsigned depth = 0;

        do {
                bool is_begin = strncmp(sql, "/*", 2) == 0, is_end = strncmp(sql, "*/", 2) == 0;

                depth += is_begin;
                depth -= is_end;
                sql += is_begin || is_end ? 2 : 1;
        } while (depth > 0 && *sql);
        return sql;
}

/* Skip spaces, comments and parentheses. */
static const char *skip(const char *sql)
{
        for (;;) {
                sql += strspn(sql, " \t\r\n\f(");
                if (strncmp(sql, "--", 2) == 0)
                        sql += strcspn(sql, "\r\n");
                else if (strncmp(sql, "/*", 2) == 0)
                        sql = skip_comment(sql);
                else
                        return sql;
        }
}

/* Whether a command may share a connection: it changes nothing but data. */
static bool is_shareable(const char *sql)
{
        static const char *const words[] = { "select", "with",   "values", "table", "show",
                                             "insert", "update", "delete", "merge", "explain" };
        const char *word = skip(sql);
        size_t bytes = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");

        for (size_t i = 0; i < ed_array_count(words); i++)
                if (strlen(words[i]) == bytes && strncasecmp(word, words[i], bytes) == 0)
                        return true;
        return false;
}

static int run_in_time(eddy_pg_pipeline *pipeline, struct ed_pg_request *request)
{
        struct eddy_scope_opts limit = { .timeout_ns = pipeline->command_timeout_ns };
        eddy_scope scope;
        int err;

        if (limit.timeout_ns == 0)
                return ed_pg_link_run(pipeline->link, request);
        eddy_scope_begin(&scope, &limit);
        err = eddy_scope_end_with(&scope, ed_pg_link_run(pipeline->link, request));
        return err == -ETIMEDOUT ? EDDY_E_PG_TIMED_OUT : err;
}

static int run(eddy_pg_pipeline *pipeline, struct ed_pg_request *request)
{
        int err = 0;

        while (err == 0 && !has_link(pipeline))
                err = connect_once(pipeline);
        if (err == 0)
                err = run_in_time(pipeline, request);
        if (request->has_failed && request->result) {
                int of_server = ed_pg_fault_of_result(&pipeline->fault, request->result);

                err = err == EDDY_E_PG_SERVER ? of_server : err;
        }
        return err;
}

static int call(eddy_pg_pipeline *pipeline, bool is_alone, const char *sql,
                const struct eddy_pg_value *values, size_t n, eddy_pg_result **ret_result)
{
        struct ed_pg_request request = { .sql = sql, .is_alone = is_alone };
        struct ed_pg_params params;
        struct ed_task *task;
        int err;

        if (!pipeline || !sql)
                return -EINVAL;
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (task->loop != pipeline->member.loop)
                return EDDY_E_RUN_OTHER_LOOP;
        if (!is_shareable(sql)) {
                ed_pg_fault_set(&pipeline->fault,
                                "the command needs a connection of its own, see eddy_pg_connect()");
                return EDDY_E_PG_STATE;
        }
        err = ed_pg_params_init(&params, values, n);
        if (err < 0)
                return err;
        request.params = &params;
        pipeline->refs++;
        err = pipeline->is_closed ? EDDY_E_PG_CLOSED : run(pipeline, &request);
        ed_pg_pipeline_unref(pipeline);
        ed_pg_params_fini(&params);
        if (err == 0 && ret_result)
                *ret_result = (eddy_pg_result *) request.result;
        else
                PQclear(request.result);
        return err;
}

int eddy_pg_pipeline_read(eddy_pg_pipeline *pipeline, const char *sql,
                          const struct eddy_pg_value *params, size_t n, eddy_pg_result **ret_result)
{
        return call(pipeline, false, sql, params, n, ret_result);
}

int eddy_pg_pipeline_write(eddy_pg_pipeline *pipeline, const char *sql,
                           const struct eddy_pg_value *params, size_t n,
                           eddy_pg_result **ret_result)
{
        return call(pipeline, true, sql, params, n, ret_result);
}
