/*
 * test_syscalls.c - each call of the system in src/sys fails, with each error
 * that it may have, under programs on the kernel's table.
 *
 * Each run is a process of its own, so that what is made once for a process is
 * made in each.  It ends, gives back what it took, and says that it failed or
 * did without; interrupted, or asked to try again, it does without.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "co/stack.h"
#include "fault.h"
#include "io/beneath.h"
#include "io/stream.h"
#include "scenario.h"
#include "scope/task.h"
#include "sys/fault/last_words.h"
#include "sys/fault/symbol.h"
#include "sys/file/plain.h"
#include "sys/kit/capture.h"
#include "sys/kit/process_copies.h"
#include "sys/poll/sleeper.h"
#include "sys/process/process_use.h"
#include "sys/process/zygote.h"
#include "sys/sys.h"
#include "sys/terminal.h"
#include "sys/thread/thread_end.h"
#include "sys/thread/thread_stack.h"
#include "test.h"

/* A run that takes longer hangs.  Of a sample: of calls at a place, of drives that come to it. */
enum { RUN_SECONDS_MAX = 100, RAN = 40, FAILED = 41, CALLS_SAMPLE = 2, DRIVES_SAMPLE = 1 };

/* In how many drives each error was had at each place. */
enum { SITES_MAX = 256, ERRORS_MAX = 16 };
static unsigned had[SITES_MAX][FAULT_PLACES_MAX][ERRORS_MAX];
static unsigned runs, failed;

/* --- what is run --- */

static int64_t live;

static void *counting_realloc(void *ctx, void *ptr, size_t bytes)
{
        void *moved;

        (void) ctx;
        if (bytes == 0) {
                __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
                free(ptr);
                return NULL;
        }
        moved = realloc(ptr, bytes);
        CHECK(moved);
        if (!ptr)
                __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
        return moved;
}

/* With everything that a run takes of the process. */
static int run_counted(eddy_task_fn *fn, const struct eddy_run_opts *opts)
{
        int err;

        eddy_alloc_set(counting_realloc, NULL);
        err = eddy_run(fn, NULL, opts);
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(live, 0);
        return err;
}

static int use_pipe(int fds[2])
{
        eddy_stream *in = NULL, *out = NULL;
        char buf[8];
        int64_t n;
        int err;

        err = eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &in);
        if (err < 0) {
                close(fds[0]);
                close(fds[1]);
                return err;
        }
        err = eddy_stream_from_fd(fds[1], EDDY_STREAM_OWN_FD, &out);
        if (err < 0)
                close(fds[1]);
        if (err == 0)
                err = eddy_stream_write(out, "abc", 3);
        if (err == 0) {
                n = eddy_stream_read(in, buf, sizeof(buf));
                CHECK(n < 0 || n == 3);
                err = n < 0 ? (int) n : 0;
        }
        eddy_stream_close(in);
        /* Nobody reads any more; and no signal comes of it. */
        if (err == 0 && eddy_stream_write(out, "abc", 3) != -EPIPE)
                err = -EIO;
        eddy_stream_close(out);
        return err;
}

/* Until the loop has waited for it: on a busy machine the time may pass before that. */
static int rest(void)
{
        size_t wait = fault_site_find("epoll_wait_ns", "epoll_pwait2");
        int64_t ns = EDDY_US(200);
        int err;

        while ((err = eddy_sleep(ns)) == 0 && fault_hits(wait, 0) == 0)
                ns *= 2;
        return err;
}

struct foreign {
        int fd, err;
};

static int wait_foreign(void *arg)
{
        struct foreign *foreign = arg;
        int ready = eddy_fd_wait(foreign->fd, EDDY_FD_READABLE);

        foreign->err = ready < 0 ? ready : 0;
        return 0;
}

/* The other end is closed while a task waits. */
static int use_foreign(void)
{
        struct foreign foreign;
        eddy_scope scope;
        int fds[2];

        CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
        foreign = (struct foreign){ fds[0], 0 };
        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start(&scope, wait_foreign, &foreign);
        (void) eddy_sleep(0);
        close(fds[1]);
        (void) eddy_scope_end(&scope);
        close(fds[0]);
        return foreign.err;
}

static int main_pipes(void *arg)
{
        int fds[2], err;

        (void) arg;
        err = use_foreign();
        if (err < 0)
                return err;
        CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
        err = use_pipe(fds);
        return err < 0 ? err : rest();
}

static int drive_pipes(void)
{
        return run_counted(main_pipes, NULL);
}

static int use_file(void *arg)
{
        int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), err;
        eddy_stream *stream;

        (void) arg;
        CHECK(fd >= 0);
        err = eddy_stream_from_fd(fd, 0, &stream);
        if (err == 0) {
                err = eddy_stream_write(stream, "abc", 3);
                if (err == 0)
                        CHECK_EQ(lseek(fd, 0, SEEK_CUR), 3);
                eddy_stream_close(stream);
        }
        close(fd);
        return err;
}

static int drive_file(void)
{
        return run_counted(use_file, NULL);
}

static int accept_and_close(void *arg)
{
        eddy_stream *stream;
        int err = eddy_listener_accept(arg, &stream);

        if (err == 0)
                eddy_stream_close(stream);
        return err;
}

static int main_abort(void *arg)
{
        eddy_listener *listener;
        eddy_stream *stream;
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), end_err;

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start(&scope, accept_and_close, listener);
        err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &stream);
        if (err < 0)
                eddy_scope_cancel(&scope);
        else
                eddy_stream_abort(stream);
        end_err = eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return err < 0 ? err : end_err;
}

static int drive_abort(void)
{
        return run_counted(main_abort, NULL);
}

/* Both ends of a stream are known. */
static int look_at_ends(const eddy_stream *stream)
{
        struct eddy_endpoint local, peer;
        int err = eddy_stream_local(stream, &local);

        return err < 0 ? err : eddy_stream_peer(stream, &peer);
}

