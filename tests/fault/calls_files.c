/*
 * calls_files.c - the world of files, folders and their names; see every_call.h.
 */
#include "every_call.h"

#include <stdio.h>

/* Each actor has its own names, which end in its number. */
struct actor {
        int number;
        char path[16], other[16];
};

enum { TEXT_BYTES = 5 };

static int open_for(const struct actor *actor, unsigned flags, eddy_file **ret_file)
{
        return eddy_file_open(actor->path, flags | EDDY_FILE_READ | EDDY_FILE_WRITE, 0, ret_file);
}

/* --- open files --- */

static int write_some(eddy_file *file)
{
        const struct eddy_slice slices[] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
        int err = eddy_file_write(file, "abcde", TEXT_BYTES);

        if (err == 0)
                err = eddy_file_write_at(file, "ab", 2, 0);
        if (err == 0)
                err = eddy_file_writev(file, slices, 3, 0);
        if (err == 0)
                err = eddy_file_sync(file, 0);
        return err;
}

static int read_some(eddy_file *file)
{
        char buf[8] = "", first[2] = "", second[2] = "";
        const struct eddy_space spaces[] = { { first, 1 }, { NULL, 0 }, { second, 1 } };
        int64_t n = eddy_file_read_at(file, buf, sizeof(buf), 1);

        if (n > 0) {
                CHECK(n <= TEXT_BYTES - 1 && memcmp(buf, "bcde", (size_t) n) == 0);
                n = eddy_file_readv(file, spaces, 3, 3);
        }
        if (n > 0) {
                CHECK(first[0] == 'd' && (n == 1 || second[0] == 'e'));
                n = eddy_file_read(file, buf, sizeof(buf));
        }
        return n < 0 ? (int) n : 0;
}

static int change(eddy_file *file)
{
        struct eddy_file_info info;
        int err = eddy_file_truncate(file, 3);

        if (err == 0)
                err = eddy_file_chmod(file, 0600);
        if (err == 0)
                err = eddy_file_stat(file, &info);
        if (err == 0)
                CHECK(info.bytes == 3 && info.mode == 0600);
        return err;
}

static int use_file(void *arg)
{
        struct actor *actor = arg;
        eddy_file *file;
        int err = open_for(actor, EDDY_FILE_CREATE | EDDY_FILE_TRUNCATE, &file);

        if (err < 0)
                return err;
        err = write_some(file);
        if (err == 0)
                err = read_some(file);
        if (err == 0)
                err = change(file);
        eddy_file_close(file);
        return err;
}

static int use_temporary(void *arg)
{
        eddy_file *file;
        int err = eddy_file_temporary(NULL, &file);

        (void) arg;
        if (err < 0)
                return err;
        err = write_some(file);
        eddy_file_close(file);
        return err;
}

/* --- whole files --- */

static int use_whole(void *arg)
{
        struct actor *actor = arg;
        size_t bytes = 0;
        char *data;
        int err = eddy_file_write_whole(actor->path, "abcde", TEXT_BYTES, 0);

        if (err == 0)
                err = eddy_file_read_whole(actor->path, 100, &data, &bytes);
        if (err < 0)
                return err;
        CHECK(bytes == TEXT_BYTES && strcmp(data, "abcde") == 0);
        eddy_free(data);
        return 0;
}

static int use_replace(void *arg)
{
        struct actor *actor = arg;

        return eddy_file_replace(actor->path, "abcde", TEXT_BYTES, 0);
}

static int use_cookies(void *arg)
{
        struct actor *actor = arg;
        eddy_http_cookies *cookies;
        int err = eddy_http_cookies_new(&cookies);

        CHECK_EQ(err, 0);
        err = eddy_http_cookies_set(cookies, "http://a.test/", "a=1");
        CHECK_EQ(err, 1);
        err = eddy_http_cookies_save(cookies, actor->path);
        if (err == 0)
                err = eddy_http_cookies_load(cookies, actor->path);
        eddy_http_cookies_free(cookies);
        return err;
}

