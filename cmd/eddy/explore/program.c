/*
 * explore/program.c - finds a program, and asks its loader (the interpreter that its ELF header
 * names) for the list of its libraries.
 */
#include "explore/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/console.h"

enum { LIST_BYTES = 65536, HEADERS_MAX = 1024 };

/* ---- finding ------------------------------------------------------------------------------- */

static bool is_file(const char *path)
{
        struct stat found;

        return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

static bool is_program(const char *path)
{
        return is_file(path) && access(path, X_OK) == 0;
}

/* Returns false if no folder of PATH has it. */
static bool find(const char *name, char path[PATH_MAX])
{
        const char *folders = getenv("PATH"), *end;

        if (strchr(name, '/')) {
                if (strlen(name) >= PATH_MAX)
                        return false;
                memcpy(path, name, strlen(name) + 1);
                return is_program(path);
        }
        if (!folders)
                folders = "/usr/local/bin:/bin:/usr/bin";
        do {
                end = strchrnul(folders, ':');
                /* An empty entry is the working folder. */
                if (snprintf(path, PATH_MAX, "%.*s/%s", end > folders ? (int) (end - folders) : 1,
                             end > folders ? folders : ".", name) < PATH_MAX &&
                    is_program(path))
                        return true;
                folders = end + 1;
        } while (*end);
        return false;
}

/* ---- the loader ---------------------------------------------------------------------------- */

static bool read_at(int fd, void *buf, size_t bytes, off_t at)
{
        return pread(fd, buf, bytes, at) == (ssize_t) bytes;
}

/* Returns false if the file is not a program of this machine that a loader loads. */
static bool loader_of(int fd, char loader[PATH_MAX])
{
        ElfW(Ehdr) head;
        ElfW(Phdr) part;

        if (!read_at(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
            head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
            head.e_phentsize != sizeof(part))
                return false;
        for (unsigned i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
                off_t at = (off_t) (head.e_phoff + i * sizeof(part));

                if (!read_at(fd, &part, sizeof(part), at))
                        return false;
                if (part.p_type != PT_INTERP)
                        continue;
                memset(loader, 0, PATH_MAX);
                return part.p_filesz < PATH_MAX &&
                       read_at(fd, loader, part.p_filesz, (off_t) part.p_offset) && *loader == '/';
        }
        return false;
}

/* Start a command with 'out' as its standard output and standard error. Errors: those of posix_spawn(3). */
static int start(char *const *command, int out, pid_t *ret_child)
{
        posix_spawn_file_actions_t actions;
        int err = posix_spawn_file_actions_init(&actions);

        if (err != 0)
                return -err;
        (void) posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        (void) posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
        err = posix_spawn(ret_child, command[0], &actions, NULL, command, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        return -err;
}

/*
 * Ask for the libraries. Returns 1 with the list in 'text', or 0 with the loader's error.
 * Errors: those of pipe(2), posix_spawn(3) and waitpid(2).
 */
static int libraries_of(char *loader, char *path, char text[LIST_BYTES])
{
        static char list[] = "--list";
        char *command[] = { loader, list, path, NULL };
        int ends[2], err, status;
        size_t used = 0;
        ssize_t n;
        pid_t child;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        err = start(command, ends[1], &child);
        (void) close(ends[1]);
        while (err == 0 && used < LIST_BYTES - 1 &&
               (n = read(ends[0], text + used, LIST_BYTES - 1 - used)) > 0)
                used += (size_t) n;
        text[used] = '\0';
        (void) close(ends[0]);
        if (err < 0)
                return err;
        if (waitpid(child, &status, 0) < 0)
                return -errno;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int ed_explore_variable_add(const char *variable, const char *word)
{
        const char *list = getenv(variable);
        char *longer = NULL;
        int err;

        if (!list || !*list)
                return setenv(variable, word, 1) < 0 ? -errno : 0;
        if (asprintf(&longer, "%s:%s", word, list) < 0)
                return -ENOMEM;
        err = setenv(variable, longer, 1) < 0 ? -errno : 0;
        free(longer);
        return err;
}

/* ---- together ------------------------------------------------------------------------------ */

/* Report a program that was not found, and why. */
static void missing_say(const char *name)
{
        if (strchr(name, '/') && is_file(name))
                ed_console_say("explore", "%s is not an executable file", name);
        else if (!strchr(name, '/') && is_program(name))
                ed_console_say("explore", "%s is not in PATH; did you mean ./%s?", name, name);
        else
                ed_console_say("explore", "%s: no such program", name);
}

/* Find the loader. Returns false after a message. */
static bool loader_find(const char *path, char loader[PATH_MAX])
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        bool is_loaded, is_script, is_privileged;
        struct stat file = { 0 };
        char begin[2] = "";

        if (fd < 0) {
                ed_console_say("explore", "%s: %s", path, strerror(errno));
                return false;
        }
        is_loaded = loader_of(fd, loader);
        is_script = read_at(fd, begin, 2, 0) && begin[0] == '#' && begin[1] == '!';
        is_privileged = fstat(fd, &file) < 0 || file.st_mode & (S_ISUID | S_ISGID) ||
                        fgetxattr(fd, "security.capability", NULL, 0) >= 0;
        (void) close(fd);
        if (is_privileged)
                ed_console_say("explore",
                               "%s has a set-user-ID bit, a set-group-ID bit or capabilities; no "
                               "library can be loaded into it",
                               path);
        else if (is_script)
                ed_console_say("explore", "%s is a script; name the program that it starts", path);
        else if (!is_loaded)
                ed_console_say("explore",
                               "%s is not a program that is linked with shared libraries; link it "
                               "with libeddy.so (-leddy, without -static)",
                               path);
        return is_loaded && !is_script && !is_privileged;
}

/* Check that the loader loads both libraries. Returns false after a message. */
static bool libraries_check(char *loader, char *path, const char *library)
{
        static char text[LIST_BYTES];
        const char *at;
        int listed = libraries_of(loader, path, text), err;

        if (listed == 1 && !strstr(text, "libeddy.so." ED_EXPLORE_VERSION)) {
                ed_console_say(
                        "explore",
                        "%s is not linked with libeddy.so; name the program itself, and link "
                        "it with -leddy, not with libeddy.a",
                        path);
                return false;
        }
        if (listed == 1) {
                err = ed_explore_variable_add("LD_PRELOAD", library);
                listed = err < 0 ? err : libraries_of(loader, path, text);
        }
        if (listed < 0) {
                ed_console_say("explore", "%s: %s", loader, strerror(-listed));
                return false;
        }
        if (listed == 0) {
                ed_console_say("explore", "%.*s", (int) strcspn(text, "\n"), text);
                return false;
        }
        at = strstr(text, library);
        if (at && strncmp(at + strlen(library), " => ", 4) == 0)
                return true;
        ed_console_say("explore",
                       "the loader does not find %s; install it beside libeddy.so, or add its "
                       "folder to LD_LIBRARY_PATH",
                       library);
        return false;
}

int ed_explore_program(const char *name, const char *library, char ret_path[PATH_MAX])
{
        static char loader[PATH_MAX];

        if (!find(name, ret_path)) {
                missing_say(name);
                return ED_EXIT_INPUT;
        }
        return loader_find(ret_path, loader) && libraries_check(loader, ret_path, library)
                       ? ED_EXIT_OK
                       : ED_EXIT_INPUT;
}
