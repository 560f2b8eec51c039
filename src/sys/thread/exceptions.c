/*
 * sys/thread/exceptions.c - finding the C++ runtime of the process, if it has one.
 *
 * This file does not make a program depend on such a runtime. A C++ program links the runtime, so
 * the weak symbol has a value. A C program may have loaded a C++ library with dlopen(), whose
 * symbols only that library sees; then the runtime is found by its file's name.
 */
#include "sys/thread/exceptions.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

typedef struct ed_exceptions *globals_fn(void);

extern struct ed_exceptions *__cxa_get_globals(void) __attribute__((weak));

enum { PATH_BYTES = 1024 };

static bool is_runtime(const char *path)
{
        static const char *const names[] = { "libstdc++.so", "libc++abi.so", "libc++.so" };
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;

        for (size_t i = 0; i < ed_array_count(names); i++)
                if (strncmp(name, names[i], strlen(names[i])) == 0)
                        return true;
        return false;
}

/* Callback for the loaded files: store the path of the first C++ runtime and stop. */
static int find_runtime(struct dl_phdr_info *file, size_t bytes, void *arg)
{
        size_t path_bytes = strlen(file->dlpi_name) + 1;

        (void) bytes;
        if (!is_runtime(file->dlpi_name) || path_bytes > PATH_BYTES)
                return 0;
        memcpy(arg, file->dlpi_name, path_bytes);
        return 1;
}

/* Look in a runtime that another library has loaded. */
static globals_fn *find_globals(void)
{
        char path[PATH_BYTES];
        globals_fn *globals;
        void *runtime;

        if (!dl_iterate_phdr(find_runtime, path))
                return NULL;
        runtime = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        if (!runtime)
                return NULL;
        globals = (globals_fn *) dlsym(runtime, "__cxa_get_globals");
        (void) dlclose(runtime);
        return globals;
}

struct ed_exceptions *ed_sys_exceptions(void)
{
        globals_fn *globals = __cxa_get_globals ? __cxa_get_globals : find_globals();

        return globals ? globals() : NULL;
}
