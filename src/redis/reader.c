/*
 * redis/reader.c - the reader of hiredis, within limits.
 *
 * hiredis limits the depth, and checks lengths for overflows, but collects bytes without a limit.
 * Here the memory of a reply is counted before it is allocated; a string that is too long is
 * refused when its length is read; and a line that does not end is refused. Memory of hiredis
 * itself comes from malloc(): version 0.14 has no hook.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "redis/redis.h"

/* A reply has at least a letter and the end of a line, so the bytes limit the number of replies. */
enum { LINE_MAX_BYTES = 64 << 10, LENGTH_DIGITS = 20, REPLY_LEAST_BYTES = 3 };

/* Allocate a node with 'bytes' of text or elements, and hang it in its parent. */
static eddy_redis_reply *node_new(const redisReadTask *task, enum eddy_redis_type type,
                                  size_t bytes)
{
        struct ed_redis_reader *reader = task->privdata;
        size_t room = sizeof(eddy_redis_reply) + bytes;
        eddy_redis_reply *node, *parent;

        if (bytes > reader->bytes_max || room > reader->bytes_max - reader->bytes) {
                reader->err = EDDY_E_REDIS_TOO_LARGE;
                return NULL;
        }
        node = ed_alloc(room);
        if (!node) {
                reader->err = -ENOMEM;
                return NULL;
        }
        memset(node, 0, sizeof(*node));
        node->type = type;
        reader->bytes += room;
        if (task->parent) {
                parent = task->parent->obj;
                parent->is.elements[task->idx] = node;
        }
        return node;
}

static void *create_string(const redisReadTask *task, char *text, size_t bytes)
{
        enum eddy_redis_type type = task->type == REDIS_REPLY_STATUS  ? EDDY_REDIS_STATUS
                                    : task->type == REDIS_REPLY_ERROR ? EDDY_REDIS_ERROR
                                                                      : EDDY_REDIS_STRING;
        eddy_redis_reply *node = node_new(task, type, bytes);

        if (!node)
                return NULL;
        node->integer = (int64_t) bytes;
        memcpy(node->is.text, text, bytes);
        node->is.text[bytes] = '\0';
        return node;
}

static void *create_array(const redisReadTask *task, int count)
{
        size_t bytes = (size_t) count * sizeof(void *);
        eddy_redis_reply *node = node_new(task, EDDY_REDIS_ARRAY, bytes);

        if (!node)
                return NULL;
        node->count = (uint32_t) count;
        memset(node->is.elements, 0, bytes);
        return node;
}

static void *create_integer(const redisReadTask *task, long long value)
{
        eddy_redis_reply *node = node_new(task, EDDY_REDIS_INTEGER, 0);

        if (node)
                node->integer = value;
        return node;
}

static void *create_nil(const redisReadTask *task)
{
        return node_new(task, EDDY_REDIS_NIL, 0);
}

static void free_object(void *reply)
{
        eddy_redis_reply_free(reply);
}

static redisReplyObjectFunctions functions = {
        .createString = create_string,
        .createArray = create_array,
        .createInteger = create_integer,
        .createNil = create_nil,
        .freeObject = free_object,
};

int ed_redis_reader_init(struct ed_redis_reader *reader, size_t bytes_max)
{
        *reader = (struct ed_redis_reader){ .bytes_max = bytes_max };
        reader->hiredis = redisReaderCreateWithFunctions(&functions);
        if (!reader->hiredis)
                return -ENOMEM;
        reader->hiredis->privdata = reader;
        reader->hiredis->maxbuf = 0; /* else it allocates without a check */
        return 0;
}

void ed_redis_reader_fini(struct ed_redis_reader *reader)
{
        if (reader->hiredis)
                redisReaderFree(reader->hiredis);
        reader->hiredis = NULL;
}

int ed_redis_reader_feed(struct ed_redis_reader *reader, const char *data, size_t bytes)
{
        reader->fed += bytes;
        return redisReaderFeed(reader->hiredis, data, bytes) == REDIS_OK ? 0 : -ENOMEM;
}

/*
 * Check the part that hiredis has not taken yet: a string whose length is known, or a line.
 * A length that is not valid is left to hiredis.
 */
static int check_rest(const struct ed_redis_reader *reader)
{
        const redisReader *hiredis = reader->hiredis;
        size_t bytes = hiredis->len - hiredis->pos;
        const char *begin = hiredis->buf + hiredis->pos;
        size_t look = bytes < LENGTH_DIGITS ? bytes : LENGTH_DIGITS;
        bool is_string =
                hiredis->ridx >= 0 && hiredis->rstack[hiredis->ridx].type == REDIS_REPLY_STRING;

        if (is_string && memchr(begin, '\r', look)) {
                long long length = strtoll(begin, NULL, 10);

                if (length > 0 && (unsigned long long) length > reader->bytes_max - reader->bytes)
                        return EDDY_E_REDIS_TOO_LARGE;
                return 0;
        }
        return bytes > LINE_MAX_BYTES || (is_string && bytes > LENGTH_DIGITS)
                       ? EDDY_E_REDIS_PROTOCOL
                       : 0;
}

int ed_redis_reader_next(struct ed_redis_reader *reader, eddy_redis_reply **ret_reply)
{
        void *reply = NULL;

        if (redisReaderGetReply(reader->hiredis, &reply) != REDIS_OK)
                return reader->err < 0                         ? reader->err
                       : reader->hiredis->err == REDIS_ERR_OOM ? -ENOMEM
                                                               : EDDY_E_REDIS_PROTOCOL;
        if (!reply)
                return check_rest(reader);
        if (reader->fed < REPLY_LEAST_BYTES) {
                eddy_redis_reply_free(reply);
                return EDDY_E_REDIS_PROTOCOL;
        }
        reader->fed -= REPLY_LEAST_BYTES;
        reader->bytes = 0;
        *ret_reply = reply;
        return 1;
}