static int use_netrc(void *arg)
{
        static const char text[] = "machine a.test login kim password secret";
        struct actor *actor = arg;
        eddy_http_auth *auth;
        int err = eddy_file_write_whole(actor->path, text, sizeof(text) - 1, 0600);

        if (err == 0)
                err = eddy_http_auth_new(&(struct eddy_http_auth_opts){ .netrc_path = actor->path },
                                         &auth);
        if (err == 0)
                eddy_http_auth_free(auth);
        return err;
}

/* --- names --- */

static int use_names(void *arg)
{
        struct actor *actor = arg;
        struct eddy_file_info info;
        int err = eddy_file_write_whole(actor->path, "", 0, 0);

        if (err == 0)
                err = eddy_path_rename(actor->path, actor->other, 0);
        if (err == 0)
                err = eddy_path_stat(actor->other, 0, &info);
        if (err == 0)
                err = eddy_path_remove(actor->other);
        return err;
}

static int list(const char *path)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        int n, err = eddy_folder_open(path, &folder);

        if (err < 0)
                return err;
        do
                n = eddy_folder_next(folder, &entry);
        while (n > 0);
        eddy_folder_close(folder);
        return n;
}

static int use_folder(void *arg)
{
        struct actor *actor = arg;
        int err = eddy_folder_make(actor->other, 0);

        if (err == 0)
                err = eddy_folder_sync("/");
        if (err == 0)
                err = list("/");
        if (err == 0)
                err = eddy_folder_remove(actor->other);
        return err;
}

/* --- the world --- */

static int act(void *arg)
{
        static eddy_task_fn *const acts[] = { use_file,  use_temporary, use_whole,   use_replace,
                                              use_names, use_folder,    use_cookies, use_netrc };
        struct actor actor = { .number = *(int *) arg };

        snprintf(actor.path, sizeof(actor.path), "/file%d", actor.number);
        snprintf(actor.other, sizeof(actor.other), "/other%d", actor.number);
        return acts[world_chance(sizeof(acts) / sizeof(*acts))](&actor);
}

static int act_as_victim(void *arg)
{
        int err;

        world_pause();
        err = victim_call(act, arg);
        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

/* A cancelled call leaves no temporary file. */
static int check_names(void)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        int n;

        CHECK_EQ(eddy_folder_open("/", &folder), 0);
        while ((n = eddy_folder_next(folder, &entry)) > 0)
                CHECK(entry.name[0] != '.');
        eddy_folder_close(folder);
        return n;
}

static int world_files(void *arg)
{
        int numbers[3] = { 0, 1, 2 }, n = 1 + (int) world_chance(3);
        eddy_scope scope;

        (void) arg;
        world_begin(n);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < n; i++)
                world_start(&scope, act_as_victim, &numbers[i], 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return check_names();
}
EVERY_POINT(files, eddy_file_open)
ALSO(files, eddy_file_temporary)
ALSO(files, eddy_file_read)
ALSO(files, eddy_file_read_at)
ALSO(files, eddy_file_readv)
ALSO(files, eddy_file_write)
ALSO(files, eddy_file_write_at)
ALSO(files, eddy_file_writev)
ALSO(files, eddy_file_sync)
ALSO(files, eddy_file_truncate)
ALSO(files, eddy_file_chmod)
ALSO(files, eddy_file_stat)
ALSO(files, eddy_file_read_whole)
ALSO(files, eddy_file_write_whole)
ALSO(files, eddy_file_replace)
ALSO(files, eddy_http_auth_new)
ALSO(files, eddy_http_cookies_load)
ALSO(files, eddy_http_cookies_save)
ALSO(files, eddy_folder_open)
ALSO(files, eddy_folder_next)
ALSO(files, eddy_folder_sync)
ALSO(files, eddy_folder_make)
ALSO(files, eddy_folder_remove)
ALSO(files, eddy_path_stat)
ALSO(files, eddy_path_rename)
ALSO(files, eddy_path_remove)
