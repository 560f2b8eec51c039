/*
 * pg/link.c - a link of a pipeline: commands are sent together, and answered in order.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "pg/pipeline.h"

/* Bytes that are handed to libpq before it is asked whether the socket has taken them. */
enum { FLUSH_BYTES = 64 << 10 };

static const char too_large_text[] = "the result is larger than result_max";

static struct ed_pg_place *place_of(const struct ed_pg_link *link, uint64_t number)
{
        return &link->ring[number % link->pipeline->commands_max];
}

static void note_sent(struct ed_pg_link *link)
{
        struct eddy_pg_pipeline_stats *stats = &link->pipeline->stats;

        if (link->pipeline->link != link)
                return;
        stats->commands_sent = (uint32_t) (link->last - link->first);
        if (stats->commands_sent > stats->commands_sent_most)
                stats->commands_sent_most = stats->commands_sent;
}

/* --- the end of a request --- */

static void deliver(struct ed_pg_link *link, struct ed_pg_request *request, int err)
{
        link->waiting--;
        ed_suspend_wake(request->task, err);
}

static void drop_result(struct ed_pg_request *request)
{
        PQclear(request->result);
        request->result = NULL;
}

static void send_again(struct ed_pg_link *link, struct ed_pg_request *request)
{
        drop_result(request);
        request->has_failed = false;
        request->is_sent = false;
        request->is_alone = true;
        ed_list_push_back(&link->unsent, &request->entry);
        link->pipeline->stats.repeated++;
}

/* --- the end of a link --- */

static void unwatch(struct ed_pg_link *link)
{
        if (link->watched)
                (void) eddy_handle_cancel(&link->watch);
        link->watched = 0;
}

/* The connection leaves the link. Returns its loan. */
static eddy_pool_loan detach(struct ed_pg_link *link)
{
        eddy_pg_pipeline *pipeline = link->pipeline;
        eddy_pool_loan loan = link->loan;

        unwatch(link);
        ed_call_cancel(pipeline->member.loop, &link->sending);
        if (link->first != link->last && PQstatus(link->pg->conn) == CONNECTION_OK) {
                link->pg->owes = true;
                ed_pg_cancel_begin(link->pg);
        }
        link->pg->is_used = true;
        link->pg->is_touched = true;
        link->pg = NULL;
        ed_list_remove(&link->entry);
        if (pipeline->link == link) {
                pipeline->link = NULL;
                pipeline->stats.commands_sent = 0;
        }
        return loan;
}

void ed_pg_link_give_back(struct ed_pg_link *link)
{
        eddy_pool_loan loan;

        if (link->first == link->last && !PQexitPipelineMode(link->pg->conn))
                link->pg->is_lost = true;
        loan = detach(link);
        (void) eddy_pool_release(&loan);
        ed_pg_link_unref(link);
}

void ed_pg_link_fail(struct ed_pg_link *link, int err)
{
        eddy_pool_loan loan;

        if (err == EDDY_E_PG_CLOSED && !link->has_last_words)
                ed_pg_fault_of_conn(&link->fault, link->pg->conn);
        link->pipeline->stats.lost++;
        for (uint64_t number = link->first; number < link->last; number++) {
                struct ed_pg_request *request = place_of(link, number)->request;

                if (!request)
                        continue;
                /* It may have an error of its own, if its group had no end. */
                if (!request->has_failed)
                        drop_result(request);
                deliver(link, request,
                        err == EDDY_E_PG_TOO_LARGE && number != link->next ? EDDY_E_PG_CLOSED
                                                                           : err);
        }
        while (!ed_list_is_empty(&link->unsent))
                deliver(link,
                        ed_container_of(ed_list_pop_front(&link->unsent), struct ed_pg_request,
                                        entry),
                        EDDY_E_PG_CLOSED);
        link->pg->is_lost = true;
        loan = detach(link);
        (void) eddy_pool_discard(&loan);
        ed_pg_link_unref(link);
}

