/*
 * test_folder_real.c - folders of the kernel: no path, link, rename or special file leads out of the folder
 * or holds the server up, also where openat2(2) is forbidden.
 */
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../wire/traversal.h"
#include "base/valgrind.h"
#include "server_test.h"

#define SECRET "this is secret"
#define GET    "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static struct {
        char root[64];
        eddy_http_folder *folder;
        atomic_bool ends;
} real;

/* ---- the files ------------------------------------------------------------- */

static const char *path_of(const char *name)
{
        static char path[4][300];
        static int next;
        char *to = path[next++ % 4];

        snprintf(to, sizeof(path[0]), "%s/%s", real.root, name);
        return to;
}

static void put(const char *name, const char *text)
{
        FILE *file = fopen(path_of(name), "w");

        CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_folder(const char *name)
{
        CHECK_EQ(mkdir(path_of(name), 0700), 0);
}

static void make_link(const char *target, const char *name)
{
        CHECK_EQ(symlink(target, path_of(name)), 0);
}

static void make_socket(const char *name)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path_of(name));
        CHECK_EQ(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        close(fd);
}

static void make_files(void)
{
        snprintf(real.root, sizeof(real.root), "/tmp/eddy-folder-XXXXXX");
        CHECK(mkdtemp(real.root));
        put("secret.txt", SECRET);
        make_folder("etc");
        put("etc/passwd", SECRET);
        make_folder("other");
        put("other/f.txt", SECRET);
        make_folder("www");
        make_folder("www/sub");
        put("www/a.txt", "inside");
        put("www/sub/b.txt", "inside");
        make_link("../a.txt", "www/sub/in");
        make_link("sub", "www/insub");
        make_link("../secret.txt", "www/out");
        make_link("..", "www/outdir");
        make_link("../..", "www/sub/link");
        make_link("/etc/passwd", "www/absolute");
        make_link(path_of("www/a.txt"), "www/absolute_in");
        make_link("loop", "www/loop");
        make_link("missing", "www/dangling");
        make_link("/proc/self/root", "www/magic");
        make_link("/proc/self/cwd", "www/cwd");
        make_link("sub/.hidden", "www/to_hidden");
        put("www/sub/.hidden", "hidden by its name");
        CHECK_EQ(mkfifo(path_of("www/fifo"), 0600), 0);
        make_socket("www/socket");
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
        (void) found;
        (void) kind;
        (void) place;
        return remove(path);
}

static int remove_files(void)
{
        return nftw(real.root, remove_one, 10, FTW_DEPTH | FTW_PHYS);
}

static void run_real(const struct eddy_http_folder_opts *opts, site_fn *prepare, site_fn *fn)
{
        make_files();
        CHECK_EQ(eddy_http_folder_new(path_of("www"), opts, &real.folder), 0); /* before a run */
        site_run_prepared(NULL, true, prepare, fn);
        eddy_http_folder_free(real.folder);
        CHECK_EQ(remove_files(), 0);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_folder_handle(exchange, real.folder);
}

static void serve_folder(struct site *site)
{
        site->handler = handle;
}

static const struct answer *get(struct site *site, const char *path)
{
        char text[TRAVERSAL_BYTES + 100];

        snprintf(text, sizeof(text), GET, path);
        return ask(site, text);
}

static void check(struct site *site, const char *path, int status, const char *part)
{
        const struct answer *answer = get(site, path);

        if (answer->status != status || !strstr(answer->text, part) || strstr(answer->text, SECRET))
                test_fail(__FILE__, __LINE__, "%s: %s", path, answer->text);
}

/* ---- paths and links ------------------------------------------------------- */

static void try_traversals(struct site *site)
{
        char path[TRAVERSAL_BYTES];
        size_t count = 0;

        for (size_t i = 0; traversal_next(i, path); i += test_is_full() ? 1 : 3, count++) {
                const struct answer *answer = get(site, path);

                if ((answer->status != 404 && answer->status != 400) ||
                    strstr(answer->text, SECRET))
                        test_fail(__FILE__, __LINE__, "%s: %s", path, answer->text);
        }
        CHECK(count >= 500);
        check(site, "/sub/b.txt", 200, "inside");
}

TEST(no_form_of_traversal_leaves_the_folder)
{
        run_real(NULL, serve_folder, try_traversals);
}

static void try_links(struct site *site)
{
        static const char *const outside[] = {
                "/out",       "/outdir/secret.txt", "/sub/link/secret.txt",
                "/absolute",  "/absolute_in",       "/loop",
                "/dangling",  "/magic/etc/passwd",  "/magic",
                "/cwd/a.txt", "/outdir/",           "/outdir",
        };

        check(site, "/sub/in", 200, "inside");
        check(site, "/insub/b.txt", 200, "inside");
        check(site, "/insub", 301, "Location: ./insub/");
        check(site, "/to_hidden", 200,
              "hidden by its name"); /* the owner's link has another name */
        for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
                check(site, outside[i], 404, "");
}

TEST(links_are_followed_only_inside_of_the_folder)
{
        run_real(NULL, serve_folder, try_links);
}

static void try_no_links(struct site *site)
{
        check(site, "/a.txt", 200, "inside");
        check(site, "/sub/in", 404, "");
        check(site, "/insub/b.txt", 404, "");
        check(site, "/out", 404, "");
}

