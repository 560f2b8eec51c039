/*
 * sim/file.c - operations on the files of a simulation: each is done by poll() after some virtual
 * time.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/path.h"
#include "sim/table.h"
#include "sys/file/files.h"

/* Descriptors of files are above those of sockets. */
enum { FD_FIRST = 1 << 20, OPEN_MAX = 4096 };

#define OP_NS 100000 /* the duration of an operation without a seed */

struct ed_sim_file {
        struct ed_disk_node *node; /* NULL: free */
        uint64_t position;
        unsigned flags;   /* EDDY_FILE_*; 0: a folder */
        uint64_t crashes; /* of the disk when it was opened */
};

/* --- descriptors --- */

bool ed_sim_is_file(int fd)
{
        return fd >= FD_FIRST;
}

/* Errors: -EBADF; -EIO: the disk has crashed since. */
static int file_of(struct ed_sim *sim, int fd, struct ed_sim_file **ret_file)
{
        size_t i = (size_t) (fd - FD_FIRST);

        if (fd < FD_FIRST || i >= sim->files_count || !sim->files[i].node)
                return -EBADF;
        *ret_file = &sim->files[i];
        return sim->files[i].crashes == sim->crashes ? 0 : -EIO;
}

/* Returns the place of the next open file. Errors: -EMFILE, -ENOMEM. */
static int place_of_next(struct ed_sim *sim)
{
        struct ed_sim_file *files;
        size_t i = 0;

        while (i < sim->files_count && sim->files[i].node)
                i++;
        if (i == OPEN_MAX)
                return -EMFILE;
        if (i == sim->files_count) {
                files = ed_realloc(sim->files, (i + 1) * sizeof(*files));
                if (!files)
                        return -ENOMEM;
                files[i] = (struct ed_sim_file){ .node = NULL };
                sim->files = files;
                sim->files_count++;
        }
        return (int) i;
}

/* Returns a descriptor. Errors: -EMFILE, -ENOMEM. */
static int file_new(struct ed_sim *sim, struct ed_disk_node *node, unsigned flags)
{
        int i = place_of_next(sim);

        if (i < 0)
                return i;
        sim->files[i] =
                (struct ed_sim_file){ .node = node, .flags = flags, .crashes = sim->crashes };
        sim->files_open++;
        return FD_FIRST + i;
}

void ed_sim_file_close(struct ed_sim *sim, int fd)
{
        struct ed_sim_file *file = NULL;

        if (file_of(sim, fd, &file) == -EBADF)
                return;
        file->node = NULL;
        sim->files_open--;
        sim->left_open += sim->sys.is_ending;
}

int64_t ed_sim_file_copy(struct ed_sim *sim, int fd, void *buf, size_t bytes, uint64_t offset)
{
        struct ed_sim_file *file;
        int err = file_of(sim, fd, &file);

        if (err == 0 && (file->node->is_folder || !(file->flags & EDDY_FILE_READ)))
                err = -EBADF;
        return err < 0 ? err : (int64_t) ed_disk_read(file->node, buf, bytes, offset);
}

/* --- the operations --- */

/* The node changes now. */
static void touch(struct ed_sim *sim, struct ed_disk_node *node)
{
        node->modified_ns = sim->sys.poll->time_of_day(&sim->sys);
}

static int truncate_node(struct ed_sim *sim, struct ed_disk_node *node, uint64_t bytes)
{
        int err = ed_disk_truncate(&sim->disk, node, bytes);

        if (err == 0)
                touch(sim, node);
        return err;
}

/* A crash ends the locks before it. */
static bool is_locked(const struct ed_sim *sim, const struct ed_disk_node *node)
{
        for (size_t i = 0; i < sim->files_count; i++) {
                const struct ed_sim_file *file = &sim->files[i];

                if (file->node == node && file->flags & EDDY_FILE_LOCK &&
                    file->crashes == sim->crashes)
                        return true;
        }
        return false;
}

static int64_t open_file(struct ed_sim *sim, const struct ed_file_op *op)
{
        bool makes = op->flags & (EDDY_FILE_CREATE | EDDY_FILE_NEW);
        bool writes = op->flags & (EDDY_FILE_WRITE | EDDY_FILE_APPEND);
        struct ed_disk_node *node = NULL;
        int err = ed_disk_find(&sim->disk, op->path, &node);

        if (err == -ENOENT && makes) {
                /* As in the kernel: without a descriptor no file is made. */
                err = place_of_next(sim);
                if (err >= 0)
                        err = ed_disk_make(&sim->disk, op->path, false, op->mode, &node);
                if (err == 0)
                        touch(sim, node);
        } else if (err == 0 && op->flags & EDDY_FILE_NEW) {
                err = -EEXIST;
        } else if (err == 0 && node->is_folder && (writes || makes)) {
                err = -EISDIR;
        } else if (err == 0 && op->flags & EDDY_FILE_TRUNCATE) {
                err = truncate_node(sim, node, 0);
        }
        if (err == 0 && op->flags & EDDY_FILE_LOCK && is_locked(sim, node))
                err = -EBUSY;
        return err < 0 ? err : file_new(sim, node, op->flags);
}

