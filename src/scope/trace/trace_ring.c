/*
 * scope/trace/trace_ring.c - the ring of records, the oldest of which is overwritten, and the texts
 * that they name.
 */
#include <string.h>

#include "base/alloc.h"
#include "scope/trace/trace.h"

struct ed_trace_record *ed_trace_add(struct ed_trace *trace, enum ed_trace_kind kind, uint64_t task)
{
        struct ed_trace_record *record = &trace->ring[trace->count % trace->size];

        record->at_ns = ed_loop_now(&trace->run->loop) - trace->begin_ns;
        record->task = task;
        record->kind = (uint8_t) kind;
        record->number = 0;
        record->text = NULL;
        record->by = 0;
        record->scope = NULL;
        record->place = NULL;
        trace->count++;
        return record;
}

char *ed_trace_copy(const char *text)
{
        size_t bytes = strlen(text) + 1;
        char *copy = ed_alloc_debug(bytes);

        return copy ? memcpy(copy, text, bytes) : NULL;
}

/*
 * A copy of a text, which may belong to a library that is unloaded before the run ends.  The same
 * address may have another text later.
 */
const char *ed_trace_keep(struct ed_trace *trace, const char *text)
{
        uint64_t hash = ed_hash_address(text);
        struct ed_trace_text *kept;

        if (!text)
                return NULL;
        ed_hash_each (node, &trace->texts_table, hash) {
                kept = ed_container_of(node, struct ed_trace_text, node);
                if (kept->text == text && strcmp(kept->copy, text) == 0)
                        return kept->copy;
        }
        if (trace->texts_table.count == ED_TRACE_TEXTS)
                return "(more texts than are kept)";
        kept = &trace->texts[trace->texts_table.count];
        kept->copy = ed_trace_copy(text);
        if (!kept->copy)
                return "(no memory)";
        kept->text = text;
        ed_hash_table_add(&trace->texts_table, &kept->node, hash);
        return kept->copy;
}
