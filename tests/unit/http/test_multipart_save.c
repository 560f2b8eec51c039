/*
 * test_multipart_save.c - parts of a form as files: a file is complete or absent after each fault, each
 * cancel and each crash; what is replaced; and forms that a client receives.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eddy/test.h"
#include "eddy/test_file.h"
#include "http_test.h"

enum { BUFFER = 64 << 10, DATA_MAX = 3 * BUFFER, BODY_MAX = DATA_MAX + 400 };

#define TYPE       "multipart/form-data; boundary=b"
#define FILE_HEAD  "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"../x\"\r\n\r\n"
#define FIELD_PART "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
#define SHA256_123 "a665a45920422f9d417e4867efdc4fb8a04a1f3fff1fa07e998e86f7f7a27ae3"

/* A body with a file and a field, in pieces. */
struct form {
        char body[BODY_MAX];
        size_t bytes, at, piece;
        bool sleeps;
};

static struct form form;
static char data[DATA_MAX];

static int64_t form_read(void *arg, void *buf, size_t bytes)
{
        struct form *from = arg;
        size_t n = from->bytes - from->at;
        int err = from->sleeps ? eddy_sleep(1) : 0;

        if (err < 0)
                return err;
        n = n < bytes ? n : bytes;
        n = n < from->piece ? n : from->piece;
        memcpy(buf, from->body + from->at, n);
        from->at += n;
        return (int64_t) n;
}

static void put(const void *text, size_t bytes)
{
        memcpy(form.body + form.bytes, text, bytes);
        form.bytes += bytes;
}

#define PUT(text) put(text, sizeof(text) - 1)

static void form_make(const void *file, size_t bytes, size_t piece)
{
        form.bytes = form.at = 0;
        form.piece = piece;
        PUT(FILE_HEAD);
        put(file, bytes);
        PUT("\r\n" FIELD_PART "--b--\r\n");
}

/* Open the form, whose first part is the file. */
static int form_open(eddy_http_multipart_reader **ret_reader)
{
        const struct eddy_http_body_source source = { .read = form_read, .arg = &form };
        struct eddy_http_multipart_part part;
        int err;

        form.at = 0;
        err = eddy_http_multipart_reader_open(TYPE, &source, NULL, ret_reader);
        if (err < 0)
                return err;
        err = eddy_http_multipart_next(*ret_reader, &part);
        if (err == 1) {
                CHECK_STR(part.filename, "../x");
                return 0;
        }
        eddy_http_multipart_reader_close(*ret_reader);
        return err < 0 ? err : -EBADMSG;
}

static void check_field(eddy_http_multipart_reader *reader)
{
        struct eddy_http_multipart_part part;
        const char *text;
        size_t bytes;

        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_STR(part.name, "a");
        CHECK_EQ(eddy_http_multipart_whole(reader, 0, &text, &bytes), 0);
        CHECK_STR(text, "1");
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 0);
}

static void fill_data(void)
{
        for (size_t i = 0; i < DATA_MAX; i++)
                data[i] = (char) (i * 7 + i / 251);
}

/* The names in "/up" that are not "x"; -1: the folder cannot be read. */
static int others(void)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        int n = 0, err = eddy_folder_open("/up", &folder);

        if (err < 0)
                return -1;
        while ((err = eddy_folder_next(folder, &entry)) > 0)
                n += strcmp(entry.name, "x") != 0;
        eddy_folder_close(folder);
        return err < 0 ? -1 : n;
}

/* Check that "/up/x" has all data. Returns 0, or the error of reading the file. */
static int check_complete(size_t bytes)
{
        size_t n;
        char *text;
        int err = eddy_file_read_whole("/up/x", DATA_MAX, &text, &n);

        if (err < 0)
                return err;
        CHECK_EQ(n, bytes);
        CHECK(memcmp(text, data, n) == 0);
        eddy_free(text);
        return 0;
}

static bool is_complete(size_t bytes)
{
        return check_complete(bytes) == 0;
}

/* ---- faults ---------------------------------------------------------------------- */

static int on_progress(uint64_t bytes, void *arg)
{
        uint64_t *last = arg;

        CHECK(bytes > *last);
        *last = bytes;
        return eddy_sleep(1);
}

/* After a failed save nothing is left, or the complete file. */
static void check_left(int err)
{
        eddy_scope shield;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK(others() <= 0);
        if (check_complete(DATA_MAX - 100) == -ENOENT)
                CHECK(err < 0);
        (void) eddy_scope_end(&shield);
}

