/*
 * io/process_map.c - a function for each item of an array, several items per message.
 *
 * As many tasks as the pool has workers take the next items, send them, and store the results.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "io/process_pool.h"

enum { MESSAGES_PER_WORKER = 4 };

struct map {
        eddy_process_pool *pool;
        const struct eddy_process_map *opts;
        size_t chunk;
        size_t next;        /* the first item that no task has taken */
        size_t delivered;   /* in order: the first item that 'each' has not got */
        bool *is_done;      /* in order: by message */
        bool is_delivering; /* a task is in 'each' */
        bool has_failed;    /* 'each' has failed, and is not called again */
};

/* Returns true if 'count' times 'bytes' is at most 'max'. */
static bool fits(size_t count, size_t bytes, size_t max)
{
        return bytes == 0 || count <= max / bytes;
}

static bool is_valid(const struct eddy_process_map *opts)
{
        return opts && opts->fn && opts->item_bytes > 0 && (opts->items || opts->count == 0) &&
               opts->item_bytes <= EDDY_PROCESS_CALL_BYTES_MAX &&
               opts->result_bytes <= EDDY_PROCESS_CALL_BYTES_MAX - sizeof(int32_t) &&
               fits(opts->count, opts->item_bytes, SIZE_MAX) &&
               fits(opts->count, opts->result_bytes, SIZE_MAX) &&
               (opts->results || opts->result_bytes == 0) &&
               !(opts->flags & ~(uint32_t) EDDY_PROCESS_MAP_IN_ORDER);
}

/* Returns the number of items per message. */
static size_t chunk_of(const eddy_process_pool *pool, const struct eddy_process_map *opts)
{
        size_t messages = (size_t) pool->workers_max * MESSAGES_PER_WORKER;
        size_t chunk = opts->chunk ? opts->chunk : (opts->count + messages - 1) / messages;
        size_t items_max = EDDY_PROCESS_CALL_BYTES_MAX / opts->item_bytes;
        size_t results_max = EDDY_PROCESS_CALL_BYTES_MAX / (opts->result_bytes + sizeof(int32_t));

        if (chunk > opts->count)
                chunk = opts->count;
        if (chunk > items_max)
                chunk = items_max;
        return chunk < results_max ? chunk : results_max;
}

/* Returns true if an error is of the items of a message, and not of the whole map. */
static bool is_of_items(int err)
{
        return err != -ECANCELED && err != EDDY_E_PROCESS_POOL_CLOSED &&
               err != EDDY_E_PROCESS_POOL_LOST;
}

static void results_store(struct map *map, size_t from, size_t count, const char *reply)
{
        const struct eddy_process_map *opts = map->opts;

        for (size_t i = 0; i < count && opts->errors; i++) {
                int32_t result;

                memcpy(&result, reply + i * sizeof(result), sizeof(result));
                opts->errors[from + i] = result < 0 ? result : 0;
        }
        if (opts->result_bytes > 0)
                memcpy((char *) opts->results + from * opts->result_bytes,
                       reply + count * sizeof(int32_t), count * opts->result_bytes);
}

/* Call the function for a message's items in a worker. */
static int items_run(struct map *map, size_t from, size_t count, char *reply)
{
        const struct eddy_process_map *opts = map->opts;
        struct ed_worker_packet head = { .kind = ED_WORKER_PACKET_MAP,
                                         .bytes = count * opts->item_bytes,
                                         .fn = (uint64_t) (uintptr_t) opts->fn,
                                         .room = opts->result_bytes,
                                         .items = count,
                                         .flags = opts->errors ? ED_WORKER_PACKET_KEEP_GOING : 0 };
        struct eddy_process_call call = {
                .input = (const char *) opts->items + from * opts->item_bytes,
                .input_bytes = count * opts->item_bytes,
                .result = reply,
                .result_bytes_max = count * (sizeof(int32_t) + opts->result_bytes)
        };
        int err = ed_process_pool_talk(map->pool, &head, &call);

        if (err >= 0 && call.result_bytes != call.result_bytes_max)
                err = -EPROTO;
        if (err >= 0)
                results_store(map, from, count, reply);
        else if (!opts->errors || !is_of_items(err))
                return err;
        for (size_t i = 0; i < count && err < 0; i++)
                opts->errors[from + i] = err;
        return 0;
}

static int each_of(struct map *map, size_t from, size_t count)
{
        int err = 0;

        for (size_t i = from; i < from + count && !map->has_failed; i++) {
                err = map->opts->each(map->opts->arg, i);
                if (err < 0)
                        map->has_failed = true;
        }
        return err < 0 ? err : 0;
}

static size_t count_at(const struct map *map, size_t from)
{
        size_t left = map->opts->count - from;

        return left < map->chunk ? left : map->chunk;
}

/* A message's results are there. In order, one task at a time passes on all that are due. */
static int deliver(struct map *map, size_t from, size_t count)
{
        int err = 0;

        if (!map->opts->each)
                return 0;
        if (!map->is_done)
                return each_of(map, from, count);
        map->is_done[from / map->chunk] = true;
        if (map->is_delivering)
                return 0;
        map->is_delivering = true;
        while (!map->has_failed && map->delivered < map->opts->count &&
               map->is_done[map->delivered / map->chunk]) {
                count = count_at(map, map->delivered);
                err = each_of(map, map->delivered, count);
                map->delivered += count;
        }
        map->is_delivering = false;
        return err;
}

/* A task of the map. */
static int run(void *arg)
{
        struct map *map = arg;
        char *reply = ed_alloc(map->chunk * (sizeof(int32_t) + map->opts->result_bytes));
        int err = reply ? 0 : -ENOMEM;

        while (err == 0 && map->next < map->opts->count) {
                size_t from = map->next, count = count_at(map, from);

                map->next += count;
                err = items_run(map, from, count, reply);
                if (err == 0)
                        err = deliver(map, from, count);
        }
        ed_free(reply);
        return err;
}

static int run_all(struct map *map)
{
        size_t messages = (map->opts->count + map->chunk - 1) / map->chunk;
        eddy_scope scope;

        if (map->opts->each && map->opts->flags & EDDY_PROCESS_MAP_IN_ORDER) {
                map->is_done = ed_alloc_zero(messages);
                if (!map->is_done)
                        return -ENOMEM;
        }
        eddy_scope_begin(&scope, NULL);
        for (size_t i = 0; i < messages && i < map->pool->workers_max; i++)
                eddy_scope_start(&scope, run, map);
        return eddy_scope_end(&scope);
}

int eddy_process_pool_map(eddy_process_pool *pool, const struct eddy_process_map *opts)
{
        struct map map = { .pool = pool, .opts = opts };
        struct ed_task *task;
        int err = ed_process_pool_enter(pool, &task);

        if (err < 0)
                return err;
        err = is_valid(opts) ? 0 : -EINVAL;
        if (err == 0 && opts->count > 0) {
                map.chunk = chunk_of(pool, opts);
                err = run_all(&map);
                ed_free(map.is_done);
        }
        ed_process_pool_leave(pool);
        return err;
}
