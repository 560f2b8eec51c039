/*
 * json_eddy.c - documents validated and compacted by eddy_json_compact().
 */
#include "eddy/json.h"
#include "eddy/version.h"
#include "json_docs.h"

static long compact(const char *text, size_t bytes, char *out, size_t room)
{
        (void) room;
        return (long) eddy_json_compact(text, bytes, out, NULL, NULL);
}

int main(int argc, char **argv)
{
        return json_docs_run(argc, argv, "eddy " EDDY_VERSION, compact);
}