static int save_one(void *arg)
{
        uint64_t last = 0;
        const struct eddy_http_multipart_save_opts opts = { .flags = EDDY_HTTP_MULTIPART_HASH,
                                                            .progress = on_progress,
                                                            .arg = &last };
        struct eddy_http_multipart_saved saved;
        eddy_http_multipart_reader *reader;
        int err = eddy_folder_make("/up", 0);

        (void) arg;
        if (err == 0)
                err = form_open(&reader);
        if (err < 0)
                return err;
        err = eddy_http_multipart_save(reader, "/up/x", &opts, &saved);
        check_left(err);
        if (err == 0) {
                CHECK_EQ(saved.bytes, DATA_MAX - 100);
                CHECK_EQ(last, saved.bytes);
                CHECK_EQ(strlen(saved.hash), EDDY_HTTP_MULTIPART_HASH_DIGITS);
        } else {
                CHECK_STR(saved.hash, "");
        }
        eddy_http_multipart_reader_close(reader);
        return err;
}

static const char *const sweeps[] = { "cancels", "allocations", "all later allocations", "calls",
                                      "two allocations" };

TEST(file_is_complete_or_absent_after_each_fault_and_cancel)
{
        fill_data();
        form_make(data, DATA_MAX - 100, 30000);
        form.sleeps = true;
        for (int what = EDDY_TEST_CANCEL; what <= EDDY_TEST_ALLOC_TWICE; what++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(what, save_one, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
                printf("# %s: %d of %d, %d runs\n", sweeps[what - EDDY_TEST_CANCEL],
                       (int) sweep.tried, (int) sweep.count, (int) sweep.runs);
        }
        form.sleeps = false;
}

static int crash_anywhere(void *arg)
{
        enum { STATES_MAX = 60 }; /* of each crash, evenly chosen */
        eddy_http_multipart_reader *reader;
        int crashes = 0, found = 0, err = -1;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        CHECK_EQ(eddy_folder_sync("/"), 0);
        for (uint64_t n = 1; err < 0; n++) {
                uint64_t states;

                CHECK_EQ(form_open(&reader), 0);
                CHECK_EQ(eddy_test_power_off_at(n), 0);
                err = eddy_http_multipart_save(reader, "/up/x", NULL, NULL);
                CHECK_EQ(eddy_test_power_off_at(0), 0);
                eddy_http_multipart_reader_close(reader);
                states = (uint64_t) eddy_test_power_off();
                for (uint64_t i = 0; i < states; i += states / STATES_MAX + 1) {
                        CHECK_EQ(eddy_test_power_on(i), 0);
                        found += is_complete(9000);
                        if (err == 0)
                                CHECK(is_complete(9000));
                }
                CHECK_EQ(eddy_test_power_on(0), 0);
                if (eddy_path_remove("/up/x") == 0)
                        CHECK_EQ(eddy_folder_sync("/up"), 0);
                crashes++;
        }
        CHECK(crashes > 5 && found > 0);
        return 0;
}

TEST(crash_of_the_machine_at_any_operation_leaves_the_whole_file_or_none)
{
        fill_data();
        form_make(data, 9000, 30000);
        http_run(crash_anywhere, NULL);
}

/* ---- sizes and ends -------------------------------------------------------------- */

static int save_sizes(void *arg)
{
        static const size_t around[] = { 0, 1, 16 << 10, BUFFER, 2 * BUFFER };
        static const size_t pieces[] = { 1 << 20, 16384, 16383, 4099 };
        eddy_http_multipart_reader *reader;
        struct eddy_http_multipart_saved saved;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        for (size_t i = 0; i < 5; i++)
                for (size_t bytes = around[i] > 80 ? around[i] - 80 : 0; bytes <= around[i] + 3;
                     bytes++) {
                        form_make(data, bytes, pieces[bytes % 4]);
                        CHECK_EQ(form_open(&reader), 0);
                        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", NULL, &saved), 0);
                        CHECK_EQ(saved.bytes, bytes);
                        CHECK_STR(saved.hash, "");
                        CHECK(is_complete(bytes));
                        check_field(reader);
                        eddy_http_multipart_reader_close(reader);
                        CHECK_EQ(eddy_path_remove("/up/x"), 0);
                }
        CHECK_EQ(others(), 0);
        return 0;
}

TEST(files_around_the_size_of_each_buffer_are_equal)
{
        fill_data();
        http_run(save_sizes, NULL);
}

static int save_cut(void *arg)
{
        eddy_http_multipart_reader *reader;
        struct eddy_http_multipart_part part;
        size_t head = sizeof(FILE_HEAD) - 1;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        for (size_t end = head; end < head + 300 + 7; end++) {
                form_make(data, 300, 50);
                form.bytes = end;
                CHECK_EQ(form_open(&reader), 0);
                CHECK_ERR(eddy_http_multipart_save(reader, "/up/x", NULL, NULL),
                          EDDY_E_HTTP_TRUNCATED);
                CHECK_ERR(eddy_http_multipart_next(reader, &part), EDDY_E_HTTP_TRUNCATED);
                CHECK(!is_complete(300) && others() == 0);
                eddy_http_multipart_reader_close(reader);
        }
        return 0;
}

TEST(body_that_ends_at_any_byte_of_a_file_leaves_no_file)
{
        fill_data();
        http_run(save_cut, NULL);
}

static int save_too_large(void *arg)
{
        const struct eddy_http_body_source source = { .read = form_read, .arg = &form };
        eddy_http_multipart_reader *reader;
        struct eddy_http_multipart_part part;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        for (uint64_t max = BUFFER - 1; max <= BUFFER; max++) {
                const struct eddy_http_multipart_limits limits = { .file_bytes_max = max };

                form_make(data, BUFFER, 5000);
                CHECK_EQ(eddy_http_multipart_reader_open(TYPE, &source, &limits, &reader), 0);
                CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
                CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", NULL, NULL),
                         max < BUFFER ? EDDY_E_HTTP_TOO_LARGE : 0);
                CHECK_STR(eddy_http_multipart_rule(reader),
                          max < BUFFER ? "a file is larger than its limit" : "");
                CHECK_EQ(is_complete(BUFFER), max == BUFFER);
                CHECK_EQ(others(), 0);
                eddy_http_multipart_reader_close(reader);
        }
        return 0;
}

