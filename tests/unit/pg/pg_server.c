/*
 * pg_server.c - see pg_server.h.
 */
#include "pg_server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char pg_unix[256], pg_tcp[256], pg_folder[64];
int pg_port;
pid_t pg_pid;

static const char *why_not; /* there is no server */
static const char *broken;  /* there is one, and it does not start */
static char programs[200];
static const struct passwd *user; /* of the server, if the tests run as root */
static pid_t owner;

/*
 * In a child: become the server's user and run a program, without output but for errors. The
 * programs look for each other beside their own path, argv[0].
 */
__attribute__((noreturn)) static void become(const char *argv[], bool keep_stderr)
{
        char path[300];
        int null = open("/dev/null", O_RDWR);

        dup2(null, 0);
        dup2(null, 1);
        if (!keep_stderr)
                dup2(null, 2);
        for (int fd = 3; fd < 256; fd++)
                close(fd);
        if (user && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
                _exit(127);
        prctl(PR_SET_PDEATHSIG, SIGQUIT);
        snprintf(path, sizeof(path), "%s/%s", programs, argv[0]);
        argv[0] = path;
        setenv("LC_ALL", "C", 1);
        execv(path, (char **) argv);
        _exit(127);
}

static bool run(const char *argv[])
{
        int status = 0;
        pid_t pid = fork();

        if (pid == 0)
                become(argv, true);
        return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool find_programs(void)
{
        const char *path = getenv("PATH");
        char file[300];

        snprintf(programs, sizeof(programs), "%s", "/usr/lib/postgresql/15/bin");
        if (access("/usr/lib/postgresql/15/bin/initdb", X_OK) == 0)
                return true;
        while (path && *path) {
                int bytes = (int) strcspn(path, ":");

                snprintf(programs, sizeof(programs), "%.*s", bytes, path);
                snprintf(file, sizeof(file), "%.190s/initdb", programs);
                if (access(file, X_OK) == 0)
                        return true;
                path += bytes + (path[bytes] == ':');
        }
        return false;
}

static void pause_ms(long ms)
{
        struct timespec time = { .tv_nsec = ms * 1000000 };

        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static bool start(void)
{
        char data[100], port[16];
        const char *argv[] = { "postgres",  "-D",
                               data,        "-p",
                               port,        "-k",
                               pg_folder,   "-h",
                               "127.0.0.1", "-F",
                               "-c",        "max_connections=60",
                               "-c",        "shared_buffers=2MB",
                               "-c",        "autovacuum=off",
                               NULL };
        char file[128];

        snprintf(data, sizeof(data), "%s/data", pg_folder);
        snprintf(port, sizeof(port), "%d", pg_port);
        snprintf(file, sizeof(file), "%s/postmaster.pid", data);
        unlink(file);
        /* The killed one may be a zombie until the program ends. */
        snprintf(file, sizeof(file), "%s/.s.PGSQL.%d.lock", pg_folder, pg_port);
        unlink(file);
        for (int i = 0; i < 3000; i++) {
                /* A server refuses to start while a killed one's process has its memory or port. */
                if (i == 0 || waitpid(pg_pid, NULL, WNOHANG) == pg_pid) {
                        pg_pid = fork();
                        if (pg_pid == 0)
                                become(argv, false);
                }
                if (PQping(pg_unix) == PQPING_OK)
                        return true;
                pause_ms(10);
        }
        return false;
}

void pg_start(void)
{
        if (!start())
                test_fail(__FILE__, __LINE__, "the server did not start again");
}

/* Read the state and the parent of a process. Returns false if it is gone. */
static bool read_state(int pid, char *ret_state, int *ret_parent)
{
        char path[64];
        FILE *file;
        bool is_read;

        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        file = fopen(path, "re");
        if (!file)
                return false;
        is_read = fscanf(file, "%*d (%*[^)]) %c %d", ret_state, ret_parent) == 2;
        fclose(file);
        return is_read;
}

/* A process that runs stops a moment after the signal. */
static void send_signal(int pid, int signo)
{
        char state = 'T';
        int parent;

        kill(pid, signo);
        for (int i = 0; i < 10000 && signo == SIGSTOP; i++) {
                if (!read_state(pid, &state, &parent) || state == 'T' || state == 'Z')
                        return;
                pause_ms(1);
        }
}

/*
 * The processes of the server are the children of the postmaster. It is stopped meanwhile: it would
 * tell clients of a child that ended, and start others.
 */
void pg_signal_all(int signo)
{
        DIR *folder = opendir("/proc");
        const struct dirent *entry;

        send_signal(pg_pid, SIGSTOP);
        while (folder && (entry = readdir(folder)) != NULL) {
                int pid = (int) strtol(entry->d_name, NULL, 10), parent = 0;
                char state;

                if (pid > 0 && read_state(pid, &state, &parent) && parent == pg_pid)
                        send_signal(pid, signo);
        }
        if (folder)
                closedir(folder);
        send_signal(pg_pid, signo);
        if (signo != SIGSTOP)
                kill(pg_pid, SIGCONT);
}

void pg_kill(int signo)
{
        int status;

        pg_signal_all(signo);
        if (owner == getpid())
                waitpid(pg_pid, &status, 0);
        for (int i = 0; i < 1000 && kill(pg_pid, 0) == 0 && owner != getpid(); i++)
                pause_ms(1);
}

static bool prepare(void)
{
        char data[100];
        const char *argv[] = { "initdb", "--no-sync", "-A",         "trust", "-U", "postgres",
                               "-E",     "UTF8",      "--locale=C", "-D",    data, NULL };

        if (getenv("EDDY_TEST_QEMU")) {
                why_not = "no server under an emulator";
                return false;
        }
        if (!find_programs()) {
                why_not = "no PostgreSQL 15 here (tools/install-deps interop)";
                return false;
        }
        if (geteuid() == 0) {
                user = getpwnam("postgres");
                user = user ? user : getpwnam("nobody");
        }
        snprintf(pg_folder, sizeof(pg_folder), "/tmp/eddy-pg-XXXXXX");
        if (!mkdtemp(pg_folder) || (user && chown(pg_folder, user->pw_uid, user->pw_gid) != 0)) {
                broken = "no folder for the server";
                return false;
        }
        snprintf(data, sizeof(data), "%s/data", pg_folder);
        if (!run(argv)) {
                broken = "initdb failed";
                return false;
        }
        return true;
}

__attribute__((constructor)) static void start_first(int argc, char **argv)
{
        if (strcmp(argv[argc - 1], "--list") == 0)
                return;
        owner = getpid();
        unsetenv("PGHOST");
        unsetenv("PGSERVICE");
        if (!prepare())
                return;
        pg_port = test_server_port();
        snprintf(pg_unix, sizeof(pg_unix), "host=%s port=%d user=postgres dbname=postgres",
                 pg_folder, pg_port);
        snprintf(pg_tcp, sizeof(pg_tcp), "host=127.0.0.1 port=%d user=postgres dbname=postgres",
                 pg_port);
        if (!start())
                broken = "the server of PostgreSQL did not start";
}

__attribute__((destructor)) static void stop_last(void)
{
        const char *argv[] = { "rm", "-rf", pg_folder, NULL };

        if (owner != getpid() || !*pg_folder)
                return;
        if (pg_pid > 0)
                pg_kill(SIGKILL);
        snprintf(programs, sizeof(programs), "%s", "/bin");
        if (!run(argv))
                fprintf(stderr, "# %s remains\n", pg_folder);
}

void pg_server_needed(void)
{
        if (why_not)
                test_skip(why_not);
        if (broken)
                test_fail(__FILE__, __LINE__, "%s", broken);
}

void pg_run(eddy_task_fn *fn)
{
        pg_server_needed();
        io_run_and_wait(fn);
}

eddy_pg *pg_open(void)
{
        struct eddy_pg_fault fault;
        eddy_pg *pg = NULL;
        /* A loaded machine cancels slowly. */
        struct eddy_pg_opts opts = { .conninfo = pg_unix,
                                     .cancel_timeout_ns = EDDY_SEC(30),
                                     .ret_fault = &fault };
        int err = eddy_pg_connect(&opts, &pg);

        if (err < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", eddy_error_name(err), fault.text);
        return pg;
}

int64_t pg_int(eddy_pg *pg, const char *sql)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int64_t number;
        int err = eddy_pg_query(pg, sql, NULL, 0, &result);

        if (err < 0)
                test_fail(__FILE__, __LINE__, "%s: %s: %s", sql, eddy_error_name(err),
                          eddy_pg_fault(pg)->text);
        CHECK_EQ(eddy_pg_get_int(result, 0, 0, &number), 0);
        return number;
}