static int64_t open_unnamed(struct ed_sim *sim, const struct ed_file_op *op)
{
        struct ed_disk_node *folder, *node = NULL;
        int err = ed_disk_find(&sim->disk, op->path, &folder);

        if (err == 0)
                err = folder->is_folder ? ed_disk_make_unnamed(&sim->disk, 0600, &node) : -ENOTDIR;
        return err < 0 ? err : file_new(sim, node, EDDY_FILE_READ | EDDY_FILE_WRITE);
}

static int64_t open_folder(struct ed_sim *sim, const struct ed_file_op *op)
{
        struct ed_disk_node *node;
        int err = ed_disk_find(&sim->disk, op->path, &node);

        if (err < 0)
                return err;
        return node->is_folder ? file_new(sim, node, 0) : -ENOTDIR;
}

static int64_t describe(struct ed_sim *sim, const struct ed_disk_node *node,
                        struct eddy_file_info *ret_info)
{
        *ret_info = (struct eddy_file_info){
                .kind = node->is_folder ? EDDY_FILE_FOLDER : EDDY_FILE_REGULAR,
                .mode = node->mode,
                .bytes = (int64_t) node->now.bytes,
                .modified_ns = node->modified_ns,
                .device = 1,
                .inode = node->number,
                .links = ed_disk_has_name(&sim->disk, node),
        };
        return 0;
}

static int64_t open_beneath(struct ed_sim *sim, const struct ed_file_op *op)
{
        bool is_folder = op->flags & ED_BENEATH_FOLDER;
        struct ed_sim_file *file;
        struct ed_disk_node *node;
        int err = file_of(sim, op->fd, &file);

        if (err == 0)
                err = ed_disk_find_beneath(&sim->disk, file->node, op->path, &node);
        if (err < 0)
                return err;
        if (is_folder != node->is_folder)
                return is_folder ? -ENOTDIR : -EISDIR;
        if (!is_folder)
                describe(sim, node, op->info);
        return file_new(sim, node, is_folder ? 0 : EDDY_FILE_READ);
}

/* Returns a part of 'bytes' if this transfer must be short. */
static size_t transfer_of(struct ed_sim *sim, size_t bytes)
{
        if (sim->sys.transfer_max && bytes > sim->sys.transfer_max)
                bytes = sim->sys.transfer_max;
        return sim->shorten && bytes > 1 ? 1 + (size_t) ed_sim_chance(sim, bytes - 1) : bytes;
}

static int64_t read_file(struct ed_sim *sim, const struct ed_file_op *op, struct ed_sim_file *file)
{
        uint64_t offset = op->offset < 0 ? file->position : (uint64_t) op->offset;
        size_t total = 0;

        if (file->node->is_folder)
                return -EISDIR;
        if (!(file->flags & EDDY_FILE_READ))
                return -EBADF;
        for (size_t i = 0; i < op->n; i++) {
                size_t bytes = transfer_of(sim, op->spaces[i].bytes);
                size_t n = ed_disk_read(file->node, op->spaces[i].data, bytes, offset + total);

                total += n;
                if (n < op->spaces[i].bytes)
                        break;
        }
        if (op->offset < 0)
                file->position += total;
        return (int64_t) total;
}

static int64_t write_file(struct ed_sim *sim, const struct ed_file_op *op, struct ed_sim_file *file)
{
        uint64_t offset = op->offset < 0 ? file->position : (uint64_t) op->offset;
        int64_t total = 0;
        int err = 0;

        if (!(file->flags & (EDDY_FILE_WRITE | EDDY_FILE_APPEND)))
                return -EBADF;
        if (file->flags & EDDY_FILE_APPEND)
                offset = file->node->now.bytes;
        for (size_t i = 0; i < op->n && err == 0; i++) {
                size_t bytes = transfer_of(sim, op->slices[i].bytes);

                err = ed_disk_write(&sim->disk, file->node, op->slices[i].data, bytes,
                                    offset + (uint64_t) total);
                if (err < 0)
                        break;
                total += (int64_t) bytes;
                if (bytes < op->slices[i].bytes)
                        break;
        }
        if (total == 0 && err < 0)
                return err;
        touch(sim, file->node);
        if (op->offset < 0)
                file->position = offset + (uint64_t) total;
        return total;
}