/* A connection with all options, and where its ends are. */
static int main_options(void *arg)
{
        struct eddy_endpoint local = { .kind = EDDY_ENDPOINT_IP,
                                       .address = { .family = AF_INET,
                                                    .bytes = { 127, 0, 0, 1 } } };
        struct eddy_tcp_connect_opts opts = { .local = &local, .keepalive_ns = EDDY_SEC(10) };
        eddy_listener *listener;
        eddy_stream *stream;
        int err = eddy_tcp_listen("127.0.0.1", 0,
                                  &(struct eddy_tcp_listen_opts){ .reuse_port = true }, &listener);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), &opts, &stream);
        if (err == 0) {
                err = look_at_ends(stream);
                eddy_stream_close(stream);
        }
        eddy_listener_close(listener);
        return err;
}

static int drive_options(void)
{
        return run_counted(main_options, NULL);
}

/* A socket file without a listener. */
static void leave_stale_file(const char *path)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        CHECK(fd >= 0);
        CHECK_EQ(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        close(fd);
}

static char unix_path[64], lock_path[sizeof(unix_path) + 16];

/* Another process is replacing the path. */
static int listen_while_locked(const struct eddy_unix_listen_opts *opts)
{
        int fd = open(lock_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600), err;
        eddy_listener *listener;

        CHECK(fd >= 0);
        CHECK_EQ(flock(fd, LOCK_EX), 0);
        err = eddy_unix_listen(unix_path, opts, &listener);
        CHECK(err < 0);
        close(fd);
        return err == -EADDRINUSE ? 0 : err;
}

static int main_unix(void *arg)
{
        struct eddy_unix_listen_opts opts = { .mode = 0600, .replace_stale = true };
        eddy_stream *stream, *accepted;
        eddy_listener *listener;
        int err = listen_while_locked(&opts);

        (void) arg;
        if (err == 0)
                err = eddy_unix_listen(unix_path, &opts, &listener);
        if (err < 0)
                return err;
        err = eddy_unix_connect(unix_path, NULL, &stream);
        if (err == 0) {
                err = eddy_listener_accept(listener, &accepted);
                if (err == 0) {
                        err = look_at_ends(accepted);
                        eddy_stream_close(accepted);
                }
                eddy_stream_close(stream);
        }
        eddy_listener_close(listener);
        return err;
}

static int drive_unix(void)
{
        int err;

        snprintf(unix_path, sizeof(unix_path), "/tmp/eddy-syscalls-%ld.sock", (long) getpid());
        snprintf(lock_path, sizeof(lock_path), "%s.eddy-lock", unix_path);
        leave_stale_file(unix_path);
        err = run_counted(main_unix, NULL);
        (void) unlink(unix_path);
        (void) unlink(lock_path); /* if its removal has failed */
        return err;
}

/* --- bytes of a file over a socket --- */

/* Send them, and again after the end of sending, which is an error. */
static int send_file(eddy_stream *to, const eddy_file *file)
{
        int64_t n;
        int err;

        do
                n = ed_stream_send_file(to, file, 0, 3, NULL);
        while (n == -EAGAIN);
        if (n < 0)
                return (int) n;
        CHECK_EQ(n, 3);
        err = eddy_stream_shutdown(to);
        if (err < 0)
                return err;
        do
                n = ed_stream_send_file(to, file, 0, 3, NULL);
        while (n == -EAGAIN);
        CHECK(n < 0);
        return n == -EPIPE ? 0 : (int) n;
}

static int send_file_to(eddy_listener *listener, const eddy_file *file)
{
        eddy_stream *stream, *accepted;
        int err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &stream);

        if (err < 0)
                return err;
        err = eddy_listener_accept(listener, &accepted);
        if (err == 0) {
                err = send_file(accepted, file);
                eddy_stream_close(accepted);
        }
        eddy_stream_close(stream);
        return err;
}

static int main_send_file(void *arg)
{
        eddy_listener *listener;
        eddy_file *file;
        int err = eddy_file_temporary("/tmp", &file);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_file_write(file, "abc", 3);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err == 0) {
                err = send_file_to(listener, file);
                eddy_listener_close(listener);
        }
        eddy_file_close(file);
        return err;
}

static int drive_send_file(void)
{
        return run_counted(main_send_file, NULL);
}

/* --- datagrams, and descriptors over Unix sockets --- */

/* All options, and an error of the network that has not come. */
static int main_udp(void *arg)
{
        struct eddy_udp_opts opts = { .errors = true, .broadcast = true, .send_bytes = 1 << 16 };
        struct eddy_udp_error error;
        eddy_udp *udp;
        int err = eddy_udp_bind("127.0.0.1", 0, &opts, &udp);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_udp_set_option(udp, EDDY_UDP_TTL, 3);
        if (err == 0)
                err = eddy_udp_option(udp, EDDY_UDP_TTL);
        if (err >= 0) {
                CHECK_EQ(err, 3);
                err = eddy_udp_error(udp, &error);
                CHECK(err < 0);
        }
        eddy_udp_close(udp);
        return err == -EAGAIN ? 0 : err;
}

static int drive_udp(void)
{
        return run_counted(main_udp, NULL);
}

/* A descriptor from one stream to the other, and whose they are. */
static int pass_between(eddy_stream *from, eddy_stream *to)
{
        struct eddy_unix_credentials peer;
        struct eddy_unix_fds fds;
        int fd = STDERR_FILENO;
        char byte;
        int64_t n = eddy_unix_send_fds(from, "x", 1, &fd, 1);

        if (n > 0)
                n = eddy_unix_receive_fds(to, &byte, 1, &fds);
        if (n < 0)
                return (int) n;
        CHECK_EQ(n, 1);
        CHECK_EQ(fds.count, 1);
        close(fds.fds[0]);
        return eddy_unix_peer_credentials(to, &peer);
}

static int main_pass(void *arg)
{
        eddy_stream *a, *b;
        int fds[2], err;

        (void) arg;
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        err = eddy_stream_from_fd(fds[0], 0, &a);
        if (err == 0) {
                err = eddy_stream_from_fd(fds[1], 0, &b);
                if (err == 0) {
                        err = pass_between(a, b);
                        eddy_stream_close(b);
                }
                eddy_stream_close(a);
        }
        close(fds[0]);
        close(fds[1]);
        return err;
}

