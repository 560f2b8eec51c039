/*
 * sys/mem.c - pages and guards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/sys.h"

/* Linux 6.13; newer than Debian 12's headers. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE  103
#endif

int ed_sys_map(size_t bytes, void **ret_memory)
{
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
                return -ENOMEM;
        /* With huge pages the first touch of each stack would take 2 MiB. */
        (void) madvise(memory, bytes, MADV_NOHUGEPAGE);
        *ret_memory = memory;
        return 0;
}

int ed_sys_map_above(size_t closed_bytes, size_t bytes, void **ret_memory)
{
        char *memory = mmap(NULL, closed_bytes + bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
                return -ENOMEM;
        if (mprotect(memory + closed_bytes, bytes, PROT_READ | PROT_WRITE) < 0) {
                ed_sys_unmap(memory, closed_bytes + bytes);
                return -ENOMEM;
        }
        (void) madvise(memory + closed_bytes, bytes, MADV_NOHUGEPAGE);
        *ret_memory = memory + closed_bytes;
        return 0;
}

void ed_sys_unmap(void *memory, size_t bytes)
{
        (void) munmap(memory, bytes);
}

/*
 * Not MADV_FREE: the kernel would take these pages only when memory is short, and count them as the
 * process's until then.  Locked memory is not released.
 */
void ed_sys_release(void *memory, size_t bytes)
{
        (void) madvise(memory, bytes, MADV_DONTNEED);
}

int ed_sys_guard_install(void *page, size_t bytes)
{
        return madvise(page, bytes, MADV_GUARD_INSTALL) < 0 ? -errno : 0;
}

int ed_sys_guard_protect(void *page, size_t bytes)
{
        return mprotect(page, bytes, PROT_NONE) < 0 ? -errno : 0;
}

void ed_sys_guard_remove(void *page, size_t bytes)
{
        (void) madvise(page, bytes, MADV_GUARD_REMOVE);
        (void) mprotect(page, bytes, PROT_READ | PROT_WRITE);
}

/*
 * Write from the byte to a pipe: the kernel reads the byte, and returns EFAULT if the guard works.
 */
int ed_sys_guard_holds(const void *byte)
{
        bool holds = false;
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        if (write(ends[1], byte, 1) < 0)
                holds = errno == EFAULT;
        close(ends[0]);
        close(ends[1]);
        return holds;
}

size_t ed_sys_page_bytes(void)
{
        return (size_t) sysconf(_SC_PAGESIZE);
}

size_t ed_sys_mappings_max(void)
{
        char text[32];
        ssize_t n;
        int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return 65530; /* the kernel's default */
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
        if (n <= 0)
                return 65530;
        text[n] = '\0';
        return strtoul(text, NULL, 10);
}
