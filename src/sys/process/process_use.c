/*
 * sys/process/process_use.c - the resources that the process uses, from /proc and getrusage(2).
 */
#include "sys/process/process_use.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/def.h"

/* --- memory and the start, from one line of /proc --- */

/* Returns the n-th number after the program's name, which may hold any byte: "1 (a) b) S 0 ...". */
static double number_of(const char *line, int n)
{
        const char *at = strrchr(line, ')');

        while (at && n-- > 0)
                at = strchr(at + 1, ' ');
        return at ? (double) strtoull(at + 1, NULL, 10) : -1;
}

/* A process has memory: 0 is from an emulator that does not know. */
static double known(double number)
{
        return number > 0 ? number : -1;
}

/* The fields are counted from 3, the state: see proc(5). */
enum { STAT_START = 22 - 2, STAT_VIRTUAL = 23 - 2, STAT_RESIDENT = 24 - 2 };

static void read_stat(struct ed_process_use *use)
{
        char line[1024];
        int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

        if (fd >= 0)
                close(fd);
        if (n <= 0)
                return;
        line[n] = '\0';
        use->virtual_bytes = known(number_of(line, STAT_VIRTUAL));
        use->resident_bytes =
                known(number_of(line, STAT_RESIDENT) * (double) sysconf(_SC_PAGESIZE));
        use->start_seconds = number_of(line, STAT_START) / (double) sysconf(_SC_CLK_TCK);
}

/* The start is counted from the machine's boot. */
static void add_boot(struct ed_process_use *use)
{
        struct timespec real = { 0 }, boot = { 0 };

        if (use->start_seconds < 0)
                return;
        clock_gettime(CLOCK_REALTIME, &real);
        clock_gettime(CLOCK_BOOTTIME, &boot);
        use->start_seconds +=
                (double) (real.tv_sec - boot.tv_sec) + (double) (real.tv_nsec - boot.tv_nsec) / 1e9;
}

/* --- descriptors --- */

/* Counting more than this by name would keep the loop. */
enum { FDS_COUNTED_MAX = 4096 };

/* For kernels before 6.2. */
static double count_fds(void)
{
        DIR *folder = opendir("/proc/self/fd");
        int n = -3; /* ".", ".." and the folder's own */

        if (!folder)
                return -1;
        errno = 0;
        while (n < FDS_COUNTED_MAX && readdir(folder))
                n++;
        if (errno || n == FDS_COUNTED_MAX)
                n = -1;
        closedir(folder);
        return n;
}

/* The size of the folder is the number of descriptors: see proc(5). */
static double fds(void)
{
        struct stat folder = { 0 };

        if (stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0)
                return (double) folder.st_size;
        return count_fds();
}

static double seconds(const struct timeval *time)
{
        return (double) time->tv_sec + (double) time->tv_usec / 1e6;
}

void ed_process_use(struct ed_process_use *ret_use)
{
        struct rusage usage = { 0 };
        struct rlimit limit;

        *ret_use = (struct ed_process_use){ -1, -1, -1, -1, -1, -1 };
        if (getrusage(RUSAGE_SELF, &usage) == 0)
                ret_use->cpu_seconds = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
                ret_use->fds_max = (double) limit.rlim_cur;
        ret_use->fds = fds();
        read_stat(ret_use);
        add_boot(ret_use);
}
