/*
 * common/inputs.c - see inputs.h.
 */
#include "common/inputs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/console.h"
#include "eddy/alloc.h"

struct input {
        const char *option;
        dev_t device;
        ino_t number;
};

/* Kept until the process ends; as many as options at most. */
static struct input *inputs;
static size_t inputs_count;

int ed_inputs_add(const char *option, const char *path)
{
        struct input *grown;
        struct stat st;

        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        grown = eddy_realloc(inputs, (inputs_count + 1) * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        inputs = grown;
        inputs[inputs_count++] = (struct input){ option, st.st_dev, st.st_ino };
        return 0;
}

int ed_inputs_check(const char *command, const char *option, const char *path)
{
        struct stat st;

        if (stat(path, &st) < 0)
                return 0;
        for (size_t i = 0; i < inputs_count; i++)
                if (inputs[i].device == st.st_dev && inputs[i].number == st.st_ino)
                        return ed_console_usage(command,
                                                "%s %s: this file is read by %.*s; name another "
                                                "file",
                                                option, path, (int) strcspn(inputs[i].option, " @"),
                                                inputs[i].option);
        return 0;
}

/* Find the folder of a file. */
static bool folder_find(const char *path, size_t bytes, struct stat *ret_st)
{
        char *folder;
        bool found;

        if (bytes == 0)
                return stat(".", ret_st) == 0;
        folder = eddy_malloc(bytes + 1);
        if (!folder)
                return false;
        memcpy(folder, path, bytes);
        folder[bytes] = '\0';
        found = stat(folder, ret_st) == 0;
        eddy_free(folder);
        return found;
}

bool ed_inputs_is_same(const char *a, const char *b)
{
        const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
        const char *name_a = slash_a ? slash_a + 1 : a, *name_b = slash_b ? slash_b + 1 : b;
        struct stat one, two;
        bool has_one = stat(a, &one) == 0, has_two = stat(b, &two) == 0;

        if (has_one != has_two)
                return false;
        if (!has_one &&
            (strcmp(name_a, name_b) != 0 || !folder_find(a, (size_t) (name_a - a), &one) ||
             !folder_find(b, (size_t) (name_b - b), &two)))
                return false;
        return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}
