/*
 * test_merge_sort.c - the sorter of lines: the order is that of a stable sort at every size of the
 * input, in memory and on the disk; a failure of the disk, of the output or of an allocation is
 * returned, and nothing is leaked.
 */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/sort/merge_sort.h"
#include "eddy/alloc.h"

enum { TEXT_BYTES = 8 << 20, LINES_MOST = 20000 };

/* --- calls that can fail --- */

static long calls_left = -1; /* pwrite() and pread() before the one that fails; -1: none does */
static size_t piece_most;    /* bytes that one call moves at most; 0: all */
static long allocations_left = -1;

ssize_t __real_pwrite64(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t bytes, off_t at);
ssize_t __real_pread64(int fd, void *data, size_t bytes, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t bytes, off_t at);

static bool call_fails(int error)
{
        if (calls_left < 0 || calls_left-- > 0)
                return false;
        errno = error;
        return true;
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t bytes, off_t at)
{
        if (call_fails(ENOSPC))
                return -1;
        return __real_pwrite64(fd, data, piece_most && bytes > piece_most ? piece_most : bytes, at);
}

ssize_t __wrap_pread64(int fd, void *data, size_t bytes, off_t at)
{
        if (call_fails(EIO))
                return -1;
        return __real_pread64(fd, data, piece_most && bytes > piece_most ? piece_most : bytes, at);
}

static void *heap_allocate(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        if (allocations_left >= 0 && allocations_left-- == 0)
                return NULL;
        return realloc(ptr, bytes);
}

/* --- a sort, and its model --- */

static char line_text[1 << 20];
TEST_ROOM(char, got, TEXT_BYTES);
static size_t got_bytes, got_most;
static uint64_t key_before;

static int text_take(void *arg, uint64_t key, const char *data, size_t bytes, bool is_end)
{
        (void) arg;
        CHECK(bytes > 0 && is_end == (data[bytes - 1] == '\n'));
        CHECK(key >= key_before);
        key_before = key;
        if (got_bytes + bytes > got_most)
                return -EPIPE;
        memcpy(got + got_bytes, data, bytes);
        got_bytes += bytes;
        return 0;
}

/* The key of a line, and its bytes: some are empty, some larger than the memory. */
static uint64_t key_of(size_t number)
{
        return number * 2654435761u % 1000 == 7 ? UINT64_MAX : number * 2654435761u % 977;
}

static size_t bytes_of(size_t number, size_t large)
{
        return number % 1000 == 999 ? large : number * 40503 % 331;
}

static const char *line_of(size_t number, size_t bytes)
{
        memset(line_text, 'a' + (int) (number % 26), bytes);
        if (bytes >= 8)
                snprintf(line_text, bytes + 1, "%08zu", number);
        return line_text;
}

/* Sort 'count' lines. */
static int lines_sort(size_t count, size_t large, bool *ret_is_disk)
{
        struct ed_merge_sort *sorter = NULL;
        int err = ed_merge_sort_new(ED_MERGE_SORT_MEMORY_MIN, "/tmp", &sorter);

        *ret_is_disk = false;
        got_bytes = 0;
        key_before = 0;
        for (size_t i = 0; err == 0 && i < count; i++) {
                size_t bytes = bytes_of(i, large);

                err = ed_merge_sort_add(sorter, key_of(i), line_of(i, bytes), bytes);
                *ret_is_disk = err < 0;
        }
        if (err == 0)
                err = ed_merge_sort_finish(sorter, text_take, NULL, ret_is_disk);
        ed_merge_sort_free(sorter);
        return err;
}

static size_t numbers[LINES_MOST];

static int number_compare(const void *left, const void *right)
{
        size_t a = *(const size_t *) left, b = *(const size_t *) right;

        if (key_of(a) != key_of(b))
                return key_of(a) < key_of(b) ? -1 : 1;
        return a < b ? -1 : a > b;
}

