/*
 * sys/process/table.h - the parts of the table for processes.
 */
#ifndef ED_SYS_PROCESS_TABLE_H
#define ED_SYS_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ed_process_id;
struct ed_process_start;
struct ed_sys;
struct ed_worker_packet;
struct ed_worker_packet_fds;
struct ed_worker_packet_part;
struct eddy_process_exit;

/* Child processes (sys/process/process.h). */
struct ed_sys_process {
        /* Start a process and store the result. May wait for a disk. Any thread. */
        void (*start)(struct ed_sys *sys, struct ed_process_start *start);
        /*
         * Collect the process, whose pidfd becomes readable when it ends; 'keep': leave it to a
         * later call. Errors: -EAGAIN: it runs; -ECHILD: other code has collected it.
         */
        int (*end)(struct ed_sys *sys, const struct ed_process_id *id, bool keep,
                   struct eddy_process_exit *ret_exit);
        /* Send a signal to the process, or to the group that it leads. */
        int (*signal)(struct ed_sys *sys, const struct ed_process_id *id, bool to_group, int signo);
};

/*
 * Workers of process pools (sys/process/zygote.h, sys/process/worker_packet.h). start() starts a
 * worker and stores a descriptor for packets, whose shutdown() kills the worker.
 */
struct ed_sys_zygote {
        int (*start)(struct ed_sys *sys, uint64_t memory_bytes_max, int *ret_fd);
        int (*send)(struct ed_sys *sys, int fd, const struct ed_worker_packet *head,
                    const struct ed_worker_packet_part *part);
        int64_t (*recv)(struct ed_sys *sys, int fd, struct ed_worker_packet *ret_head, void *buf,
                        size_t bytes, struct ed_worker_packet_fds *ret_fds);
};

#endif