static int drive_pass(void)
{
        return run_counted(main_pass, NULL);
}

/* --- changes of files --- */

static int next_change(eddy_notify *notify)
{
        struct eddy_notify_event event;
        int err = eddy_notify_next(notify, &event);

        if (err == 0)
                CHECK_EQ(event.kind, EDDY_NOTIFY_CREATED);
        return err;
}

static int use_notify(eddy_notify *notify, const char *path)
{
        char name[96];
        int watch = eddy_notify_add(notify, path), err;

        if (watch < 0)
                return watch;
        snprintf(name, sizeof(name), "%s/x", path);
        CHECK_EQ(mkdir(name, 0700), 0);
        err = next_change(notify);
        CHECK_EQ(rmdir(name), 0);
        CHECK_EQ(eddy_notify_remove(notify, watch), 0);
        return err;
}

static int main_notify(void *arg)
{
        struct eddy_notify_opts opts = { .merge_ns = -1 };
        eddy_notify *notify;
        int err = eddy_notify_open(&opts, &notify);

        if (err < 0)
                return err;
        err = use_notify(notify, arg);
        eddy_notify_close(notify);
        return err;
}

static int drive_notify(void)
{
        char path[] = "/tmp/eddy-syscalls-XXXXXX";
        int err;

        CHECK(mkdtemp(path));
        eddy_alloc_set(counting_realloc, NULL);
        err = eddy_run(main_notify, path, NULL);
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(live, 0);
        CHECK_EQ(rmdir(path), 0);
        return err;
}

/* --- files --- */

static char files_path[64];

/* A file of /proc has no cache, so threads read it. */
static int read_proc(void)
{
        eddy_file *file;
        char buf[8];
        int64_t n;
        int err = eddy_file_open("/proc/self/maps", EDDY_FILE_READ, 0, &file);

        if (err < 0)
                return err;
        n = eddy_file_read(file, buf, sizeof(buf));
        if (n >= 0)
                n = eddy_file_read_at(file, buf, sizeof(buf), 0);
        eddy_file_close(file);
        return n < 0 ? (int) n : 0;
}

static int change_open_file(eddy_file *file)
{
        struct eddy_file_info info;
        char buf[8];
        int64_t n;
        int err = eddy_file_write(file, "abc", 3);

        if (err == 0)
                err = eddy_file_write_at(file, "abc", 3, 1);
        if (err == 0)
                err = eddy_file_sync(file, EDDY_FILE_DATA_ONLY);
        if (err == 0)
                err = eddy_file_truncate(file, 2);
        if (err == 0)
                err = eddy_file_chmod(file, 0600);
        if (err == 0)
                err = eddy_file_stat(file, &info);
        if (err == 0)
                err = eddy_file_seek(file, 0);
        if (err < 0)
                return err;
        n = eddy_file_read(file, buf, sizeof(buf));
        CHECK(n < 0 || n == 2);
        return n < 0 ? (int) n : 0;
}

static int change_file(const char *path)
{
        const unsigned flags = EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_NEW;
        eddy_file *file;
        int err = eddy_file_open(path, flags, 0, &file);

        if (err < 0)
                return err;
        err = change_open_file(file);
        eddy_file_close(file);
        return err;
}

static int lock_file(const char *path)
{
        eddy_file *file, *other;
        int err = eddy_file_open(path, EDDY_FILE_READ | EDDY_FILE_LOCK, 0, &file);

        if (err < 0)
                return err;
        err = eddy_file_open(path, EDDY_FILE_READ | EDDY_FILE_LOCK, 0, &other);
        if (err == 0)
                eddy_file_close(other);
        CHECK(err < 0);
        eddy_file_close(file);
        return err == -EBUSY ? 0 : err;
}

static int list_names(const char *path)
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

/* Open the file "to", and the folder itself as a file and as a folder. */
static int open_beneath(void)
{
        struct eddy_file_info info;
        eddy_folder *folder;
        eddy_file *file;
        int fd = ed_beneath_begin(files_path), err;

        if (fd < 0)
                return fd;
        err = ed_beneath_file(fd, "to", 0, &info, &file);
        if (err == 0) {
                eddy_file_close(file);
                err = ed_beneath_file(fd, ".", 0, &info, &file);
                CHECK(err < 0);
                if (err == -EISDIR)
                        err = ed_beneath_folder(fd, ".", ED_BENEATH_NO_LINKS, &folder);
                if (err == 0)
                        eddy_folder_close(folder);
        }
        ed_beneath_close(fd);
        return err;
}

static int change_names(const char *from, const char *to)
{
        struct eddy_file_info info;
        int err = change_file(from);

        if (err == 0)
                err = lock_file(from);
        if (err == 0)
                err = eddy_path_rename(from, to, 0);
        if (err == 0)
                err = eddy_path_stat(to, 0, &info);
        if (err == 0)
                err = list_names(files_path);
        if (err == 0)
                err = open_beneath();
        if (err == 0)
                err = eddy_folder_sync(files_path);
        return err == 0 ? eddy_path_remove(to) : err;
}

static int main_files(void *arg)
{
        char from[80], to[80];
        int err = eddy_folder_make(files_path, 0700);

        (void) arg;
        snprintf(from, sizeof(from), "%s/from", files_path);
        snprintf(to, sizeof(to), "%s/to", files_path);
        if (err == 0)
                err = change_names(from, to);
        if (err == 0)
                err = read_proc();
        if (err == 0)
                return eddy_folder_remove(files_path);
        (void) unlink(from);
        (void) unlink(to);
        (void) rmdir(files_path);
        return err;
}

static int drive_files(void)
{
        int err;

        snprintf(files_path, sizeof(files_path), "/tmp/eddy-syscalls-%ld.d", (long) getpid());
        err = run_counted(main_files, NULL);
        (void) rmdir(files_path);
        return err;
}

/* --- timelines --- */

static int trace_error;

static void on_trace_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind == EDDY_REPORT_TRACE)
                trace_error = report->error;
}

static int main_nothing(void *arg)
{
        (void) arg;
        return 0;
}