static int64_t truncate_file(struct ed_sim *sim, const struct ed_file_op *op,
                             struct ed_sim_file *file)
{
        if (!(file->flags & (EDDY_FILE_WRITE | EDDY_FILE_APPEND)))
                return -EINVAL;
        return truncate_node(sim, file->node, (uint64_t) op->offset);
}

static int64_t describe_path(struct ed_sim *sim, const struct ed_file_op *op)
{
        struct ed_disk_node *node;
        int err = ed_disk_find(&sim->disk, op->path, &node);

        return err < 0 ? err : describe(sim, node, op->info);
}

static int64_t list_folder(struct ed_sim *sim, const struct ed_file_op *op,
                           struct ed_sim_file *file)
{
        if (!file->node->is_folder)
                return -ENOTDIR;
        return (int64_t) ed_disk_list(&sim->disk, file->node, &file->position, op->entries, op->n);
}

/* An operation on an open file. */
static int64_t perform_on(struct ed_sim *sim, struct ed_file_op *op, struct ed_sim_file *file)
{
        switch (op->call) {
        case ED_FILE_READ:
                return read_file(sim, op, file);
        case ED_FILE_WRITE:
                return write_file(sim, op, file);
        case ED_FILE_SYNC:
                return ed_disk_sync(&sim->disk, file->node);
        case ED_FILE_TRUNCATE:
                return truncate_file(sim, op, file);
        case ED_FILE_CHMOD:
                file->node->mode = op->mode;
                return 0;
        case ED_FILE_SEEK:
                file->position = (uint64_t) op->offset;
                return op->offset;
        case ED_FILE_STAT:
                return describe(sim, file->node, op->info);
        case ED_FILE_LIST:
                return list_folder(sim, op, file);
        default:
                return -EINVAL;
        }
}

/* An operation on a name. */
static int64_t perform_at(struct ed_sim *sim, const struct ed_file_op *op)
{
        struct ed_disk_node *node;

        switch (op->call) {
        case ED_FILE_OPEN:
                return open_file(sim, op);
        case ED_FILE_OPEN_UNNAMED:
                return open_unnamed(sim, op);
        case ED_FILE_OPEN_FOLDER:
                return open_folder(sim, op);
        case ED_FILE_STAT_PATH:
                return describe_path(sim, op);
        case ED_FILE_RENAME:
                return ed_disk_rename(&sim->disk, op->path, op->to, op->flags & EDDY_PATH_KEEP);
        case ED_FILE_REMOVE:
                return ed_disk_remove(&sim->disk, op->path, false);
        case ED_FILE_MAKE_FOLDER:
                return ed_disk_make(&sim->disk, op->path, true, op->mode, &node);
        case ED_FILE_REMOVE_FOLDER:
                return ed_disk_remove(&sim->disk, op->path, true);
        case ED_FILE_OPEN_BENEATH:
                return open_beneath(sim, op);
        default:
                return -EINVAL;
        }
}

static enum ed_sim_call kind_of(enum ed_file_call call)
{
        switch (call) {
        case ED_FILE_OPEN:
        case ED_FILE_OPEN_UNNAMED:
        case ED_FILE_OPEN_FOLDER:
        case ED_FILE_OPEN_BENEATH:
                return ED_SIM_CALL_FILE_OPEN;
        case ED_FILE_READ:
        case ED_FILE_LIST:
                return ED_SIM_CALL_FILE_READ;
        case ED_FILE_WRITE:
                return ED_SIM_CALL_FILE_WRITE;
        case ED_FILE_SYNC:
                return ED_SIM_CALL_FILE_SYNC;
        case ED_FILE_STAT:
        case ED_FILE_STAT_PATH:
                return ED_SIM_CALL_FILE_STAT;
        default:
                return ED_SIM_CALL_FILE_CHANGE;
        }
}

/* The failure of a sync drops what it could not write, as Linux does. */
static void fail(struct ed_sim *sim, const struct ed_file_op *op)
{
        struct ed_sim_file *file;

        if (op->call == ED_FILE_SYNC && file_of(sim, op->fd, &file) == 0)
                ed_disk_lose(&sim->disk, file->node);
}

static bool is_on_file(enum ed_file_call call)
{
        return call >= ED_FILE_READ && call <= ED_FILE_LIST;
}

static int64_t perform(struct ed_sim *sim, struct ed_file_op *op)
{
        struct ed_sim_file *file;
        int64_t result = ed_sim_fault(sim, kind_of(op->call));

        if (result < 0) {
                fail(sim, op);
                return result;
        }
        sim->file_ops++;
        if (sim->file_ops == sim->power_off_at) {
                uint64_t states;

                sim->power_off_at = 0;
                if (ed_sim_power_off(&sim->sys, &states) < 0)
                        return -ENOMEM;
        }
        if (sim->disk.is_off)
                return -EIO;
        if (!is_on_file(op->call))
                return perform_at(sim, op);
        result = file_of(sim, op->fd, &file);
        return result < 0 ? result : perform_on(sim, op, file);
}

