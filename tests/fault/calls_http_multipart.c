/*
 * calls_http_multipart.c - the worlds of forms with files; see every_call.h.
 *
 * A form that is opened has its length, and each reader that is not cancelled gets all parts and all of
 * their bytes; a call that was cancelled is repeated and loses nothing. A part that is saved is a whole
 * file; a save that was cancelled leaves nothing.
 */
#include "every_call.h"

#include <stdio.h>

enum { READING = 2, OPENING = 4, PARTS = 3, BYTES = 10 };

#define PART(name) "--b\r\nContent-Disposition: form-data; name=" name "\r\n\r\n0123456789\r\n"

static const char body[] = PART("a") PART("b") PART("c") "--b--";

static struct {
        int done, saved;
        eddy_task_fn *call; /* whose calls are cancelled */
} world;

struct reading {
        eddy_http_multipart_reader *reader;
        eddy_task_fn *call;
        size_t sent, whole_bytes;
        int parts, bytes;
};

static int64_t body_read(void *arg, void *buf, size_t bytes)
{
        struct reading *reading = arg;
        size_t n = sizeof(body) - 1 - reading->sent;
        int err = world_chance(3) ? eddy_sleep(world_delay_ns()) : 0;

        if (err < 0)
                return err;
        n = n < bytes ? n : bytes;
        n = n < 17 ? n : 17;
        memcpy(buf, body + reading->sent, n);
        reading->sent += n;
        return (int64_t) n;
}

static int next_call(void *arg)
{
        struct reading *reading = arg;
        struct eddy_http_multipart_part part;
        int err = eddy_http_multipart_next(reading->reader, &part);

        if (err > 0)
                CHECK_EQ(*part.name, 'a' + reading->parts++);
        return err;
}

static int read_call(void *arg)
{
        struct reading *reading = arg;
        char buf[7];
        int64_t n = eddy_http_multipart_read(reading->reader, buf, sizeof(buf));

        for (int64_t i = 0; i < n; i++)
                CHECK_EQ(buf[i], '0' + reading->bytes++ % BYTES);
        return (int) n;
}

static int whole_call(void *arg)
{
        struct reading *reading = arg;
        const char *data;
        int err = eddy_http_multipart_whole(reading->reader, BYTES, &data, &reading->whole_bytes);

        if (err == 0)
                CHECK_STR(data, "0123456789");
        return err;
}

static int save_call(void *arg)
{
        struct reading *reading = arg;
        struct eddy_http_multipart_saved saved;
        char path[64];
        int err;

        snprintf(path, sizeof(path), "/up/%p-%d", arg, reading->parts);
        err = eddy_http_multipart_save(reading->reader, path, NULL, &saved);
        if (err == 0)
                CHECK_EQ(saved.bytes, BYTES);
        world.saved += err == 0;
        return err;
}

/*
 * Do a call as a victim if this world is its own; a cancel of the call alone ends the reading. Only the
 * first part's reads are victims: all are too many.
 */
static int call(struct reading *reading, eddy_task_fn *fn)
{
        bool is_victim = world.call == fn && (fn != read_call || reading->parts == 1);

        victim_may_not_suspend();
        return is_victim ? victim_call(fn, reading) : fn(reading);
}

static int read_as_victim(void *arg)
{
        struct reading reading = { .sent = 0 };
        const struct eddy_http_body_source source = { .read = body_read, .arg = &reading };
        int err;

        (void) arg;
        world_pause();
        CHECK_EQ(eddy_http_multipart_reader_open("multipart/form-data; boundary=b", &source, NULL,
                                                 &reading.reader),
                 0);
        while ((err = call(&reading, next_call)) > 0) {
                if (world.call == whole_call || world.call == save_call)
                        err = call(&reading, world.call);
                else
                        while ((err = call(&reading, read_call)) > 0)
                                ;
                if (err < 0)
                        break;
        }
        CHECK(err == 0 || err == -ECANCELED);
        if (err == 0)
                CHECK_EQ(reading.parts, PARTS);
        if (err == 0 && world.call != whole_call && world.call != save_call)
                CHECK_EQ(reading.bytes, PARTS * BYTES);
        eddy_http_multipart_reader_close(reading.reader);
        world.done++;
        return 0;
}

static int run_readers(eddy_task_fn *fn)
{
        world.call = fn;
        world.done = 0;
        world_begin(READING);
        world_run(read_as_victim, NULL, READING);
        CHECK_EQ(world.done, READING);
        return 0;
}

static int world_multipart_next(void *arg)
{
        (void) arg;
        return run_readers(next_call);
}
EVERY_POINT(multipart_next, eddy_http_multipart_next)

static int world_multipart_read(void *arg)
{
        (void) arg;
        return run_readers(read_call);
}
EVERY_POINT(multipart_read, eddy_http_multipart_read)

static int world_multipart_whole(void *arg)
{
        (void) arg;
        return run_readers(whole_call);
}
EVERY_POINT(multipart_whole, eddy_http_multipart_whole)

/* Each file in the folder is one that was saved. */
static void check_saved(void)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        char path[300], *text;
        size_t bytes;

        CHECK_EQ(eddy_folder_open("/up", &folder), 0);
        for (; eddy_folder_next(folder, &entry) > 0; world.saved--) {
                snprintf(path, sizeof(path), "/up/%s", entry.name);
                CHECK_EQ(eddy_file_read_whole(path, BYTES, &text, &bytes), 0);
                CHECK_STR(text, "0123456789");
                eddy_free(text);
        }
        eddy_folder_close(folder);
        CHECK_EQ(world.saved, 0);
}

static int world_multipart_save(void *arg)
{
        (void) arg;
        world.saved = 0;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        CHECK_EQ(run_readers(save_call), 0);
        check_saved();
        return 0;
}
EVERY_POINT(multipart_save, eddy_http_multipart_save)

static int open_call(void *arg)
{
        static const struct eddy_http_part part = { .name = "file", .path = "/file" };
        static const struct eddy_http_multipart form = { .parts = &part, .parts_count = 1 };
        eddy_http_multipart_body **ret_body = arg;

        return eddy_http_multipart_open(&form, NULL, ret_body);
}

static int open_as_victim(void *arg)
{
        eddy_http_multipart_body *form = NULL;
        int err;

        (void) arg;
        world_pause();
        err = victim_call(open_call, &form);
        CHECK(err == 0 || err == -ECANCELED);
        CHECK_EQ(err == 0, form != NULL);
        if (err == 0)
                CHECK(eddy_http_multipart_source(form)->bytes > BYTES);
        eddy_http_multipart_close(form);
        world.done++;
        return 0;
}

static int world_multipart_open(void *arg)
{
        (void) arg;
        world.done = 0;
        CHECK_EQ(eddy_file_write_whole("/file", "0123456789", BYTES, 0), 0);
        world_begin(OPENING);
        world_run(open_as_victim, NULL, OPENING);
        CHECK_EQ(world.done, OPENING);
        return 0;
}
EVERY_POINT(multipart_open, eddy_http_multipart_open)