static int drive_trace(void)
{
        char path[64];
        struct eddy_run_opts opts = { .trace_file = path, .report = on_trace_report };
        int err;

        snprintf(path, sizeof(path), "/tmp/eddy-syscalls-%ld.json", (long) getpid());
        trace_error = 0;
        err = run_counted(main_nothing, &opts);
        (void) unlink(path);
        return err < 0 ? err : trace_error;
}

/* --- child processes --- */

static int talk_to(const struct eddy_process_opts *opts)
{
        struct eddy_process_communicate_opts input = { .input = "abc", .input_bytes = 3 };
        EDDY_AUTO(eddy_process) eddy_process *process = NULL;
        struct eddy_process_output output;
        int err = eddy_process_start(opts, &process);

        if (err == 0)
                err = eddy_process_communicate(process, opts->flags ? NULL : &input, &output);
        CHECK(err < 0 || output.out_bytes == (opts->flags ? 0 : 3));
        return err;
}

/* A child that close() ends, by its pidfd or with its group. */
static int end_one(uint32_t flags)
{
        struct eddy_process_opts opts = { .command = "exec sleep 2", .flags = flags };
        eddy_process *process = NULL;
        int err = eddy_process_start(&opts, &process);

        eddy_process_close(process);
        return err;
}

static eddy_process *outlives_run;

static int main_processes(void *arg)
{
        static const char *const cat[] = { "cat", NULL };
        struct eddy_process_opts talks = { .arguments = cat,
                                           .folder = "/",
                                           .in = { .kind = EDDY_PROCESS_PIPE },
                                           .out = { .kind = EDDY_PROCESS_PIPE },
                                           .err = { .kind = EDDY_PROCESS_STDOUT } };
        struct eddy_process_opts terminal = { .command = "exit 0", .flags = EDDY_PROCESS_TERMINAL };
        struct eddy_process_opts copy = { .command = "exec sleep 2",
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { EDDY_PROCESS_FD, STDERR_FILENO } };
        int err = talk_to(&talks);

        (void) arg;
        if (err == 0)
                err = talk_to(&terminal);
        if (err == 0)
                err = end_one(0);
        if (err == 0)
                err = end_one(EDDY_PROCESS_GROUP);
        return err == 0 ? eddy_process_start(&copy, &outlives_run) : err;
}

/* Standard input is closed, so that the first pipe would be that. */
static int main_processes_closed(void *arg)
{
        static const char *const cat[] = { "cat", NULL };
        struct eddy_process_opts talks = { .arguments = cat,
                                           .in = { .kind = EDDY_PROCESS_PIPE },
                                           .out = { .kind = EDDY_PROCESS_PIPE } };
        int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), err;

        (void) arg;
        CHECK(saved < 0 || close(STDIN_FILENO) == 0);
        err = talk_to(&talks);
        CHECK(fcntl(STDIN_FILENO, F_GETFD) < 0 || fault_happened());
        CHECK(saved < 0 || (dup2(saved, STDIN_FILENO) == 0 && close(saved) == 0));
        return err;
}

static int drive_processes_closed(void)
{
        return run_counted(main_processes_closed, NULL);
}

/* One is closed after the run. */
static int drive_processes(void)
{
        int err;

        outlives_run = NULL;
        eddy_alloc_set(counting_realloc, NULL);
        err = eddy_run(main_processes, NULL, NULL);
        eddy_process_close(outlives_run);
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(live, 0);
        return err;
}

/* --- signals --- */

static bool is_handled(int signo)
{
        struct sigaction now;

        CHECK_EQ(sigaction(signo, NULL, &now), 0);
        return now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
}

static int main_signals(void *arg)
{
        static const int usr[] = { SIGUSR1, SIGUSR2 };
        eddy_signal *signals;
        int err = eddy_signal_open(usr, 2, &signals);

        (void) arg;
        if (err < 0)
                return err;
        CHECK_EQ(raise(SIGUSR1), 0);
        err = eddy_signal_wait(signals);
        eddy_signal_close(signals);
        CHECK(!is_handled(SIGUSR1) && !is_handled(SIGUSR2));
        return err < 0 ? err : 0;
}

static int drive_signals(void)
{
        return run_counted(main_signals, NULL);
}

static int main_stopped(void *arg)
{
        (void) arg;
        /* A run that could not have them leaves them as they are. */
        if (is_handled(SIGQUIT))
                CHECK_EQ(raise(SIGQUIT), 0);
        (void) eddy_sleep(EDDY_US(100));
        if (!is_handled(SIGINT))
                return 0;
        CHECK_EQ(raise(SIGINT), 0);
        return eddy_sleep(EDDY_SEC(1000)) == -ECANCELED ? 0 : -EIO;
}

static int drive_stopped(void)
{
        int err;

        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        err = run_counted(main_stopped, NULL);
        CHECK(!is_handled(SIGQUIT) && !is_handled(SIGINT) && !is_handled(SIGTERM));
        return err;
}

/* The default report, which goes to where nobody looks; and how many came. */
static _Atomic int reports;

static void report_and_count(const struct eddy_report *report, void *arg)
{
        (void) arg;
        CHECK(report->kind == EDDY_REPORT_WATCHDOG);
        reports++;
}

static void compute_until_reported(void)
{
        int seen = reports;

        while (reports == seen)
                continue;
}

/* If the watchdog looks between two naps, the task runs, and its signal ends the next nap. */
static void nap_until_reported(void)
{
        const struct timespec nap = { .tv_nsec = 20000000 };
        int seen = reports;

        while (reports == seen)
                CHECK(nanosleep(&nap, NULL) == 0 || errno == EINTR);
}

/* Once it answers the watchdog, once it is blocked, and once it blocks all signals. */
static int main_computes(void *arg)
{
        sigset_t all, former;

        (void) arg;
        compute_until_reported();
        CHECK_EQ(eddy_sleep(0), 0);
        nap_until_reported();
        CHECK_EQ(eddy_sleep(0), 0);
        sigfillset(&all);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, &all, &former), 0);
        compute_until_reported();
        CHECK_EQ(pthread_sigmask(SIG_SETMASK, &former, NULL), 0);
        return 0;
}