TEST(links_can_be_refused_altogether)
{
        run_real(&(struct eddy_http_folder_opts){ .flags = EDDY_HTTP_FOLDER_NO_LINKS },
                 serve_folder, try_no_links);
}

static void try_special(struct site *site)
{
        check(site, "/fifo", 404, "");
        check(site, "/socket", 404, "");
        check(site, "/fifo/", 404, "");
        if (mknod(path_of("www/device"), S_IFCHR | 0600, 0x103) == 0) /* as /dev/null */
                check(site, "/device", 404, "");
        check(site, "/a.txt", 200, "inside");
}

TEST(a_fifo_a_socket_or_a_device_is_404_and_does_not_wait)
{
        run_real(NULL, serve_folder, try_special);
}

static void try_list(struct site *site)
{
        const char *text = get(site, "/")->text;

        CHECK_HAS(text, "\"./a.txt\"");
        CHECK_HAS(text, "\"./insub/\"");
        CHECK_HAS(text, "\"./sub/\"");
        CHECK_HAS_NOT(text, "out");
        CHECK_HAS_NOT(text, "absolute");
        CHECK_HAS_NOT(text, "loop");
        CHECK_HAS_NOT(text, "dangling");
        CHECK_HAS_NOT(text, "magic");
        CHECK_HAS_NOT(text, "fifo");
        CHECK_HAS_NOT(text, "socket");
        CHECK_HAS(get(site, "/sub/")->text, "\"./in\"");
}

TEST(a_list_leaves_out_links_that_lead_out_and_special_files)
{
        run_real(&(struct eddy_http_folder_opts){ .flags = EDDY_HTTP_FOLDER_LISTING }, serve_folder,
                 try_list);
}

static void try_renamed(struct site *site)
{
        check(site, "/a.txt", 200, "inside");
        CHECK_EQ(rename(path_of("www"), path_of("www2")), 0);
        make_folder("www");
        put("www/a.txt", SECRET);
        check(site, "/a.txt", 200, "inside");
}

TEST(the_folder_that_was_opened_is_served_also_after_a_rename)
{
        run_real(NULL, serve_folder, try_renamed);
}

/* ---- races ----------------------------------------------------------------- */

/* Exchange files and folders with links that lead out, as fast as possible. */
static void *exchange_names(void *arg)
{
        static const char *const pairs[][2] = { { "www/race.txt", "www/out" },
                                                { "www/racedir", "www/evildir" } };

        (void) arg;
        while (!atomic_load(&real.ends))
                for (int i = 0; i < 2; i++)
                        (void) syscall(SYS_renameat2, AT_FDCWD, path_of(pairs[i][0]), AT_FDCWD,
                                       path_of(pairs[i][1]), 2 /* RENAME_EXCHANGE */);
        return NULL;
}

static void try_race(struct site *site)
{
        pthread_t thread;

        put("www/race.txt", "inside");
        make_folder("www/racedir");
        put("www/racedir/f.txt", "inside");
        make_link("../other", "www/evildir");
        CHECK_EQ(pthread_create(&thread, NULL, exchange_names, NULL), 0);
        for (int i = 0; i < (test_is_full() ? 20000 : 300); i++) {
                const struct answer *answer = get(site, i % 2 ? "/race.txt" : "/racedir/f.txt");

                CHECK(answer->status == 200 || answer->status == 404);
                CHECK_HAS_NOT(answer->text, SECRET);
        }
        atomic_store(&real.ends, true);
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST(names_that_are_exchanged_with_links_at_the_same_time_never_lead_out)
{
        run_real(NULL, serve_folder, try_race);
}

/* ---- without openat2 ------------------------------------------------------- */

/* From now on openat2(2) fails in this process. */
static void forbid_openat2(int error)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) error),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

        if (ed_on_valgrind())
                test_skip("Valgrind makes system calls of its own");
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
                test_skip("no filter of system calls can be installed here");
        CHECK_EQ(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0), -1);
        CHECK_EQ(errno, error);
}

static void try_without_openat2(struct site *site)
{
        try_special(site);
        check(site, "/sub/b.txt", 200, "inside");
        check(site, "/sub", 301, "Location: ./sub/");
        check(site, "/sub/in", 404, "");
        check(site, "/insub/b.txt", 404, "");
        check(site, "/outdir/secret.txt", 404, "");
        check(site, "/out", 404, "");
        check(site, "/magic/etc/passwd", 404, "");
        check(site, "/sub/missing", 404, "");
        CHECK_HAS(get(site, "/sub/")->text, "\"./b.txt\"");
        CHECK_HAS(get(site, "/")->text, "\"./sub/\"");
        try_race(site);
        atomic_store(&real.ends, false);
        try_traversals(site);
}

static void run_without_openat2(int error)
{
        forbid_openat2(error);
        run_real(&(struct eddy_http_folder_opts){ .flags = EDDY_HTTP_FOLDER_LISTING }, serve_folder,
                 try_without_openat2);
}

TEST(where_a_filter_forbids_openat2_no_link_is_followed)
{
        run_without_openat2(EPERM);
}

TEST(where_the_kernel_has_no_openat2_no_link_is_followed)
{
        run_without_openat2(ENOSYS);
}
