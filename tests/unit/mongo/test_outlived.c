/*
 * Objects of MongoDB that outlive their run, or are used in the run of another thread.
 */
#include "../../outlived.h"
#include "mongo_test.h"

/* With a connection. */
static void *make_mongo(void)
{
        eddy_mongo *mongo = mongo_open(mongo_server.port, 2);

        CHECK_EQ(eddy_mongo_command(mongo, "{\"ping\": 1}", NULL, NULL), 0);
        return mongo;
}

static int64_t use_command(void *mongo)
{
        return eddy_mongo_command(mongo, "{\"ping\": 1}", NULL, NULL);
}

static int64_t use_insert(void *mongo)
{
        return eddy_mongo_insert(mongo, "users", "{}", NULL);
}

static int64_t use_find(void *mongo)
{
        eddy_mongo_cursor *cursor;

        return eddy_mongo_find(mongo, "users", "{}", NULL, &cursor, NULL);
}

static void close_mongo(void *mongo)
{
        eddy_mongo_close(mongo);
}

struct used {
        eddy_mongo *mongo;
        eddy_mongo_cursor *cursor;
};

/* In the middle of its documents, of which the server has more. */
static void *make_cursor(void)
{
        static struct used used;

        used.mongo = make_mongo();
        for (int i = 0; i < 4; i++)
                CHECK_EQ(eddy_mongo_insert(used.mongo, "users", "[{}, {}, {}, {}, {}, {}]", NULL),
                         0);
        CHECK_EQ(eddy_mongo_find(used.mongo, "users", "{}", "{\"batchSize\": 2}", &used.cursor,
                                 NULL),
                 0);
        CHECK_EQ(eddy_mongo_next(used.cursor, NULL, NULL, NULL), 1);
        return &used;
}

static int64_t use_next(void *used)
{
        return eddy_mongo_next(((struct used *) used)->cursor, NULL, NULL, NULL);
}

static void close_cursor(void *used)
{
        eddy_mongo_cursor_close(((struct used *) used)->cursor);
        eddy_mongo_close(((struct used *) used)->mongo);
}

static const struct outlived kinds[] = {
        { "a client", make_mongo, { use_command, use_insert, use_find }, close_mongo },
        { "a cursor", make_cursor, { use_next }, close_cursor },
};

TEST(objects_of_mongodb_are_refused_by_other_runs_and_can_be_closed)
{
        mongo_server_start();
        outlived_check_all(kinds, sizeof(kinds) / sizeof(kinds[0]));
        mongo_server_stop();
}