static int drive_watchdog(void)
{
        return run_counted(main_computes, &(struct eddy_run_opts){ .watchdog_ns = EDDY_MS(1),
                                                                   .report = report_and_count });
}

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

static int main_background(void *arg)
{
        int err = eddy_background(fails, NULL);

        (void) arg;
        /* Without the text of the call the report looks up the function's name. */
        return err < 0 ? err : (eddy_background) (fails, NULL);
}

static int drive_report(void)
{
        return run_counted(main_background, NULL);
}

/* Standard error is a pipe that is full and has no reader. */
static int drive_full_report(void)
{
        static char block[4096];
        int fds[2], saved, err;

        CHECK_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
        while (write(fds[1], block, sizeof(block)) > 0)
                continue;
        saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
        CHECK(saved >= 0 && dup2(fds[1], STDERR_FILENO) >= 0);
        err = drive_report();
        CHECK(dup2(saved, STDERR_FILENO) >= 0);
        CHECK_EQ(close(saved) | close(fds[0]) | close(fds[1]), 0);
        return err;
}

/* Standard input is closed, so that the first socket would be that. */
static int main_closed(void *arg)
{
        int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), err;

        CHECK(saved < 0 || close(STDIN_FILENO) == 0);
        err = main_abort(arg);
        CHECK(fcntl(STDIN_FILENO, F_GETFD) < 0 || fault_happened());
        CHECK(saved < 0 || (dup2(saved, STDIN_FILENO) == 0 && close(saved) == 0));
        return err;
}

static int drive_closed(void)
{
        return run_counted(main_closed, NULL);
}

static int count_up(void *arg)
{
        ++*(int *) arg;
        return 0;
}

static int step_until(eddy_loop *loop, const int *calls, int wanted)
{
        int err = 0;

        while (err >= 0 && *calls < wanted)
                err = eddy_loop_step(loop);
        return err < 0 ? err : 0;
}

static int drive_steps(void)
{
        eddy_handle soon = { 0 }, later = { 0 }, posted = { 0 };
        eddy_loop *loop;
        int calls = 0, err = eddy_loop_new(NULL, &loop);

        if (err < 0)
                return err;
        err = eddy_loop_fd(loop);
        if (err >= 0)
                err = eddy_loop_call_soon(loop, &soon, count_up, &calls);
        if (err == 0)
                err = eddy_loop_call_later(loop, &later, EDDY_US(100), count_up, &calls);
        if (err == 0)
                err = eddy_loop_call_threadsafe(loop, &posted, count_up, &calls);
        if (err == 0)
                err = step_until(loop, &calls, 3);
        CHECK_EQ(eddy_loop_close(loop), 0);
        return err;
}

/* As a loop does it, which under ThreadSanitizer never sleeps here. */
static int drive_sleeper(void)
{
        struct ed_sleeper sleeper;
        int err = ed_sleeper_init(&sleeper);

        if (err < 0)
                return err;
        CHECK(ed_sleeper_begin(&sleeper, ED_SLEEP_FUTEX));
        ed_sleeper_sleep(&sleeper, EDDY_US(10));
        ed_sleeper_end(&sleeper);
        ed_sleeper_fini(&sleeper);
        return 0;
}

/* A thread of its own has neither a signal stack nor a known stack. */
static void *run_pipes(void *arg)
{
        stack_t none = { .ss_flags = SS_DISABLE }, former;
        void *base;
        size_t bytes;

        CHECK_EQ(sigaltstack(&none, &former), 0);
        ed_sys_thread_stack(&base, &bytes);
        *(int *) arg = bytes > 0 || !base ? eddy_run(main_pipes, NULL, NULL) : -EIO;
        CHECK_EQ(sigaltstack(&former, NULL), 0);
        return NULL;
}

static int drive_thread(void)
{
        pthread_t thread;
        int result;

        CHECK_EQ(pthread_create(&thread, NULL, run_pipes, &result), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return result;
}

enum { RELEASE_BELOW = 32 * 1024 };

/* Tasks on stacks whose guards are what is left of the ladder. */
static int stands(void *arg)
{
        return eddy_sleep(EDDY_US(1)) < 0 ? *(int *) arg : 0;
}

static int main_many(void *arg)
{
        int lost = -EIO;
        eddy_scope scope;

        (void) arg;
        /* Far below the frames of this call: the task runs. */
        ed_stack_release(ed_task_running()->stack,
                         (char *) __builtin_frame_address(0) - RELEASE_BELOW);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 40; i++)
                (void) eddy_scope_start(&scope, stands, &lost);
        return eddy_scope_end(&scope);
}

static int drive_stacks(void)
{
        return run_counted(main_many, NULL);
}

static void without_madvise(void)
{
        fault_persistent("ed_sys_guard_install", "madvise", EINVAL);
}

static void without_mprotect(void)
{
        without_madvise();
        fault_persistent("ed_sys_guard_protect", "mprotect", ENOMEM);
}

static void without_pwait2(void)
{
        fault_persistent("epoll_wait_ns", "epoll_pwait2", ENOSYS);
}

/* A worker that shares memory, and one that is replaced. */
static int adds_7(eddy_process_work *work)
{
        char *memory = eddy_process_work_buffer(work, 0, NULL);
        char sum = (char) (memory[0] + 7);

        return eddy_process_work_reply(work, &sum, 1);
}

static int main_pool(void *arg)
{
        struct eddy_process_pool_opts opts = { .workers_max = 1,
                                               .calls_max = 1,
                                               .memory_bytes_max = (uint64_t) 1 << 40 };
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;
        EDDY_AUTO(eddy_process_buffer) eddy_process_buffer *buffer = NULL;
        char sum = 0;
        struct eddy_process_call call = { .fn = adds_7,
                                          .result = &sum,
                                          .result_bytes_max = 1,
                                          .buffers = &buffer,
                                          .buffers_count = 1 };
        int err = eddy_process_buffer_new(100, &buffer);

        (void) arg;
        if (err == 0)
                err = eddy_process_pool_open(&opts, &pool);
        for (int i = 0; i < 2 && err == 0; i++) {
                err = eddy_process_pool_call(pool, &call);
                CHECK(err < 0 || sum == 7);
        }
        return err;
}

