/*
 * test_save_dir.c - files of many threads that want one name, in a folder whose file system has no
 * links.
 *
 * The program is linked so that its calls of linkat() and renameat() come here first.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/save_dir.h"

enum { THREADS = 8, ROUNDS = 20, YIELDS = 200 };

int __wrap_linkat(int from, const char *old, int to, const char *name, int flags);
int __real_renameat(int from, const char *old, int to, const char *name);
int __wrap_renameat(int from, const char *old, int to, const char *name);

int __wrap_linkat(int from, const char *old, int to, const char *name, int flags)
{
        (void) from;
        (void) old;
        (void) to;
        (void) name;
        (void) flags;
        errno = EPERM;
        return -1;
}

/* The other threads run between the look for a name and the rename. */
int __wrap_renameat(int from, const char *old, int to, const char *name)
{
        for (int i = 0; i < YIELDS; i++)
                sched_yield();
        return __real_renameat(from, old, to, name);
}

static struct ed_save_dir dir;
static pthread_barrier_t barrier;

struct saver {
        pthread_t thread;
        struct ed_save_dir_file file;
        char body;
};

static void *save(void *arg)
{
        struct saver *saver = arg;

        ed_save_dir_name(&saver->file, &dir, (uint64_t) saver->body, ED_SAVE_URL, "same.bin", 8,
                         NULL);
        CHECK_EQ(ed_save_dir_begin(&saver->file), 0);
        CHECK_EQ(write(saver->file.fd, &saver->body, 1), 1);
        pthread_barrier_wait(&barrier);
        CHECK_EQ(ed_save_dir_keep(&saver->file), 0);
        ed_save_dir_recorded(&saver->file);
        return NULL;
}

TEST(name_that_many_threads_want_is_given_once)
{
        static const struct ed_say silent = { 0 };
        struct saver savers[THREADS];

        for (int round = 0; round < ROUNDS; round++) {
                char folder[] = "/tmp/eddy-test-XXXXXX", body;

                CHECK(mkdtemp(folder));
                CHECK_EQ(ed_save_dir_open(&dir, &silent, folder,
                                          round % 2 ? ED_SAVE_DIR_REPLACES : 0),
                         0);
                pthread_barrier_init(&barrier, NULL, THREADS);
                for (int i = 0; i < THREADS; i++) {
                        savers[i].body = (char) ('a' + i);
                        CHECK_EQ(pthread_create(&savers[i].thread, NULL, save, &savers[i]), 0);
                }
                for (int i = 0; i < THREADS; i++)
                        pthread_join(savers[i].thread, NULL);
                for (int i = 0; i < THREADS; i++) {
                        int fd = openat(dir.fd, savers[i].file.name, O_RDONLY | O_CLOEXEC);

                        CHECK(fd >= 0);
                        CHECK_EQ(read(fd, &body, 1), 1);
                        CHECK_EQ(body, savers[i].body);
                        close(fd);
                        unlinkat(dir.fd, savers[i].file.name, 0);
                }
                pthread_barrier_destroy(&barrier);
                ed_save_dir_close(&dir);
                CHECK_EQ(rmdir(folder), 0);
        }
}
