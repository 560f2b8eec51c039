/*
 * sys/process/process_use.h - the resources that the process uses.
 */
#ifndef ED_SYS_PROCESS_PROCESS_USE_H
#define ED_SYS_PROCESS_PROCESS_USE_H

/* Below 0: unknown, because /proc is missing. */
struct ed_process_use {
        double cpu_seconds, start_seconds;
        double resident_bytes, virtual_bytes;
        double fds, fds_max;
};

void ed_process_use(struct ed_process_use *ret_use);

#endif