static int drive_pool(void)
{
        int err = eddy_process_pool_prepare();

        if (err == 0)
                err = run_counted(main_pool, NULL);
        ed_zygote_end();
        return err;
}

/* Standard input is closed, so that the first socket would be that. */
static int drive_pool_closed(void)
{
        int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), err;

        CHECK(saved < 0 || close(STDIN_FILENO) == 0);
        err = drive_pool();
        CHECK(saved < 0 || (dup2(saved, STDIN_FILENO) == 0 && close(saved) == 0));
        return err;
}

/* A120: a timer looks instead. */
static void without_pidfd(void)
{
        fault_persistent("pidfd_find", "pidfd_open", ENOSYS);
}

static void without_affinity(void)
{
        fault_persistent("ed_sys_cpu_count", "sched_getaffinity", EINVAL);
}

static int main_counts(void *arg)
{
        (void) arg;
        return eddy_cpu_count() > 0 ? 0 : -EIO;
}

static int drive_counts(void)
{
        return run_counted(main_counts, NULL);
}

static void say_nothing(void)
{
}

/* What the kit asks of the process. */
static int drive_kit(void)
{
        int fds[64], n = ed_sys_fds(fds, 64);
        void *frames[8];
        char name[32];

        ed_sys_fd_name(0, name, sizeof(name));
        CHECK(strlen(name) < sizeof(name));
        CHECK(n <= 64);
        /* One signal is the program's already, and another becomes so meanwhile. */
        (void) signal(SIGINT, SIG_IGN);
        ed_sys_last_words_set(ED_LAST_WORDS_KIT, say_nothing);
        ed_sys_thread_end_watch(ED_THREAD_END_KIT, say_nothing);
        (void) ed_sys_called_from(__builtin_return_address(0));
        CHECK(ed_sys_callers(NULL, frames, 8) <= 8);
        (void) ed_sys_is_inside((const void *) drive_kit, (const void *) drive_kit);
        (void) ed_sys_is_inside_named((const void *) drive_kit, "libeddy-");
        (void) signal(SIGTERM, SIG_IGN);
        ed_sys_in_copy(say_nothing, 5000);
        ed_sys_last_words_set(ED_LAST_WORDS_KIT, NULL);
        (void) signal(SIGINT, SIG_DFL);
        (void) signal(SIGTERM, SIG_DFL);
        return n < 0 ? n : 0;
}

/* Standard output of a run; a part that was not restored is as good as lost. */
static int drive_capture(void)
{
        char buf[4];
        int err;

        CHECK(dup2(STDERR_FILENO, STDOUT_FILENO) >= 0);
        err = ed_sys_capture_begin();
        if (err < 0)
                return err;
        (void) printf("eddy");
        CHECK(ed_sys_capture_end(buf, sizeof(buf)) <= 4);
        err = ed_sys_capture_begin();
        if (err < 0)
                return err;
        (void) printf("eddy");
        (void) fflush(stdout);
        ed_sys_capture_give_up();
        ed_sys_capture_give_up();
        return 0;
}

/* A copy that ends at once. */
static int drive_copies(void)
{
        struct ed_sys_copies copies;
        struct ed_sys_copy_end end;
        char buf[4], command[256];
        int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err, kept, fd;

        err = ed_sys_copies_open(&copies, sizeof(buf));
        CHECK_EQ(close(file), 0);
        if (err < 0)
                return err;
        CHECK(ed_sys_command_line(command, sizeof(command)) < sizeof(command));
        CHECK(ed_sys_copies_threads() >= 1);
        kept = ed_sys_stdout_keep();
        fd = ed_sys_stdout_kept(kept);
        CHECK(fd == kept || fd == STDOUT_FILENO);
        if (kept != STDOUT_FILENO)
                (void) close(kept);
        err = ed_sys_copies_run(&copies, 60, &end);
        if (err == 1)
                _exit(0);
        if (err == 0) {
                CHECK(ed_sys_copies_can_run() && end.status == 0 && end.signo == 0);
                CHECK(ed_sys_copies_output(&copies, buf, sizeof(buf)) == 0);
                (void) ed_sys_copies_checksum(&copies);
                ed_sys_copies_error(&copies, buf, sizeof(buf));
                CHECK(buf[0] == '\0');
        }
        (void) munmap(copies.shared, sizeof(buf));
        if (copies.output >= 0)
                (void) close(copies.output);
        if (copies.error >= 0)
                (void) close(copies.error);
        return err;
}

/* The page of metrics and the format of a log: what is unknown is left out. */
static int drive_use(void)
{
        struct ed_process_use use;

        ed_process_use(&use);
        CHECK(use.fds == -1 || use.fds > 0);
        CHECK(use.start_seconds == -1 || use.start_seconds > 1e9);
        CHECK(use.resident_bytes == -1 || use.resident_bytes > 0);
        CHECK(!ed_is_terminal(-1));
        (void) ed_is_terminal(0);
        return 0;
}

static bool is_plain(const char *name)
{
        return strcmp(name, "plain") == 0;
}

/* Files of libraries, outside of the table: each step succeeds, or says that it did not. */
static int drive_plain(void)
{
        static const char text[] = "text\n";
        char folder[] = "/tmp/eddy-plain-XXXXXX", path[64], more[64], home[256], buf[16];
        int fd, is_private, read_fd;

        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/plain", folder);
        snprintf(more, sizeof(more), "%s/more", folder);
        fd = ed_file_make(path, 0600);
        CHECK(fd < 0 || (fd > 2 && ed_file_make(path, 0600) < 0));
        is_private = ed_file_is_private(path);
        CHECK(is_private == (fd < 0 ? -ENOENT : 1) || is_private < 0);
        CHECK(ed_file_is_private(folder) <= 0);
        ed_file_append(more, text, sizeof(text) - 1);
        read_fd = open(more, O_RDONLY | O_CLOEXEC);
        if (read_fd >= 0) {
                CHECK(read(read_fd, buf, sizeof(buf)) <= (ssize_t) sizeof(text) - 1);
                close(read_fd);
        }
        CHECK(!ed_folder_has(folder, is_plain) || fd >= 0);
        CHECK(!ed_folder_has("/nowhere", is_plain));
        CHECK(!ed_user_home(home, 1));
        if (fd >= 0)
                close(fd);
        (void) unlink(path);
        (void) unlink(more);
        CHECK_EQ(rmdir(folder), 0);
        return fd < 0 ? fd : is_private < 0 ? is_private : 0;
}

