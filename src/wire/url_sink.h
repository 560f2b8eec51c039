/*
 * wire/url_sink.h - a text is written twice: once to count its bytes, once into a room that suffices.
 */
#ifndef ED_WIRE_URL_SINK_H
#define ED_WIRE_URL_SINK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* With a NULL 'out', only the bytes are counted. */
struct ed_url_sink {
        char *out;
        size_t bytes;
};

static inline void ed_url_sink_add(struct ed_url_sink *sink, const char *text, size_t bytes)
{
        if (sink->out && bytes > 0)
                memcpy(sink->out + sink->bytes, text, bytes);
        sink->bytes += bytes;
}

static inline void ed_url_sink_char(struct ed_url_sink *sink, char c)
{
        if (sink->out)
                sink->out[sink->bytes] = c;
        sink->bytes++;
}

typedef void ed_url_sink_fn(struct ed_url_sink *sink, const void *arg);

/* Store what 'write' writes, and a NUL. Returns the bytes without the NUL, or -EMSGSIZE. */
static inline int64_t ed_url_sink_store(ed_url_sink_fn *write, const void *arg, char *out,
                                        size_t room)
{
        struct ed_url_sink sink = { NULL, 0 };

        write(&sink, arg);
        if (!out)
                return (int64_t) sink.bytes;
        if (sink.bytes >= room)
                return -EMSGSIZE;
        sink = (struct ed_url_sink){ out, 0 };
        write(&sink, arg);
        out[sink.bytes] = '\0';
        return (int64_t) sink.bytes;
}

#endif
