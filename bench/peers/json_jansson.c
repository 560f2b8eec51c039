/*
 * json_jansson.c - documents parsed into trees, and written compactly, by jansson.
 */
#include <jansson.h>

#include "../json_docs.h"

static long compact(const char *text, size_t bytes, char *out, size_t room)
{
        json_t *tree = json_loadb(text, bytes, JSON_DECODE_ANY, NULL);
        size_t n;

        if (!tree)
                return -1;
        n = json_dumpb(tree, out, room, JSON_COMPACT | JSON_ENCODE_ANY);
        json_decref(tree);
        return n > 0 && n <= room ? (long) n : -1;
}

int main(int argc, char **argv)
{
        return json_docs_run(argc, argv, "jansson " JANSSON_VERSION, compact);
}