static int lose_with(struct ed_pg_link *link, const char *text)
{
        if (!link->has_last_words)
                ed_pg_fault_set(&link->fault, text);
        link->has_last_words = true;
        return EDDY_E_PG_CLOSED;
}

/* --- commands --- */

/* End the group. libpq 15 also flushes here. */
static int sync_group(struct ed_pg_link *link)
{
        if (!link->is_group_open)
                return 0;
        place_of(link, link->last - 1)->ends_group = true;
        link->is_group_open = false;
        link->pipeline->stats.syncs++;
        return PQpipelineSync(link->pg->conn) ? 0 : EDDY_E_PG_CLOSED;
}

/* 'request' may be NULL: a command of the link itself. */
static void add_place(struct ed_pg_link *link, struct ed_pg_request *request, uint32_t prepares)
{
        if (link->first == link->last)
                link->heard_ns = ed_loop_now(link->pipeline->member.loop);
        if (request) {
                request->is_sent = true;
                request->place = link->last;
        }
        *place_of(link, link->last++) = (struct ed_pg_place){ .request = request,
                                                              .is_own = !request,
                                                              .prepares = prepares };
        link->is_group_open = true;
        link->pipeline->stats.commands += request != NULL;
        note_sent(link);
}

/* Release a statement on the server, in a group of its own. Its answer has no effect. */
static int deallocate(struct ed_pg_link *link, struct ed_pg_statement *statement)
{
        char name[ED_PG_NAME_BYTES], sql[64];
        int err = sync_group(link);

        ed_pg_statement_name(statement, name);
        snprintf(sql, sizeof(sql), "DEALLOCATE %s", name);
        ed_pg_statement_drop(link->pg, statement);
        if (err == 0 && !PQsendQueryParams(link->pg->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
                err = EDDY_E_PG_CLOSED;
        if (err < 0)
                return err;
        add_place(link, NULL, 0);
        return sync_group(link);
}

/* Prepare the statement of a request, in its group. */
static int prepare(struct ed_pg_link *link, struct ed_pg_request *request,
                   struct ed_pg_statement **ret_statement)
{
        struct ed_pg_statement *statement =
                ed_pg_statement_add(&link->pg->statements, request->sql);
        char name[ED_PG_NAME_BYTES];

        if (!statement)
                return -ENOMEM;
        ed_pg_statement_name(statement, name);
        if (!PQsendPrepare(link->pg->conn, name, request->sql, 0, NULL))
                return EDDY_E_PG_CLOSED;
        *ret_statement = statement;
        return 0;
}

/* Send a request, unless the place is used for one thing that has to be sent before it. */
static int send_one(struct ed_pg_link *link, struct ed_pg_request *request)
{
        struct ed_pg_statements *statements = &link->pg->statements;
        struct ed_pg_statement *statement = NULL;
        uint32_t prepares = 0;
        int err = request->is_alone ? sync_group(link) : 0;

        if (err == 0 && !request->is_plain && ed_pg_statement_is_wanted(statements, request->sql)) {
                statement = ed_pg_statement_find(statements, request->sql);
                if (!statement && ed_pg_statement_surplus(statements))
                        return deallocate(link, ed_pg_statement_surplus(statements));
                if (!statement) {
                        err = sync_group(link);
                        if (err == 0)
                                err = prepare(link, request, &statement);
                        prepares = err == 0 ? statement->number : 0;
                }
        }
        if (err < 0)
                return err;
        ed_list_remove(&request->entry);
        request->statement = statement ? statement->number : 0;
        err = ed_pg_send(link->pg, request->sql, request->params, statement);
        add_place(link, request, prepares);
        link->bytes += request->params->bytes;
        if (!statement || prepares)
                link->bytes += strlen(request->sql);
        if (err == 0 && (request->is_alone || prepares))
                err = sync_group(link);
        return err;
}

/* --- the socket --- */

static int on_ready(void *arg);

static int watch(struct ed_pg_link *link)
{
        unsigned wanted = link->first != link->last ? EDDY_LOOP_READ : 0;
        int err = 0;

        if (link->is_blocked)
                wanted |= EDDY_LOOP_WRITE;
        if (wanted == link->watched)
                return 0;
        unwatch(link);
        if (wanted)
                err = eddy_loop_watch(NULL, &link->watch, PQsocket(link->pg->conn), wanted,
                                      on_ready, link);
        if (err == 0)
                link->watched = wanted;
        return err;
}

static int flush(struct ed_pg_link *link)
{
        int left = PQflush(link->pg->conn);

        link->bytes = 0;
        link->is_blocked = left > 0;
        return left < 0 ? EDDY_E_PG_CLOSED : 0;
}

/* Send what may be sent. A request that cannot be prepared for lack of memory fails alone. */
static int send_all(struct ed_pg_link *link)
{
        int err = 0;

        while (err == 0 && !link->is_blocked && !ed_list_is_empty(&link->unsent) &&
               link->last - link->first < link->pipeline->commands_max) {
                struct ed_pg_request *request =
                        ed_container_of(link->unsent.next, struct ed_pg_request, entry);

                err = send_one(link, request);
                if (err == -ENOMEM) {
                        ed_list_remove(&request->entry);
                        deliver(link, request, err);
                        err = 0;
                }
                if (err == 0 && link->bytes > FLUSH_BYTES)
                        err = flush(link);
        }
        if (err == 0)
                err = sync_group(link);
        return err == 0 ? flush(link) : err;
}

static void plan_sending(struct ed_pg_link *link)
{
        if (!link->sending.queued)
                ed_call_queue(link->pipeline->member.loop, &link->sending, false);
}

/* --- answers --- */

static bool is_group_answered(const struct ed_pg_link *link)
{
        return link->next > link->first && place_of(link, link->next - 1)->ends_group;
}

static void forget_statement(struct ed_pg_link *link, uint32_t number)
{
        struct ed_list *head = &link->pg->statements.list;

        for (struct ed_list *at = head->next; at != head; at = at->next) {
                struct ed_pg_statement *statement =
                        ed_container_of(at, struct ed_pg_statement, link);

                if (statement->number == number) {
                        ed_pg_statement_drop(link->pg, statement);
                        return;
                }
        }
}

static const char *state_of(const PGresult *result)
{
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

        return state ? state : "";
}

/* At the end of a group: its commands have all taken effect, or none of them has. */
static void finish(struct ed_pg_link *link, const struct ed_pg_place *place)
{
        struct ed_pg_request *request = place->request;

        if (!request) {
                link->pipeline->stats.dropped += !place->is_own;
        } else if (request->has_failed && request->statement && !request->is_plain &&
                   ed_pg_is_stale_state(state_of(request->result))) {
                forget_statement(link, request->statement);
                request->is_plain = true;
                send_again(link, request);
        } else if (link->has_group_failed && !request->has_failed) {
                send_again(link, request);
        } else {
                deliver(link, request, request->has_failed ? EDDY_E_PG_SERVER : 0);
        }
}

static int end_group(struct ed_pg_link *link)
{
        PGTransactionStatusType status = PQtransactionStatus(link->pg->conn);

        if (!is_group_answered(link) || link->has_result)
                return lose_with(link, "the server ended a command without an answer");
        /* libpq reports this only after the last group that was sent. */
        if (status == PQTRANS_INTRANS || status == PQTRANS_INERROR)
                return lose_with(link, "a command left a transaction open");
        for (; link->first < link->next; link->first++)
                finish(link, place_of(link, link->first));
        link->has_group_failed = false;
        link->has_commit = false;
        note_sent(link);
        if (!ed_list_is_empty(&link->unsent))
                plan_sending(link);
        return 0;
}

/* Keep the first error of a request, or of the commit of a group that is one request. */
static void take_error(struct ed_pg_link *link, PGresult *result)
{
        bool is_commit = is_group_answered(link);
        const struct ed_pg_place *place = place_of(link, is_commit ? link->first : link->next);
        const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
        struct ed_pg_request *request = place->request;

        link->has_group_failed = true;
        if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)) {
                (void) ed_pg_fault_of_result(&link->fault, result);
                link->has_last_words = true;
        }
        if (!is_commit && place->prepares && !link->has_prepared)
                forget_statement(link, place->prepares);
        if (!request || request->has_failed || (is_commit && link->next - link->first > 1)) {
                PQclear(result);
                return;
        }
        PQclear(request->result);
        request->result = result;
        request->has_failed = true;
}