static void without_folder_size(void)
{
        fault_persistent("fds", "stat", EACCES);
}

static int drive_scenario(eddy_task_fn *fn)
{
        struct setup setup = { .on_epoll = true };
        struct outcome outcome;

        scenario_run(fn, &setup, &outcome);
        return outcome.result;
}

#define DRIVE_SCENARIO(name)                                                                       \
        static int drive_##name(void)                                                              \
        {                                                                                          \
                return drive_scenario(scenario_##name);                                            \
        }
DRIVE_SCENARIO(threads)
NET_SCENARIOS(DRIVE_SCENARIO)

struct drive {
        const char *name;
        int (*run)(void);
        void (*before)(void); /* what fails all the time, or NULL */
        bool is_scenario;
};

#define SCENARIO_OF(name) { #name, drive_##name, NULL, true },
static const struct drive drives[] = {
        { "pipes", drive_pipes, NULL, false },
        { "pipes, no epoll_pwait2", drive_pipes, without_pwait2, false },
        { "file", drive_file, NULL, false },
        { "abort", drive_abort, NULL, false },
        { "options", drive_options, NULL, false },
        { "unix", drive_unix, NULL, false },
        { "send a file", drive_send_file, NULL, false },
        { "udp", drive_udp, NULL, false },
        { "pass", drive_pass, NULL, false },
        { "notify", drive_notify, NULL, false },
        { "files", drive_files, NULL, false },
        { "plain files", drive_plain, NULL, false },
        { "timeline", drive_trace, NULL, false },
        { "processes", drive_processes, NULL, false },
        { "processes, no pidfd", drive_processes, without_pidfd, false },
        { "processes, no standard input", drive_processes_closed, NULL, false },
        { "process pool", drive_pool, NULL, false },
        { "process pool, no standard input", drive_pool_closed, NULL, false },
        { "signals", drive_signals, NULL, false },
        { "stopped", drive_stopped, NULL, false },
        { "watchdog", drive_watchdog, NULL, false },
        { "report", drive_report, NULL, false },
        { "report, full", drive_full_report, NULL, false },
        { "abort, no standard input", drive_closed, NULL, false },
        { "steps", drive_steps, NULL, false },
        { "sleeper", drive_sleeper, NULL, false },
        { "thread", drive_thread, NULL, false },
        { "stacks", drive_stacks, NULL, false },
        { "stacks, no madvise", drive_stacks, without_madvise, false },
        { "stacks, no mprotect", drive_stacks, without_mprotect, false },
        { "kit", drive_kit, NULL, false },
        { "capture", drive_capture, NULL, false },
        { "copies", drive_copies, NULL, false },
        { "use", drive_use, NULL, false },
        { "use, no size of a folder", drive_use, without_folder_size, false },
        { "counts, no affinity", drive_counts, without_affinity, false },
        SCENARIO_OF(threads) NET_SCENARIOS(SCENARIO_OF)
};

/* --- one run --- */

static int open_fds(void)
{
        int n = 0;

        for (int fd = 0; fd < 256; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static void run_in_child(const struct drive *drive)
{
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC), before, result;

        alarm(RUN_SECONDS_MAX);
        if (!getenv("EDDY_TEST_VERBOSE"))
                CHECK(dup2(null, STDERR_FILENO) >= 0);
        before = open_fds();
        result = drive->run();
        if (result < 0)
                fprintf(stderr, "# %s: %s\n", drive->name, eddy_error_text(result));
        CHECK_EQ(open_fds(), before);
        _exit(result < 0 ? FAILED : RAN);
}

/* Run with what is to fail; whether it said that it failed. */
static bool run(const struct drive *drive, const char *what)
{
        int status;
        pid_t pid;

        fflush(stdout);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
                run_in_child(drive);
        while (waitpid(pid, &status, 0) < 0)
                CHECK_EQ(errno, EINTR);
        runs++;
        if (WIFEXITED(status) && (WEXITSTATUS(status) == RAN || WEXITSTATUS(status) == FAILED))
                return WEXITSTATUS(status) == FAILED;
        test_fail(__FILE__, __LINE__, "%s: %s: ended by %s %d", drive->name, what,
                  WIFSIGNALED(status) ? "signal" : "exit",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* --- sweeps --- */

/* A130: what is said to come again is asked for again, and what was interrupted. */
static bool is_passing(const char *call, int error)
{
        static const char *const transfers[] = { "accept4",  "recv",    "recvmmsg",
                                                 "recvmsg",  "send",    "sendfile",
                                                 "sendmmsg", "sendmsg", "read" };

        if (error == EINTR)
                return true;
        for (size_t i = 0; error == EAGAIN && i < sizeof(transfers) / sizeof(transfers[0]); i++)
                if (strcmp(call, transfers[i]) == 0)
                        return true;
        return false;
}

/* One error at a place; each time, or the first and the last.  Whether it was had. */
static bool sweep_error(const struct drive *drive, size_t site, int place, unsigned hits, int error)
{
        const struct fault_site *at = &fault_sites[site];
        char what[160];
        bool said, happened = false;

        for (uint64_t n = 0; (n = sweep_next(n, hits, CALLS_SAMPLE));) {
                snprintf(what, sizeof(what), "%s() in %s(), place %d, call %llu: %s", at->call,
                         at->function, place, (unsigned long long) n, strerror(error));
                fault_reset();
                if (drive->before)
                        drive->before();
                fault_at(site, place, (unsigned) n, error);
                said = run(drive, what);
                failed += said;
                happened |= fault_happened();
                if (said && is_passing(at->call, error))
                        test_fail(__FILE__, __LINE__, "%s: %s: it failed", drive->name, what);
        }
        return happened;
}

static void sweep_place(const struct drive *drive, size_t site, int place, unsigned hits)
{
        const int *errors = fault_errors(fault_sites[site].call);

        for (int i = 0; errors[i]; i++) {
                if (had[site][place][i] >= DRIVES_SAMPLE && !sweep_is_full())
                        continue;
                had[site][place][i] += sweep_error(drive, site, place, hits, errors[i]);
        }
}

/* A scenario's table is made without any failure, and its descriptors are counted. */
static bool is_of_the_kit(const char *function)
{
        static const char *const functions[] = { "ed_sleeper_init", "ed_sys_epoll_new",
                                                 "ed_sys_fds" };

        for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
                if (strcmp(function, functions[i]) == 0)
                        return true;
        return false;
}

static void sweep(const struct drive *drive)
{
        static unsigned hits[SITES_MAX][FAULT_PLACES_MAX];

        fault_reset();
        if (drive->before)
                drive->before();
        CHECK(!run(drive, "nothing"));
        for (size_t site = 0; site < fault_sites_count; site++)
                for (int place = 0; place < FAULT_PLACES_MAX; place++)
                        hits[site][place] = fault_hits(site, place);
        for (size_t site = 0; site < fault_sites_count; site++) {
                if (drive->is_scenario && is_of_the_kit(fault_sites[site].function))
                        continue;
                for (int place = 0; place < FAULT_PLACES_MAX; place++)
                        if (hits[site][place] > 0)
                                sweep_place(drive, site, place, hits[site][place]);
        }
}

/* ThreadSanitizer calls the handler later, on the stack of the task, where it takes no frames. */
static bool is_out_of_reach(const struct fault_site *site)
{
#ifdef ED_TSAN
        return strcmp(site->call, "backtrace") == 0 && strcmp(site->function, "on_sample") == 0;
#else
        (void) site;
        return false;
#endif
}

/* How many errors were had at a place: each of its call's. */
static unsigned pairs_of(size_t site, int place)
{
        const struct fault_site *at = &fault_sites[site];
        const int *errors = fault_errors(at->call);
        unsigned n;

        if (is_out_of_reach(at))
                return 0;
        for (n = 0; errors[n]; n++)
                if (had[site][place][n] == 0)
                        test_fail(__FILE__, __LINE__, "%s() in %s(), place %d: never had: %s",
                                  at->call, at->function, place, strerror(errors[n]));
        return n;
}

static void count_stacks_report(const struct eddy_report *report, void *arg)
{
        if (report->kind == EDDY_REPORT_STACKS)
                ++*(int *) arg;
}

static const struct eddy_run_opts *stacks_opts(int *reported)
{
        static struct eddy_run_opts opts;

        opts = (struct eddy_run_opts){ .report = count_stacks_report, .report_arg = reported };
        return &opts;
}

static int many_and_then_without_guards(void *arg)
{
        struct eddy_run_info info;

        CHECK_EQ(eddy_run_info(&info), 0);
        if (strcmp(info.guard, "canary") == 0)
                _exit(0);
        without_mprotect();
        for (int i = 0; i < 3; i++)
                CHECK_EQ(main_many(arg), 0);
        CHECK_EQ(eddy_run_info(&info), 0);
        CHECK_STR(info.guard, "canary");
        return 0;
}

/* A system may have guards for some thousand stacks and no more. */
TEST(a_run_says_once_that_stacks_have_no_guard_when_the_first_has_none)
{
        int reported = 0;

        fault_reset();
        CHECK_EQ(eddy_run(many_and_then_without_guards, NULL, stacks_opts(&reported)), 0);
        CHECK_EQ(reported, 1);
        /* Here it is the first stack of all. */
        CHECK_EQ(eddy_run(main_many, NULL, stacks_opts(&reported)), 0);
        CHECK_EQ(reported, 2);
        fault_reset();
        CHECK_EQ(eddy_run(main_many, NULL, stacks_opts(&reported)), 0);
        CHECK_EQ(reported, 2);
}

/* Emulators may have fewer mappings to give, and ThreadSanitizer has not as many fibers. */
#if defined(__x86_64__) && !defined(ED_TSAN) && !defined(ED_UNDER_VALGRIND)
/* How many stacks have a guard that is a mapping, before those allowed are spent. */
static size_t stacks_with_mappings(void)
{
        struct ed_stacks stacks;
        struct ed_stack *stack, *all = NULL;
        size_t n = 0;

        ed_stacks_init(&stacks);
        for (;; n++) {
                stack = ed_stack_get(&stacks, ED_STACK_SMALL);
                CHECK(stack);
                stack->next = all;
                all = stack;
                if (stack->guard == ED_GUARD_CANARY)
                        break;
                CHECK_EQ(stack->guard, ED_GUARD_MPROTECT);
        }
        while ((stack = all)) {
                all = stack->next;
                ed_stack_put(&stacks, stack);
        }
        ed_stacks_fini(&stacks);
        return n;
}

TEST(guards_leave_the_program_most_of_its_mappings_and_give_theirs_back)
{
        size_t n, allowed = ed_sys_mappings_max() / 4;

        if (allowed > 100000)
                test_skip("too many mappings are allowed here");
        fault_reset();
        without_madvise();
        n = stacks_with_mappings();
        /* Two each, by the slab. */
        CHECK(2 * n <= allowed && 4 * n > allowed);
        CHECK_EQ(stacks_with_mappings(), n);
        fault_reset();
}
#endif

TEST(every_call_of_the_system_may_fail_with_each_of_its_errors)
{
        unsigned places = 0, pairs = 0;

        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("hundreds of processes");
        if (access("/proc/self/fd", X_OK) < 0)
                test_skip("/proc, where the kit counts descriptors, is not mounted");
        CHECK(fault_sites_count <= SITES_MAX);
        for (size_t i = 0; i < sizeof(drives) / sizeof(drives[0]); i++)
                sweep(&drives[i]);
        for (size_t site = 0; site < fault_sites_count; site++)
                for (int place = 0; place < fault_sites[site].count; place++, places++)
                        pairs += pairs_of(site, place);
        printf("# R2: %u call sites x their errors (%u pairs), %u runs, all handled; %u failed and "
               "said so\n",
               places, pairs, runs, failed);
}
