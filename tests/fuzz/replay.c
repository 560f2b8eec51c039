/*
 * replay.c - feeds each file of a folder to a fuzz target, once: what the
 * fuzzers found stays found, with any compiler.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, PATH_BYTES_MAX = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* In memory of just its size, so that reading beyond it is seen. */
static int replay(const char *path)
{
        static uint8_t room[FILE_BYTES_MAX];
        FILE *file = fopen(path, "rb");
        uint8_t *data;
        size_t bytes;

        if (!file) {
                perror(path);
                return -1;
        }
        bytes = fread(room, 1, sizeof(room), file);
        fclose(file);
        data = malloc(bytes ? bytes : 1);
        if (!data)
                return -1;
        memcpy(data, room, bytes);
        /* The file that ends the program is the last one named. */
        fprintf(stderr, "# %s\n", path);
        LLVMFuzzerTestOneInput(data, bytes);
        free(data);
        return 0;
}

int main(int argc, char **argv)
{
        static char path[PATH_BYTES_MAX];
        struct dirent *entry;
        int n = 0;
        DIR *folder;

        if (argc != 2) {
                fputs("usage: replay FOLDER\n", stderr);
                return 2;
        }
        folder = opendir(argv[1]);
        if (!folder) {
                perror(argv[1]);
                return 1;
        }
        while ((entry = readdir(folder))) {
                if (entry->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
                if (replay(path) < 0)
                        return 1;
                n++;
        }
        closedir(folder);
        printf("%d inputs\n", n);
        return n > 0 ? 0 : 1;
}