static int take_success(struct ed_pg_link *link, PGresult *result)
{
        const struct ed_pg_place *place = place_of(link, link->next);

        if (is_group_answered(link)) {
                PQclear(result);
                return lose_with(link, "the server sent an answer without a command");
        }
        if (PQresultMemorySize(result) > link->pg->result_max) {
                PQclear(result);
                (void) lose_with(link, too_large_text);
                return EDDY_E_PG_TOO_LARGE;
        }
        if (!place->request || (place->prepares && !link->has_prepared))
                PQclear(result);
        else
                place->request->result = result;
        return 0;
}

/* The answer to a command has ended. */
static int end_command(struct ed_pg_link *link)
{
        if (!link->has_result)
                return lose_with(link, "the server ended a command without an answer");
        link->has_result = false;
        if (is_group_answered(link))
                return 0;
        if (place_of(link, link->next)->prepares && !link->has_prepared) {
                link->has_prepared = true;
                return 0;
        }
        link->has_prepared = false;
        link->next++;
        return 0;
}

static int take(struct ed_pg_link *link, PGresult *result)
{
        if (!result)
                return end_command(link);
        link->pg->received = 0;
        if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
                PQclear(result);
                return end_group(link);
        }
        /* After the last command of a group, the commit may fail, once. */
        if (link->has_result || (is_group_answered(link) && link->has_commit)) {
                PQclear(result);
                return lose_with(link, "the server sent more than one answer to a command");
        }
        link->has_result = true;
        link->has_commit = is_group_answered(link);
        switch (PQresultStatus(result)) {
        case PGRES_EMPTY_QUERY:
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
                return take_success(link, result);
        case PGRES_PIPELINE_ABORTED:
                link->has_group_failed = true;
                PQclear(result);
                return 0;
        case PGRES_FATAL_ERROR:
                if (*state_of(result)) {
                        take_error(link, result);
                        return 0;
                }
                PQclear(result); /* of libpq: the connection is lost */
                return EDDY_E_PG_CLOSED;
        default:
                PQclear(result);
                return lose_with(link, "the server sent an answer of an unexpected kind");
        }
}