TEST(file_above_its_limit_leaves_no_file)
{
        fill_data();
        http_run(save_too_large, NULL);
}

/* ---- what is replaced ------------------------------------------------------------- */

static const struct eddy_http_multipart_save_opts replace = { .flags =
                                                                      EDDY_HTTP_MULTIPART_REPLACE |
                                                                      EDDY_HTTP_MULTIPART_HASH |
                                                                      EDDY_HTTP_MULTIPART_NO_SYNC };

static int save_over(void *arg)
{
        struct eddy_http_multipart_saved saved;
        eddy_http_multipart_reader *reader;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        CHECK_EQ(eddy_folder_make("/up/folder", 0), 0);
        CHECK_EQ(eddy_file_write_whole("/up/y", "old", 3, 0), 0);
        form_make("123", 3, 9);
        CHECK_EQ(form_open(&reader), 0);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/y", NULL, &saved), -EEXIST);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/folder", &replace, NULL), -EISDIR);
        CHECK_EQ(eddy_http_multipart_save(reader, "/none/x", NULL, NULL), -ENOENT);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", NULL, NULL), 0);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/z", NULL, NULL), -EINVAL);
        check_field(reader);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/z", NULL, NULL), -EINVAL);
        eddy_http_multipart_reader_close(reader);
        CHECK_EQ(form_open(&reader), 0);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/y", &replace, &saved), 0);
        CHECK_EQ(saved.bytes, 3);
        CHECK_STR(saved.hash, SHA256_123);
        eddy_http_multipart_reader_close(reader);
        return 0;
}

TEST(file_is_replaced_only_on_request_and_another_name_may_be_tried)
{
        http_run(save_over, NULL);
}

/* A file of that name is made while the part is saved. */
static int make_rival(uint64_t bytes, void *arg)
{
        (void) bytes;
        (void) arg;
        return eddy_file_write_whole("/up/x", "rival", 5, 0);
}

static int save_beside(void *arg)
{
        const struct eddy_http_multipart_save_opts opts = { .progress = make_rival };
        eddy_http_multipart_reader *reader;
        char *text;
        size_t n;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        form_make("123", 3, 9);
        CHECK_EQ(form_open(&reader), 0);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", &opts, NULL), -EEXIST);
        CHECK_EQ(eddy_file_read_whole("/up/x", 10, &text, &n), 0);
        CHECK_STR(text, "rival");
        eddy_free(text);
        CHECK_EQ(others(), 0);
        check_field(reader);
        eddy_http_multipart_reader_close(reader);
        return 0;
}

