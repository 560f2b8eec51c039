/*
 * sys/sys.h - the table of everything nondeterministic: the clock, randomness, the order of ready
 * tasks, descriptors, names, threads.
 *
 * A back end fills the table, whose parts are in the table.h of each subfolder: `epoll` uses the
 * kernel, `sim` a virtual clock and streams in memory. All other floors call the table, so a
 * program runs unchanged on either.
 *
 * No function here suspends; each returns at once with a result or -EAGAIN.
 */
#ifndef ED_SYS_SYS_H
#define ED_SYS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"
#include "eddy/endpoint.h"
#include "sys/file/table.h"
#include "sys/poll/table.h"
#include "sys/process/table.h"
#include "sys/socket/table.h"
#include "sys/thread/table.h"

/* A part that this table has not is NULL. */
struct ed_sys {
        size_t transfer_max; /* maximum bytes per read or write; 0: no limit */
        bool clock_runs;     /* now() advances by itself; false: only in poll() */
        bool is_ending;      /* the loop has ended, and closes what the program left open */

        const struct ed_sys_poll *poll;
        const struct ed_sys_socket *socket;
        const struct ed_sys_datagram *datagram;
        const struct ed_sys_file *file;
        const struct ed_sys_file_queue *file_queue; /* NULL: a worker must call file->run() */
        const struct ed_sys_worker *worker;
        const struct ed_sys_unix_fds *unix_fds;
        const struct ed_sys_notify *notify;
        const struct ed_sys_process *process;
        const struct ed_sys_zygote *zygote;
        const struct ed_sys_embed *embed;

        /* Choose one of n ready tasks, 0 being the oldest; NULL: always the oldest. */
        uint32_t (*choose)(struct ed_sys *sys, uint32_t n);
        /*
         * Look up a name. Stores the addresses and returns their number, or an error. NULL: the
         * network is asked (io/dns.c).
         */
        int (*lookup)(struct ed_sys *sys, const char *name, struct eddy_address *ret_addresses,
                      size_t max);

        const char *name;
        void (*free)(struct ed_sys *sys);
};

/* Make a table that uses the kernel and epoll. Errors: -EMFILE, -ENFILE, -ENOMEM. */
ED_SHARED int ed_sys_epoll_new(struct ed_sys **ret_sys);

/* Functions of the process that need no table and keep no state. */

/* The monotonic clock and the time of day, for use outside a loop. */
ED_SHARED int64_t ed_sys_now(void);
int64_t ed_sys_time_of_day(void);

/* Returns the number of processors this process may use, at least 1. */
uint32_t ed_sys_cpu_count(void);

/* Reserve address space; pages take no memory until touched. Errors: -ENOMEM. */
int ed_sys_map(size_t bytes, void **ret_memory);

/*
 * ed_sys_map(), above 'closed_bytes' of address space in which each access is a fault. Errors:
 * -ENOMEM.
 */
int ed_sys_map_above(size_t closed_bytes, size_t bytes, void **ret_memory);
void ed_sys_unmap(void *memory, size_t bytes);
/* Return whole pages to the kernel; they remain mapped, and contain zeros when touched again. */
void ed_sys_release(void *memory, size_t bytes);

/*
 * Make 'bytes' at 'page' fault when touched: install() needs no separate mapping
 * (MADV_GUARD_INSTALL), protect() does (mprotect).
 */
int ed_sys_guard_install(void *page, size_t bytes);
int ed_sys_guard_protect(void *page, size_t bytes);
/* Undo install and protect. */
void ed_sys_guard_remove(void *page, size_t bytes);
/*
 * Ask the kernel whether touching the byte faults: a write from it then fails with EFAULT. Returns
 * 1 or 0. Errors: -EMFILE and others of pipe(2): the check failed.
 */
int ed_sys_guard_holds(const void *byte);
size_t ed_sys_page_bytes(void);
/* Returns the maximum number of mappings of the process (vm.max_map_count). */
size_t ed_sys_mappings_max(void);

#endif
