/*
 * loads.c - a program in C that uses eddy, loads a library in C++ and runs its
 * tests.  Its first run is over before that library is there.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "eddy/eddy.h"

static int nothing(void *arg)
{
        (void) arg;
        return eddy_sleep(0);
}

int main(int argc, char **argv)
{
        int (*plugin_main)(int argc, char **argv);
        void *plugin;

        if (argc < 2 || eddy_run(nothing, NULL, NULL) < 0)
                return 2;
        plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
                fprintf(stderr, "%s\n", dlerror());
                return 2;
        }
        plugin_main = (int (*)(int, char **)) dlsym(plugin, "plugin_main");
        return plugin_main ? plugin_main(argc - 1, argv + 1) : 2;
}
