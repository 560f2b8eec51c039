/*
 * common/console.c - lines on stderr, the limit on open files.
 */
#include "common/console.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
        LINE_BYTES_MAX = 1024,
        SAY_WAIT_MS = 100,
        PIECE_BYTES = 512, /* fits any pipe that poll() reports as writable */
        FILES_LEAST = 32,  /* the files of a command, the loop's own, and a connection */
};

static const char *signature; /* NULL: messages name their command */

void ed_console_sign(const char *command)
{
        signature = command;
}

static long long now_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (long long) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int text_write(const char *text, size_t bytes, int wait_ms)
{
        long long end_ms = now_ms() + wait_ms;

        while (bytes > 0) {
                struct pollfd wait = { .fd = STDERR_FILENO, .events = POLLOUT };
                size_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
                long long left_ms = end_ms - now_ms();
                ssize_t n;

                n = poll(&wait, 1, left_ms > 0 ? (int) left_ms : 0);
                if (n == 0)
                        return -EAGAIN;
                if (n > 0)
                        n = write(STDERR_FILENO, text, piece);
                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n < 0)
                        continue;
                text += n;
                bytes -= (size_t) n;
        }
        return 0;
}

int ed_console_write(const char *text, size_t bytes, int wait_ms)
{
        static const char clear[] = "\r\033[K";
        static bool over; /* the last text was a line that is overwritten by the next one */
        bool overs = bytes > 0 && *text == '\r';
        int err = over && !overs ? text_write(clear, sizeof(clear) - 1, wait_ms) : 0;

        if (err == 0)
                err = text_write(text, bytes, wait_ms);
        if (err == 0)
                over = overs;
        return err;
}

void ed_console_mask(char *text, size_t bytes, const char *kept)
{
        for (size_t i = 0; i < bytes; i++) {
                unsigned char c = (unsigned char) text[i];

                if ((c < 0x20 || c == 0x7f) && (c == '\0' || !strchr(kept, c)))
                        text[i] = '?';
        }
}

EDDY_PRINTF(3, 0)
static void say(const char *command, const char *tail, const char *format, va_list args)
{
        char line[LINE_BYTES_MAX];
        size_t room = sizeof(line) - strlen(tail) - 2, at;
        int n;

        if (signature)
                command = signature;
        n = snprintf(line, room, "eddy%s%s: ", command ? " " : "", command ? command : "");
        if (n < 0 || (size_t) n >= room)
                return;
        at = (size_t) n;
        n = vsnprintf(line + at, room - at, format, args);
        if (n < 0)
                return;
        at += (size_t) n < room - at ? (size_t) n : room - at - 1;
        ed_console_mask(line, at, "");
        memcpy(line + at, tail, strlen(tail));
        at += strlen(tail);
        line[at++] = '\n';
        ed_console_write(line, at, SAY_WAIT_MS);
}

void ed_console_say(const char *command, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        say(command, "", format, args);
        va_end(args);
}

/* Say how a command is used wrongly, and where to find help. */
EDDY_PRINTF(2, 0)
static void refuse(const char *command, const char *format, va_list args)
{
        char tail[64];

        snprintf(tail, sizeof(tail), " (see eddy %s%s--help)", command ? command : "",
                 command ? " " : "");
        say(command, tail, format, args);
}

int ed_console_usage(const char *command, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        refuse(command, format, args);
        va_end(args);
        return ED_EXIT_USAGE;
}

EDDY_PRINTF(3, 0)
void ed_console_hear(void *arg, enum ed_say_kind kind, const char *format, va_list args)
{
        if (kind == ED_SAY_REFUSAL)
                refuse(arg, format, args);
        else
                say(arg, "", format, args);
}

struct ed_say ed_console_voice(const char *command)
{
        return (struct ed_say){ .hear = ed_console_hear, .arg = (void *) (uintptr_t) command };
}

int ed_console_print(const char *command, const char *text)
{
        if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
                if (errno == EPIPE)
                        return ED_EXIT_OK;
                ed_console_say(command, "cannot write to standard output: %s", strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        return ED_EXIT_OK;
}

/* May run on another thread or in a signal handler, so use only write(2). */
void ed_console_report(const struct eddy_report *report, void *arg)
{
        const struct {
                const char *text;
                size_t bytes;
        } parts[] = {
                { "eddy: ", 6 },
                { report->text, strlen(report->text) },
                { "\n", 1 },
        };

        (void) arg;
        if (report->kind == EDDY_REPORT_STACKS)
                return;
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
                if (write(STDERR_FILENO, parts[i].text, parts[i].bytes) < 0)
                        return;
        }
}

unsigned long ed_console_raise_files(const char *command)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return 1024;
        if (limit.rlim_cur < limit.rlim_max) {
                struct rlimit raised = { .rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max };

                if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
                        limit = raised;
        }
        if (limit.rlim_cur < FILES_LEAST) {
                ed_console_say(command,
                               "%lu open files are allowed (ulimit -n), too few to work: allow at "
                               "least %d",
                               (unsigned long) limit.rlim_cur, (int) FILES_LEAST);
                return 0;
        }
        return limit.rlim_cur == RLIM_INFINITY ? 1ul << 30 : (unsigned long) limit.rlim_cur;
}