TEST(file_that_another_made_meanwhile_is_not_replaced)
{
        http_run(save_beside, NULL);
}

/* ---- errors of the caller ---------------------------------------------------------- */

static int stop_at_once(uint64_t bytes, void *arg)
{
        struct eddy_http_multipart_part part;

        CHECK(bytes > 0);
        CHECK_EQ(eddy_http_multipart_next(arg, &part), -EBUSY);
        return -ENOLINK;
}

static int misuse(void *arg)
{
        eddy_http_multipart_reader *reader;
        struct eddy_http_multipart_save_opts opts = { .flags = 8 };
        char byte;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        form_make("123", 3, 9);
        CHECK_EQ(eddy_http_multipart_save(NULL, "/up/x", NULL, NULL), -EINVAL);
        CHECK_EQ(form_open(&reader), 0);
        CHECK_EQ(eddy_http_multipart_save(reader, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_http_multipart_save(reader, "", NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", &opts, NULL), -EINVAL);
        opts = (struct eddy_http_multipart_save_opts){ .mode = 01000 };
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", &opts, NULL), -EINVAL);
        opts = (struct eddy_http_multipart_save_opts){ .progress = stop_at_once, .arg = reader };
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", &opts, NULL), -ENOLINK);
        CHECK_EQ(others(), 0);
        check_field(reader);
        eddy_http_multipart_reader_close(reader);
        CHECK_EQ(form_open(&reader), 0);
        CHECK_EQ(eddy_http_multipart_read(reader, &byte, 1), 1);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", NULL, NULL), -EINVAL);
        CHECK(!is_complete(3));
        eddy_http_multipart_reader_close(reader);
        return 0;
}

TEST(part_of_which_a_byte_was_taken_is_not_saved_and_a_progress_may_stop)
{
        http_run(misuse, NULL);
}

/* ---- the kernel's files ------------------------------------------------------------ */

static char root[64];

static const char *path_of(const char *name)
{
        static char path[2][128];
        static int next;
        char *to = path[next++ % 2];

        snprintf(to, sizeof(path[0]), "%s/%s", root, name);
        return to;
}

static int save_real(const char *name, const struct eddy_http_multipart_save_opts *opts)
{
        eddy_http_multipart_reader *reader;
        int err;

        CHECK_EQ(form_open(&reader), 0);
        err = eddy_http_multipart_save(reader, path_of(name), opts, NULL);
        check_field(reader);
        eddy_http_multipart_reader_close(reader);
        return err;
}

static void check_real(const char *name, const char *text, mode_t mode)
{
        struct stat st;
        size_t n;
        char *found;

        CHECK_EQ(lstat(path_of(name), &st), 0);
        CHECK(S_ISREG(st.st_mode));
        CHECK_EQ(st.st_mode & 07777, mode);
        CHECK_EQ(eddy_file_read_whole(path_of(name), 100, &found, &n), 0);
        CHECK_STR(found, text);
        eddy_free(found);
}

static int links_and_modes(void *arg)
{
        const struct eddy_http_multipart_save_opts open = { .mode = 0666 };

        (void) arg;
        form_make("123", 3, 9);
        CHECK_EQ(save_real("plain", NULL), 0);
        check_real("plain", "123", 0600);
        CHECK_EQ(save_real("open", &open), 0);
        check_real("open", "123", 0644);

        CHECK_EQ(eddy_file_write_whole(path_of("target"), "old", 3, 0600), 0);
        CHECK_EQ(symlink(path_of("target"), path_of("link")), 0);
        CHECK_EQ(symlink(path_of("absent"), path_of("dangling")), 0);
        CHECK_EQ(save_real("link", NULL), -EEXIST);
        CHECK_EQ(save_real("dangling", NULL), -EEXIST);
        CHECK_EQ(access(path_of("absent"), F_OK), -1);
        CHECK_EQ(save_real("link", &replace), 0);
        CHECK_EQ(save_real("dangling", &replace), 0);
        check_real("link", "123", 0600);
        check_real("dangling", "123", 0600);
        check_real("target", "old", 0600);
        CHECK_EQ(access(path_of("absent"), F_OK), -1);

        CHECK_EQ(mkfifo(path_of("fifo"), 0600), 0);
        CHECK_EQ(save_real("fifo", &replace), -EEXIST);
        CHECK_EQ(mkdir(path_of("folder"), 0700), 0);
        CHECK_EQ(save_real("folder", &replace), -EISDIR);
        CHECK_EQ(save_real("folder/", &replace), -EISDIR);
        CHECK_EQ(save_real("plain/", &replace), -ENOTDIR);
        return 0;
}

static void remove_all(void)
{
        static const char *const names[] = { "plain",    "open", "target", "link",
                                             "dangling", "fifo", "folder" };
        struct dirent *entry;
        DIR *folder;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                CHECK_EQ(remove(path_of(names[i])), 0);
        folder = opendir(root);
        CHECK(folder != NULL);
        while ((entry = readdir(folder)))
                CHECK(strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
        closedir(folder);
        CHECK_EQ(rmdir(root), 0);
}

TEST(links_devices_and_folders_are_not_followed_and_files_are_private)
{
        mode_t former = umask(022);

        snprintf(root, sizeof(root), "/tmp/eddy-save-XXXXXX");
        CHECK(mkdtemp(root) != NULL);
        http_run_real(links_and_modes, NULL);
        remove_all();
        umask(former);
}

/* ---- a form that a client receives -------------------------------------------------- */

static int answer_form(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_header type = { "Content-Type", TYPE };

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, &type, 1, form.body, form.bytes);
}

static int receive_form(void *arg)
{
        const struct eddy_http_request request = { .url = "http://a/" };
        struct eddy_http_body_source source = { .stream = NULL };
        struct eddy_http_multipart_part part;
        eddy_http_multipart_reader *reader;
        eddy_http_response *response;
        eddy_http_client *client;

        (void) arg;
        CHECK_EQ(eddy_folder_make("/up", 0), 0);
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = answer_form), &client), 0);
        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        CHECK_EQ(eddy_http_response_stream(response, 0, &source.stream), 0);
        CHECK_EQ(
                eddy_http_multipart_reader_open(eddy_http_response_header(response, "Content-Type"),
                                                &source, NULL, &reader),
                0);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_EQ(eddy_http_multipart_save(reader, "/up/x", NULL, NULL), 0);
        CHECK(is_complete(100000));
        check_field(reader);
        eddy_http_multipart_reader_close(reader);
        eddy_stream_close(source.stream);
        eddy_http_response_close(response);
        eddy_http_client_close(client);
        return 0;
}