static int take_answers(struct ed_pg_link *link)
{
        PGconn *conn = link->pg->conn;
        int err = 0;

        /* Answers from before the end of the connection, and the last words of the server, too. */
        while (err == 0 && link->first != link->last && !PQisBusy(conn))
                err = take(link, PQgetResult(conn));
        return err < 0 || PQstatus(conn) == CONNECTION_OK ? err : EDDY_E_PG_CLOSED;
}

static int read_answers(struct ed_pg_link *link)
{
        int consumed = ed_pg_consume(link->pg), err;
        PGnotify *notify;

        if (consumed == EDDY_E_PG_TOO_LARGE) {
                (void) lose_with(link, too_large_text);
                return consumed;
        }
        link->heard_ns = ed_loop_now(link->pipeline->member.loop);
        err = take_answers(link);
        /* Nothing comes after the end of the connection. */
        if (err == 0)
                err = consumed;
        /* Nothing listens, but a server may send what it likes. */
        while ((notify = PQnotifies(link->pg->conn)) != NULL)
                PQfreemem(notify);
        if (err == 0 && link->pg->is_stray)
                err = lose_with(link, "the server sent a message that is not allowed");
        return err;
}

/* While libpq sends, it also reads: those answers have to be taken before the next wait. */
static void end_turn(struct ed_pg_link *link, int err)
{
        if (err == 0)
                err = ed_pg_has_decrypted(link->pg) ? read_answers(link) : take_answers(link);
        if (err == 0)
                err = watch(link);
        if (err < 0)
                ed_pg_link_fail(link, err);
        else if (link->waiting == 0 && link->pipeline->link != link)
                ed_pg_link_give_back(link);
}

