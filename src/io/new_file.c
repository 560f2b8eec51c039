/*
 * io/new_file.c - see new_file.h.
 */
#include "io/new_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/folder.h"
#include "eddy/path.h"
#include "eddy/scope.h"
#include "io/file_op.h"
#include "loop/loop.h"

enum { RANDOM_BYTES = 8, NAME_BYTES = sizeof(".eddy-") + 2 * RANDOM_BYTES };

/* The folder and the temporary file's path, allocated in one. */
static int names_init(struct ed_new_file *file)
{
        struct ed_sys *sys = ed_loop_current->sys;
        const char *slash = strrchr(file->path, '/');
        size_t bytes = slash ? (size_t) (slash - file->path) + 1 : 0;
        char *folder = ed_alloc(2 * bytes + 1 + NAME_BYTES);
        uint64_t number;

        if (!folder)
                return -ENOMEM;
        sys->poll->random(sys, &number, sizeof(number));
        memcpy(folder, file->path, bytes);
        folder[bytes] = '\0';
        file->folder = folder;
        file->temporary = folder + bytes + 1;
        memcpy(file->temporary, file->path, bytes);
        snprintf(file->temporary + bytes, NAME_BYTES, ".eddy-%016llx", (unsigned long long) number);
        return 0;
}

static void names_fini(struct ed_new_file *file)
{
        ed_free(file->folder);
        file->folder = file->temporary = NULL;
}

int ed_new_file_begin(struct ed_new_file *file, const char *path, uint32_t mode)
{
        int err;

        *file = (struct ed_new_file){ .path = path };
        if (!path || !*path)
                return -EINVAL;
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        err = names_init(file);
        if (err < 0)
                return err;
        err = eddy_file_open(file->temporary, EDDY_FILE_WRITE | EDDY_FILE_NEW, mode, &file->file);
        if (err < 0)
                names_fini(file);
        return err;
}

static void begin_shield(eddy_scope *shield)
{
        eddy_scope_begin(shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
}

/* -ECANCELED would mean that the file does not have its name, so a cancelled task syncs too. */
static int sync_folder(const struct ed_new_file *file)
{
        const char *folder = *file->folder ? file->folder : ".";
        eddy_scope shield;
        int err = eddy_folder_sync(folder);

        if (err != -ECANCELED)
                return err;
        begin_shield(&shield);
        err = eddy_folder_sync(folder);
        (void) eddy_scope_end(&shield);
        return err == -ECANCELED ? -EAGAIN : err;
}

int ed_new_file_keep(struct ed_new_file *file, unsigned flags)
{
        int err;

        eddy_file_close(file->file);
        file->file = NULL;
        err = eddy_path_rename(file->temporary, file->path,
                               flags & ED_NEW_FILE_NEW ? EDDY_PATH_KEEP : 0);
        if (err < 0)
                return err;
        file->temporary = NULL;
        return flags & ED_NEW_FILE_NO_SYNC ? 0 : sync_folder(file);
}

/* Also in a cancelled task. If no thread can be had, the loop removes the file. */
static void remove_temporary(const struct ed_new_file *file)
{
        struct ed_file_op op = { .call = ED_FILE_REMOVE, .path = file->temporary };
        struct ed_sys *sys = ed_loop_current->sys;
        eddy_scope shield;
        int64_t err;

        begin_shield(&shield);
        err = ed_file_do(&op);
        (void) eddy_scope_end(&shield);
        if (err == -ECANCELED || err == -EAGAIN || err == -ENOMEM)
                sys->file->run(sys, &op);
        /* The caller reports the first error. */
}

void ed_new_file_fini(struct ed_new_file *file)
{
        eddy_file_close(file->file);
        file->file = NULL;
        if (file->temporary)
                remove_temporary(file);
        names_fini(file);
}
