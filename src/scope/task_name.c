/*
 * scope/task_name.c - the name of a task: the one that the program gave it, or its function's.
 */
#include <stdio.h>

#include "scope/scope.h"
#include "sys/fault/symbol.h"

void ed_task_face_set_name(struct eddy_task *face, const char *name)
{
        snprintf(face->name, sizeof(face->name), "%s", name);
        face->is_named = face->name[0] != '\0';
}

const char *ed_task_face_name(const struct eddy_task *face, char *buf, size_t bytes)
{
        if (face->is_named)
                return face->name;
        ed_sys_function((const void *) face->fn, face->text, buf, bytes);
        return buf;
}

const char *ed_task_name(const struct ed_task *task, char *buf, size_t bytes)
{
        return ed_task_face_name(task->face, buf, bytes);
}
