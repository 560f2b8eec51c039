/*
 * scope/vars.c - setting, getting and unsetting variables, and the sets that hold their values.
 *
 * Each value has its own count, so a value keeps its address if its set is copied because another
 * value changes.
 */
#include "scope/vars.h"

#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/var.h"

struct value {
        _Atomic uint32_t refs;
        alignas(max_align_t) unsigned char bytes[];
};

struct entry {
        const eddy_var *var;
        struct value *value;
};

struct ed_vars {
        _Atomic uint32_t refs;
        uint32_t count;
        uint32_t room;
        struct entry entries[];
};

enum { ROOM_STEP = 4 };

__thread struct ed_vars *ed_vars_current;

/* --- holding --- */

static bool drop_ref(_Atomic uint32_t *refs)
{
        return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

static void value_drop(struct value *value)
{
        if (drop_ref(&value->refs))
                ed_free(value);
}

void ed_vars_keep(struct ed_vars *vars)
{
        atomic_fetch_add_explicit(&vars->refs, 1, memory_order_relaxed);
}

void ed_vars_drop(struct ed_vars *vars)
{
        if (!vars || !drop_ref(&vars->refs))
                return;
        for (uint32_t i = 0; i < vars->count; i++)
                value_drop(vars->entries[i].value);
        ed_free(vars);
}

/* --- finding and changing --- */

static struct entry *find(struct ed_vars *vars, const eddy_var *var)
{
        for (uint32_t i = 0; vars && i < vars->count; i++)
                if (vars->entries[i].var == var)
                        return &vars->entries[i];
        return NULL;
}

/* Returns an unshared copy of a set, with room for one more value, or NULL if memory runs out. */
static struct ed_vars *copy(const struct ed_vars *vars)
{
        uint32_t count = vars ? vars->count : 0;
        uint32_t room = (count / ROOM_STEP + 1) * ROOM_STEP;
        struct ed_vars *own = ed_alloc(sizeof(*own) + room * sizeof(own->entries[0]));

        if (!own)
                return NULL;
        atomic_init(&own->refs, 1);
        own->count = count;
        own->room = room;
        for (uint32_t i = 0; i < count; i++) {
                own->entries[i] = vars->entries[i];
                atomic_fetch_add_explicit(&own->entries[i].value->refs, 1, memory_order_relaxed);
        }
        return own;
}

/* Makes the task the only holder of its set, with room for one more value. */
static int own_vars(struct ed_task *task)
{
        struct ed_vars *vars = task->vars, *own;

        /* Acquire: the other threads' reads of the set precede their drops. */
        if (vars && atomic_load_explicit(&vars->refs, memory_order_acquire) == 1 &&
            vars->count < vars->room)
                return 0;
        own = copy(vars);
        if (!own)
                return -ENOMEM;
        ed_vars_drop(vars);
        task->vars = own;
        return 0;
}

int eddy_var_set(const eddy_var *var, const void *bytes)
{
        struct ed_task *task = ed_task_running();
        struct entry *entry;
        struct value *value;

        if (!task)
                return EDDY_E_RUN_NOT_RUNNING;
        if (var->bytes == 0 || var->bytes > EDDY_VAR_BYTES_MAX)
                return -EINVAL;
        if (!find(task->vars, var) && task->vars && task->vars->count == EDDY_VARS_MAX)
                return -ENOSPC;
        value = ed_alloc(sizeof(*value) + var->bytes);
        if (!value)
                return -ENOMEM;
        if (own_vars(task) < 0) {
                ed_free(value);
                return -ENOMEM;
        }
        atomic_init(&value->refs, 1);
        memcpy(value->bytes, bytes, var->bytes);
        entry = find(task->vars, var);
        if (entry)
                value_drop(entry->value);
        else
                entry = &task->vars->entries[task->vars->count++];
        *entry = (struct entry){ var, value };
        return 0;
}

const void *eddy_var_get(const eddy_var *var)
{
        struct ed_task *task = ed_task_running();
        struct entry *entry = find(task ? task->vars : ed_vars_current, var);

        return entry ? entry->value->bytes : NULL;
}

int eddy_var_unset(const eddy_var *var)
{
        struct ed_task *task = ed_task_running();
        struct entry *entry;

        if (!task)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!find(task->vars, var))
                return 0;
        if (own_vars(task) < 0)
                return -ENOMEM;
        entry = find(task->vars, var);
        value_drop(entry->value);
        *entry = task->vars->entries[--task->vars->count];
        return 0;
}