TEST(client_saves_the_files_of_a_form_in_a_response)
{
        fill_data();
        form_make(data, 100000, 1);
        http_run(receive_form, NULL);
}

/* ---- through a server ---------------------------------------------------------------- */

static int handle_upload(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *reader = NULL;
        struct eddy_http_multipart_part part;
        int err = eddy_http_exchange_multipart(exchange, NULL, &reader);

        (void) arg;
        while (err >= 0 && (err = eddy_http_multipart_next(reader, &part)) > 0)
                err = eddy_http_multipart_save(reader, "/up/x", NULL, NULL);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
}

static int send_upload(eddy_http_client *client)
{
        const struct eddy_http_part part = {
                .name = "f", .filename = "f", .data = data, .data_bytes = DATA_MAX - 100
        };
        const struct eddy_http_multipart body = { .parts = &part, .parts_count = 1 };
        const struct eddy_http_request request = { .url = "http://a/", .multipart = &body };
        eddy_http_response *response;
        int err = eddy_http_client_send(client, &request, &response), status;

        if (err < 0)
                return err;
        status = eddy_http_response_status(response);
        CHECK(status == 204 || status == 500 || status == 503);
        eddy_http_response_close(response);
        return status == 204 ? 0 : -EREMOTEIO;
}

static int upload(void *arg)
{
        eddy_http_client *client;
        int err = eddy_folder_make("/up", 0);

        (void) arg;
        if (err == 0)
                err = eddy_http_client_new(OPTIONS(.handler = handle_upload), &client);
        if (err < 0)
                return err;
        err = send_upload(client);
        eddy_http_client_close(client);
        check_left(err);
        return err;
}

TEST(upload_to_a_server_is_complete_or_absent_after_each_fault_and_cancel)
{
        fill_data();
        for (int what = EDDY_TEST_CANCEL; what <= EDDY_TEST_CALLS; what++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(what, upload, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
                printf("# %s: %d of %d, %d runs\n", sweeps[what - EDDY_TEST_CANCEL],
                       (int) sweep.tried, (int) sweep.count, (int) sweep.runs);
        }
}