/* Compare what the sorter gave with the model. */
static bool is_sorted(size_t count, size_t large)
{
        size_t at = 0;

        for (size_t i = 0; i < count; i++)
                numbers[i] = i;
        qsort(numbers, count, sizeof(numbers[0]), number_compare);
        for (size_t i = 0; i < count; i++) {
                size_t bytes = bytes_of(numbers[i], large);

                if (at + bytes + 1 > got_bytes || got[at + bytes] != '\n' ||
                    memcmp(got + at, line_of(numbers[i], bytes), bytes) != 0)
                        return false;
                at += bytes + 1;
        }
        return at == got_bytes;
}

/* --- tests --- */

TEST(lines_of_every_amount_are_in_order)
{
        static const size_t counts[] = { 0, 1, 2, 100, 1400, 1500, 1600, 5000, LINES_MOST };
        bool is_disk;

        got_most = TEXT_BYTES;
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                CHECK_EQ(lines_sort(counts[i], 0, &is_disk), 0);
                CHECK(is_sorted(counts[i], 0));
        }
}

TEST(lines_around_the_size_of_the_memory_are_in_order)
{
        bool is_disk;

        got_most = TEXT_BYTES;
        for (size_t less = 0; less < 40; less++) {
                CHECK_EQ(lines_sort(2100, ED_MERGE_SORT_MEMORY_MIN - less, &is_disk), 0);
                CHECK(is_sorted(2100, ED_MERGE_SORT_MEMORY_MIN - less));
        }
        CHECK_EQ(lines_sort(3100, sizeof(line_text) - 1, &is_disk), 0);
        CHECK(is_sorted(3100, sizeof(line_text) - 1));
}

TEST(short_reads_and_writes_of_the_disk_continue)
{
        bool is_disk;

        got_most = TEXT_BYTES;
        piece_most = 5;
        CHECK_EQ(lines_sort(3000, 0, &is_disk), 0);
        piece_most = 0;
        CHECK(is_sorted(3000, 0));
}

TEST(failure_of_the_disk_is_returned)
{
        long calls = 0;
        bool is_disk;
        int err;

        got_most = TEXT_BYTES;
        for (;; calls++) {
                calls_left = calls;
                err = lines_sort(LINES_MOST, 0, &is_disk);
                if (calls_left >= 0)
                        break;
                CHECK(err == -ENOSPC || err == -EIO);
                CHECK(is_disk);
        }
        calls_left = -1;
        CHECK_EQ(err, 0);
        CHECK(calls > 50);
}

TEST(folder_that_is_not_there_is_an_error_when_it_is_needed)
{
        struct ed_merge_sort *sorter;
        int err = 0;

        CHECK_EQ(ed_merge_sort_new(ED_MERGE_SORT_MEMORY_MIN, "/nowhere/at/all", &sorter), 0);
        for (int i = 0; i < 2000 && err == 0; i++)
                err = ed_merge_sort_add(sorter, 1, line_of(1, 300), 300);
        CHECK_EQ(err, -ENOENT);
        ed_merge_sort_free(sorter);
}

TEST(failure_of_the_output_is_not_one_of_the_disk)
{
        bool is_disk;

        for (got_most = 0; got_most < 200000; got_most += 66666) {
                CHECK_EQ(lines_sort(1000, 0, &is_disk), got_most < 165000 ? -EPIPE : 0);
                CHECK(!is_disk);
                CHECK_EQ(lines_sort(5000, 0, &is_disk), -EPIPE);
                CHECK(!is_disk);
        }
}

TEST(failed_allocation_is_returned)
{
        long allocations = 0;
        bool is_disk;
        int err;

        got_most = TEXT_BYTES;
        eddy_alloc_set(heap_allocate, NULL);
        for (;; allocations++) {
                allocations_left = allocations;
                err = lines_sort(LINES_MOST, 0, &is_disk);
                if (allocations_left >= 0)
                        break;
                CHECK_EQ(err, -ENOMEM);
        }
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(err, 0);
        CHECK(allocations > 5);
}
