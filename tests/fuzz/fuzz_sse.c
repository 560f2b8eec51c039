/*
 * fuzz_sse.c - any bytes as a stream of server-sent events.
 *
 * A stream that is cut has the events of the whole stream; each event is within the limit, and its
 * texts have no line end that the format cannot have. The first byte chooses the limit and the cuts.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { SMALL_BYTES_MAX = 20, BYTES_MAX = 1 << 16 };

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* A summary of the events: two equal ones have the same events. */
struct summary {
        uint64_t hash;
        uint64_t events;
        int64_t retry_ms;
        int err;
};

static void add(struct summary *summary, const char *text, size_t bytes)
{
        for (size_t i = 0; i <= bytes; i++)
                summary->hash = (summary->hash ^ (i < bytes ? (unsigned char) text[i] : 0x100)) *
                                UINT64_C(1099511628211);
}

static void event_check(const struct ed_sse *sse, struct summary *summary)
{
        struct ed_sse_event event;

        ed_sse_event(sse, &event);
        require(event.data[event.data_bytes] == '\0');
        require(event.data_bytes <= sse->bytes_max && *event.type);
        require(!memchr(event.data, '\r', event.data_bytes));
        require(!strpbrk(event.type, "\r\n") && !strpbrk(event.id, "\r\n"));
        add(summary, event.type, strlen(event.type));
        add(summary, event.data, event.data_bytes);
        add(summary, event.id, strlen(event.id));
        summary->events++;
}

static struct summary read_all(const char *text, size_t bytes, size_t max, size_t piece)
{
        struct summary summary = { .hash = 1 };
        struct ed_sse sse;
        bool is_event;

        ed_sse_init(&sse, max);
        for (size_t at = 0; at < bytes;) {
                size_t n = bytes - at < piece ? bytes - at : piece;
                int64_t used = ed_sse_read(&sse, text + at, n, &is_event);

                if (used < 0) {
                        summary.err = (int) used;
                        break;
                }
                require(used > 0 && (is_event || (size_t) used == n));
                at += (size_t) used;
                if (is_event)
                        event_check(&sse, &summary);
        }
        summary.retry_ms = sse.retry_ms;
        require(summary.err == 0 || summary.err == EDDY_E_HTTP_TOO_LARGE);
        ed_sse_fini(&sse);
        return summary;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        const char *text = (const char *) data + 1;
        size_t max;
        struct summary whole, cut;

        if (bytes < 1)
                return 0;
        max = data[0] & 1 ? SMALL_BYTES_MAX : BYTES_MAX;
        whole = read_all(text, bytes - 1, max, SIZE_MAX);
        cut = read_all(text, bytes - 1, max, 1 + (data[0] >> 1) % 8);
        require(whole.err == cut.err && whole.events == cut.events && whole.hash == cut.hash &&
                whole.retry_ms == cut.retry_ms);
        return 0;
}
