/*
 * json_simdjson.cpp - documents validated by simdjson's parser and compacted by its minifier.
 *
 * simdjson::minify() alone does not validate, and the parser's tree would be slower to write.
 */
#include <simdjson.h>

#include "../json_docs.h"

static simdjson::dom::parser parser;

static long compact(const char *text, size_t bytes, char *out, size_t)
{
        size_t written = 0;

        if (parser.parse(text, bytes, false).error() ||
            simdjson::minify(text, bytes, out, written))
                return -1;
        return (long) written;
}

int main(int argc, char **argv)
{
        static char peer[96];

        snprintf(peer, sizeof(peer), "simdjson %s, %s", SIMDJSON_STRINGIFY(SIMDJSON_VERSION),
                 simdjson::get_active_implementation()->name().c_str());
        return json_docs_run(argc, argv, peer, compact);
}