static void mark(struct ed_sim *sim, const struct ed_file_op *op, int64_t result)
{
        ed_sim_mark(sim, ED_SIM_FILE, op->call, (uint64_t) result);
}

/* --- the table --- */

int64_t ed_sim_file_try(struct ed_sys *sys, struct ed_file_op *op)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_file *file;
        int64_t result;

        if (op->call == ED_FILE_SEEK) {
                result = file_of(sim, op->fd, &file);
                return result < 0 ? result : perform_on(sim, op, file);
        }
        /* The bytes are in the cache, or (by the seed) are not. */
        if (op->call != ED_FILE_READ || ed_sim_chance(sim, 2) != 0)
                return -EAGAIN;
        result = perform(sim, op);
        mark(sim, op, result);
        return result;
}

void ed_sim_file_run(struct ed_sys *sys, struct ed_file_op *op)
{
        struct ed_sim *sim = ed_sim_of(sys);

        op->result = perform(sim, op);
        mark(sim, op, op->result);
}

void ed_sim_submit(struct ed_sys *sys, struct ed_file_op *op)
{
        struct ed_sim *sim = ed_sim_of(sys);
        int64_t duration_ns = OP_NS;

        if (sim->opts.seed)
                duration_ns = 1 + (int64_t) ed_sim_chance(sim, 2 * OP_NS);
        op->end_ns = sim->now_ns + duration_ns;
        /* As on a thread, an operation that has begun cannot be dropped. */
        op->begun = ed_sim_chance(sim, 2) != 0;
        ed_list_push_back(&sim->submitted, &op->link);
}

bool ed_sim_cancel(struct ed_sys *sys, struct ed_file_op *op)
{
        (void) sys;
        if (op->begun)
                return false;
        ed_list_remove(&op->link);
        return true;
}

/* Returns the operation that is done first, or NULL. */
static struct ed_file_op *first_done(const struct ed_sim *sim)
{
        struct ed_file_op *first = NULL;

        ed_list_each (link, &sim->submitted) {
                struct ed_file_op *op = ed_container_of(link, struct ed_file_op, link);

                if (!first || op->end_ns < first->end_ns)
                        first = op;
        }
        return first;
}

int64_t ed_sim_file_next(const struct ed_sim *sim)
{
        const struct ed_file_op *op = first_done(sim);

        return op ? op->end_ns : -1;
}

int ed_sim_file_collect(struct ed_sim *sim, struct ed_event *events, int max)
{
        struct ed_file_op *op;
        int n = 0;

        while (n < max && (op = first_done(sim)) && op->end_ns <= sim->now_ns) {
                ed_list_remove(&op->link);
                ed_sim_file_run(&sim->sys, op);
                events[n++] = (struct ed_event){ .target = &op->done };
        }
        return n;
}

/* --- crashes --- */

int ed_sim_power_off(struct ed_sys *sys, uint64_t *ret_states)
{
        struct ed_sim *sim = ed_sim_of(sys);
        int err = 0;

        if (!sim->disk.is_off) {
                err = ed_disk_power_off(&sim->disk, &sim->crash_states);
                sim->crashes += err == 0;
        }
        if (err == 0)
                *ret_states = sim->crash_states;
        return err;
}

int ed_sim_power_on(struct ed_sys *sys, uint64_t state)
{
        struct ed_sim *sim = ed_sim_of(sys);

        if (state >= sim->crash_states)
                return -EINVAL;
        sim->crashes++;
        return ed_disk_power_on(&sim->disk, state);
}

void ed_sim_power_off_at(struct ed_sys *sys, uint64_t n)
{
        struct ed_sim *sim = ed_sim_of(sys);

        sim->power_off_at = n ? sim->file_ops + n : 0;
}

uint64_t ed_sim_file_ops(const struct ed_sys *sys)
{
        return ed_sim_of((struct ed_sys *) sys)->file_ops;
}

/* --- the beginning and the end --- */

int ed_sim_file_init(struct ed_sim *sim)
{
        struct ed_disk_node *node;
        int err = ed_disk_init(&sim->disk);

        ed_list_init(&sim->submitted);
        if (err == 0)
                err = ed_disk_make(&sim->disk, "/tmp", true, 01777, &node);
        if (err == 0)
                err = ed_disk_sync(&sim->disk, ed_disk_root(&sim->disk));
        if (err < 0)
                ed_disk_fini(&sim->disk);
        return err;
}

void ed_sim_file_fini(struct ed_sim *sim)
{
        ed_free(sim->files);
        ed_disk_fini(&sim->disk);
}
