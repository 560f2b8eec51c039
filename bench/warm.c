/*
 * warm.c - memory that the machine really has, for the rows of sleeping tasks.
 *
 *     warm MIB
 *
 * In a virtual machine the first touch of a page may wait for the host, which
 * takes free memory back within seconds: several microseconds a page, by
 * chance, for the next user.  This program touches MIB once and frees it,
 * but for one page in each 64 KiB, so that nothing is left that is large
 * enough to be taken back.  Prints "ready", and holds on until its input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "bench.h"

enum { PAGE_BYTES = 4096, KEPT_OF = 16, BATCH = 4096 };

/* Whether a page is one of those kept: by its place in memory, if root asks. */
static int is_kept(uint64_t entry, size_t i)
{
        uint64_t frame = entry & ((1ULL << 55) - 1);

        return (frame ? frame : i) % KEPT_OF == 0;
}

/* Free what need not be kept of 'pages' at 'memory', in runs. */
static void thin(char *memory, size_t pages, int pagemap)
{
        static uint64_t entries[BATCH];
        size_t begin = 0;

        for (size_t i = 0; i < pages; i++) {
                size_t in_batch = i % BATCH;

                if (in_batch == 0) {
                        off_t at = (off_t) (((uintptr_t) memory / PAGE_BYTES + i) * 8);

                        memset(entries, 0, sizeof(entries));
                        if (pread(pagemap, entries, sizeof(entries), at) < 0)
                                memset(entries, 0, sizeof(entries));
                }
                if (!is_kept(entries[in_batch], i))
                        continue;
                if (i > begin)
                        madvise(memory + begin * PAGE_BYTES, (i - begin) * PAGE_BYTES,
                                MADV_DONTNEED);
                begin = i + 1;
        }
        madvise(memory + begin * PAGE_BYTES, (pages - begin) * PAGE_BYTES, MADV_DONTNEED);
}

int main(int argc, char **argv)
{
        size_t bytes = (size_t) (argc == 2 ? bench_count(argv[1], 1 << 20) : 0) << 20;
        char *memory, byte;

        if (!bytes)
                bench_die("usage", "warm MIB");
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
                bench_die("mmap", strerror(errno));
        madvise(memory, bytes, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < bytes; at += PAGE_BYTES)
                memory[at] = 1;
        thin(memory, bytes / PAGE_BYTES, open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
        puts("ready");
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0)
                continue;
        return 0;
}