/* After all tasks that are ready have added their commands. */
static void on_sending(struct ed_call *call)
{
        struct ed_pg_link *link = ed_container_of(call, struct ed_pg_link, sending);

        end_turn(link, send_all(link));
}

static int on_ready(void *arg)
{
        struct ed_pg_link *link = arg;
        int err = read_answers(link);

        if (err == 0 && link->is_blocked)
                err = flush(link);
        if (err == 0 && !link->is_blocked && !ed_list_is_empty(&link->unsent))
                plan_sending(link);
        end_turn(link, err);
        return 0;
}

/* --- links --- */

int ed_pg_link_new(eddy_pg_pipeline *pipeline, eddy_pool_loan *loan, struct ed_pg_link **ret_link)
{
        size_t bytes = pipeline->commands_max * sizeof(struct ed_pg_place);
        struct ed_pg_link *link = ed_alloc_zero(sizeof(*link));
        eddy_pg *pg = loan->item;

        if (!link)
                return -ENOMEM;
        link->ring = ed_alloc_zero(bytes);
        if (!link->ring || !PQenterPipelineMode(pg->conn)) {
                int err = link->ring ? EDDY_E_PG_CLOSED : -ENOMEM;

                ed_free(link->ring);
                ed_free(link);
                return err;
        }
        link->refs = 1;
        link->pipeline = pipeline;
        link->loan = *loan;
        link->pg = pg;
        pg->received = 0;
        *loan = (eddy_pool_loan){ .item = NULL };
        ed_list_init(&link->unsent);
        ed_call_init(&link->sending, on_sending);
        ed_list_push_back(&pipeline->links, &link->entry);
        pipeline->refs++;
        *ret_link = link;
        return 0;
}

void ed_pg_link_unref(struct ed_pg_link *link)
{
        eddy_pg_pipeline *pipeline = link->pipeline;

        if (--link->refs > 0)
                return;
        ed_free(link->ring);
        ed_free(link);
        ed_pg_pipeline_unref(pipeline);
}

bool ed_pg_link_is_fit(struct ed_pg_link *link)
{
        if (link->waiting > 0 || link->first != link->last || !ed_pg_is_broken(link->pg))
                return true;
        ed_pg_link_fail(link, EDDY_E_PG_CLOSED);
        return false;
}

/* The rest is done by the task. */
static bool take_back(void *arg)
{
        struct ed_pg_request *request = arg;

        if (request->is_sent)
                place_of(request->link, request->place)->request = NULL;
        else
                ed_list_remove(&request->entry);
        request->link->waiting--;
        drop_result(request);
        return true;
}

/*
 * A request was cancelled. If no other one waits, the pool ends the commands that are under way. If
 * the server has been silent, this one gets no new commands.
 */
static void abandon(struct ed_pg_link *link)
{
        eddy_pg_pipeline *pipeline = link->pipeline;
        int64_t silence_ns = ed_loop_now(pipeline->member.loop) - link->heard_ns;
        bool is_present = pipeline->link == link, is_owing = link->first != link->last;

        if (!link->pg)
                return;
        if (link->waiting == 0 && (is_owing || !is_present))
                ed_pg_link_give_back(link);
        else if (is_present && is_owing && silence_ns > pipeline->silence_max_ns)
                pipeline->link = NULL;
}

int ed_pg_link_run(struct ed_pg_link *link, struct ed_pg_request *request)
{
        int err = ed_suspend_enter(&request->task);

        if (err < 0)
                return err;
        request->link = link;
        ed_list_push_back(&link->unsent, &request->entry);
        link->waiting++;
        link->refs++;
        plan_sending(link);
        err = ed_suspend_park(request->task, "an answer of PostgreSQL", take_back, request);
        if (err == -ECANCELED)
                abandon(link);
        else if (err == EDDY_E_PG_CLOSED || err == EDDY_E_PG_TOO_LARGE)
                link->pipeline->fault = link->fault;
        ed_pg_link_unref(link);
        return err;
}
