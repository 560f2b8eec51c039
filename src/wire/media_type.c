/*
 * wire/media_type.c - see media_type.h.
 *
 * The types are those that IANA has registered, and for scripts that of RFC 9239. Types of texts have
 * "charset=utf-8", except those whose standard defines no such parameter (JSON, RFC 8259, 11).
 */
#include "wire/media_type.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define UTF_8 "; charset=utf-8"

/* Sorted by ending. */
static const struct entry {
        const char ending[12];
        const char *type;
} entries[] = {
        { "7z", "application/x-7z-compressed" },
        { "aac", "audio/aac" },
        { "apng", "image/apng" },
        { "atom", "application/atom+xml" },
        { "avif", "image/avif" },
        { "bmp", "image/bmp" },
        { "bz2", "application/x-bzip2" },
        { "css", "text/css" UTF_8 },
        { "csv", "text/csv" UTF_8 },
        { "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
        { "epub", "application/epub+zip" },
        { "flac", "audio/flac" },
        { "geojson", "application/geo+json" },
        { "gif", "image/gif" },
        { "gz", "application/gzip" },
        { "heic", "image/heic" },
        { "htm", "text/html" UTF_8 },
        { "html", "text/html" UTF_8 },
        { "ico", "image/vnd.microsoft.icon" },
        { "ics", "text/calendar" UTF_8 },
        { "jar", "application/java-archive" },
        { "jpeg", "image/jpeg" },
        { "jpg", "image/jpeg" },
        { "js", "text/javascript" UTF_8 },
        { "json", "application/json" },
        { "jsonl", "application/jsonl" },
        { "jsonld", "application/ld+json" },
        { "jxl", "image/jxl" },
        { "log", "text/plain" UTF_8 },
        { "m3u8", "application/vnd.apple.mpegurl" },
        { "m4a", "audio/mp4" },
        { "map", "application/json" },
        { "md", "text/markdown" UTF_8 },
        { "mjs", "text/javascript" UTF_8 },
        { "mov", "video/quicktime" },
        { "mp3", "audio/mpeg" },
        { "mp4", "video/mp4" },
        { "mpd", "application/dash+xml" },
        { "mpeg", "video/mpeg" },
        { "odp", "application/vnd.oasis.opendocument.presentation" },
        { "ods", "application/vnd.oasis.opendocument.spreadsheet" },
        { "odt", "application/vnd.oasis.opendocument.text" },
        { "oga", "audio/ogg" },
        { "ogg", "audio/ogg" },
        { "ogv", "video/ogg" },
        { "opus", "audio/ogg" },
        { "otf", "font/otf" },
        { "parquet", "application/vnd.apache.parquet" },
        { "pdf", "application/pdf" },
        { "png", "image/png" },
        { "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation" },
        { "rss", "application/rss+xml" },
        { "rtf", "application/rtf" },
        { "svg", "image/svg+xml" },
        { "tar", "application/x-tar" },
        { "tif", "image/tiff" },
        { "tiff", "image/tiff" },
        { "ts", "video/mp2t" },
        { "ttf", "font/ttf" },
        { "txt", "text/plain" UTF_8 },
        { "vtt", "text/vtt" UTF_8 },
        { "wasm", "application/wasm" },
        { "wav", "audio/wav" },
        { "weba", "audio/webm" },
        { "webm", "video/webm" },
        { "webmanifest", "application/manifest+json" },
        { "webp", "image/webp" },
        { "woff", "font/woff" },
        { "woff2", "font/woff2" },
        { "xhtml", "application/xhtml+xml" },
        { "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
        { "xml", "application/xml" },
        { "xz", "application/x-xz" },
        { "yaml", "application/yaml" },
        { "yml", "application/yaml" },
        { "zip", "application/zip" },
        { "zst", "application/zstd" },
};

static int compare(const void *ending, const void *entry)
{
        return strcasecmp(ending, ((const struct entry *) entry)->ending);
}

const char *ed_media_type_of(const char *name)
{
        const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
        const struct entry *entry = NULL;

        if (dot && (!slash || dot > slash))
                entry = bsearch(dot + 1, entries, sizeof(entries) / sizeof(entries[0]),
                                sizeof(entries[0]), compare);
        return entry ? entry->type : "application/octet-stream";
}

bool ed_media_type_is(const char *value, const char *type)
{
        const size_t bytes = value ? strcspn(value, "; \t") : 0, type_bytes = strlen(type);

        /* strchr() finds the NUL too. */
        if (bytes < type_bytes || !strchr(";", value[bytes + strspn(value + bytes, " \t")]))
                return false;
        if (type[0] == '+')
                return bytes > type_bytes &&
                       strncasecmp(value + bytes - type_bytes, type, type_bytes) == 0;
        return (bytes == type_bytes || type[type_bytes - 1] == '/') &&
               strncasecmp(value, type, type_bytes) == 0;
}
