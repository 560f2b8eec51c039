/*
 * It loads a test on a thread, makes it, unloads it, and lets the thread end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static char failed[256];

static void *load(void *arg)
{
        void *plugin = dlopen(arg, RTLD_NOW);
        int (*test)(void);

        if (!plugin) {
                snprintf(failed, sizeof(failed), "%s", dlerror());
                return NULL;
        }
        test = (int (*)(void)) dlsym(plugin, "plugin_test");
        if (!test || test() != 0)
                snprintf(failed, sizeof(failed), "the test did not pass");
        if (dlclose(plugin) != 0)
                snprintf(failed, sizeof(failed), "%s", dlerror());
        return NULL;
}

int main(int argc, char **argv)
{
        pthread_t thread;

        printf("1..1\n");
        if (argc != 2 || pthread_create(&thread, NULL, load, argv[1]) != 0)
                return 1;
        (void) pthread_join(thread, NULL);
        printf("%s 1 - a_test_may_be_loaded_and_unloaded\n", failed[0] ? "not ok" : "ok");
        if (failed[0])
                printf("# %s\n", failed);
        return failed[0] != 0;
}
