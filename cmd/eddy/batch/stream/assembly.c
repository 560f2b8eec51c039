/*
 * batch/stream/assembly.c - the answers of streams, assembled.
 *
 * The object grows in a tree as the events arrive.
 */
#include "batch/stream/assembly.h"

#include <errno.h>
#include <string.h>

#include "batch/stream/candidates.h"
#include "batch/stream/choices.h"
#include "batch/stream/cohere.h"
#include "batch/stream/message.h"
#include "batch/stream/ollama.h"
#include "batch/stream/tree.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

enum assembly_kind {
        ASSEMBLY_NONE,
        ASSEMBLY_CHOICES,
        ASSEMBLY_RESPONSE,
        ASSEMBLY_MESSAGE,
        ASSEMBLY_CANDIDATES,
        ASSEMBLY_COHERE,
        ASSEMBLY_OLLAMA,
};

struct ed_assembly {
        struct ed_tree tree;
        enum assembly_kind kind;
        struct ed_choices choices;
        struct ed_message message;
        struct ed_candidates candidates;
        struct ed_cohere cohere;
        struct ed_ollama ollama;
        bool has_event;
        bool has_token; /* of a response */
        bool is_ended;
        int error;
        struct ed_draft report; /* the stream's own error */
};

int ed_assembly_new(struct ed_assembly **ret_assembly)
{
        struct ed_assembly *assembly = eddy_malloc(sizeof(*assembly));

        if (!assembly)
                return -ENOMEM;
        *assembly = (struct ed_assembly){
                .choices.tree = &assembly->tree,
                .message.tree = &assembly->tree,
                .candidates.tree = &assembly->tree,
                .cohere.tree = &assembly->tree,
                .ollama.tree = &assembly->tree,
        };
        *ret_assembly = assembly;
        return 0;
}

void ed_assembly_free(struct ed_assembly *assembly)
{
        if (!assembly)
                return;
        ed_tree_fini(&assembly->tree);
        ed_draft_fini(&assembly->report);
        eddy_free(assembly);
}

/* ---- events of /v1/responses ------------------------------------------------------------------ */

/* Keep an error that the stream reports. */
static void report_keep(struct ed_assembly *assembly, const struct eddy_json_value *report)
{
        ed_draft_reset(&assembly->report, 0);
        ed_draft_add(&assembly->report, report->text, report->bytes);
        if (!ed_draft_is_whole(&assembly->report))
                assembly->error = -ENOMEM;
}

static void response_take(struct ed_assembly *assembly, const char *type,
                          const struct eddy_json_value *event)
{
        static const char *const last[] = { "response.completed", "response.incomplete",
                                            "response.failed", "response.cancelled" };
        struct ed_tree *tree = &assembly->tree;
        struct eddy_json_value value, report;
        size_t bytes = strlen(type);

        for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
                if (strcmp(type, last[i]) != 0 || !ed_tree_value_get(event, "response", &value) ||
                    value.kind != EDDY_JSON_OBJECT)
                        continue;
                ed_tree_set_text(tree, ed_tree_root(tree), value.text, value.bytes);
                assembly->is_ended = true;
                if (ed_tree_value_get(&value, "error", &report))
                        report_keep(assembly, &report);
                return;
        }
        if (bytes > 6 && strcmp(type + bytes - 6, ".delta") == 0)
                assembly->has_token = true;
}

/* ---- all streams ------------------------------------------------------------------------------ */

/* Find the error that an event reports: a member "error" (which some servers give as null, false or
 * an empty object), or the whole event, if its type or its "object" is "error". */
static bool error_find(const char *type, const struct eddy_json_value *event,
                       struct eddy_json_value *ret_report)
{
        struct eddy_json_value value;
        bool has_error = ed_tree_value_get(event, "error", ret_report);

        if (has_error && ret_report->kind >= EDDY_JSON_STRING &&
            !ed_tree_value_is_blank(ret_report))
                return true;
        has_error = has_error && ed_tree_value_is(ret_report, "true");
        *ret_report = *event;
        return has_error || strcmp(type, "error") == 0 ||
               (ed_tree_value_get(event, "object", &value) &&
                ed_tree_value_is(&value, "\"error\""));
}

static enum assembly_kind kind_of(const char *type, const struct eddy_json_value *event)
{
        struct eddy_json_value value;

        if (strncmp(type, "response.", 9) == 0)
                return ASSEMBLY_RESPONSE;
        if (ed_message_has_type(type))
                return ASSEMBLY_MESSAGE;
        if (ed_cohere_has_type(type))
                return ASSEMBLY_COHERE;
        if (ed_tree_value_get(event, "choices", &value))
                return ASSEMBLY_CHOICES;
        if (ed_candidates_are_in(event))
                return ASSEMBLY_CANDIDATES;
        return ed_ollama_is_line(event) ? ASSEMBLY_OLLAMA : ASSEMBLY_NONE;
}

static void object_take(struct ed_assembly *assembly, const char *type,
                        const struct eddy_json_value *event)
{
        if (assembly->kind == ASSEMBLY_NONE)
                assembly->kind = kind_of(type, event);
        switch (assembly->kind) {
        case ASSEMBLY_NONE:
                /* A first chunk without choices may be of any kind; its members are kept. */
                if (!*type)
                        ed_choices_take(&assembly->choices, event);
                break;
        case ASSEMBLY_CHOICES:
                ed_choices_take(&assembly->choices, event);
                break;
        case ASSEMBLY_RESPONSE:
                response_take(assembly, type, event);
                break;
        case ASSEMBLY_MESSAGE:
                ed_message_take(&assembly->message, type, event);
                break;
        case ASSEMBLY_CANDIDATES:
                ed_candidates_take(&assembly->candidates, event);
                break;
        case ASSEMBLY_COHERE:
                ed_cohere_take(&assembly->cohere, type, event);
                break;
        case ASSEMBLY_OLLAMA:
                ed_ollama_take(&assembly->ollama, event);
                break;
        }
        if (assembly->error == 0)
                assembly->error = assembly->choices.error < 0   ? assembly->choices.error
                                  : assembly->message.error < 0 ? assembly->message.error
                                                                : assembly->candidates.error;
}

/* Take an event that has a JSON text, or should. */
static void event_take(struct ed_assembly *assembly, const char *sse_type, const char *data,
                       size_t bytes)
{
        static const struct eddy_json_opts opts = { .depth_max = ED_TREE_DEPTH_MAX };
        struct eddy_json_value event, value;
        char type[64] = "";

        assembly->has_event = true;
        if (eddy_json_parse(data, bytes, &opts, &event, NULL) < 0 ||
            event.kind != EDDY_JSON_OBJECT) {
                assembly->error = -EBADMSG;
                if (strcmp(sse_type, "error") == 0) {
                        ed_draft_reset(&assembly->report, 0);
                        ed_draft_add_json(&assembly->report, data, bytes);
                }
                return;
        }
        /* The type of an event without one in its JSON is that of the stream. */
        if (!ed_tree_value_get(&event, "type", &value) ||
            eddy_json_string(&value, type, sizeof(type)) < 0) {
                if (strlen(sse_type) < sizeof(type))
                        memcpy(type, sse_type, strlen(sse_type) + 1);
        }
        if (error_find(strcmp(sse_type, "error") == 0 ? sse_type : type, &event, &value)) {
                report_keep(assembly, &value);
                if (assembly->error == 0)
                        assembly->error = -EBADMSG;
                return;
        }
        object_take(assembly, type, &event);
}

int ed_assembly_take(void *arg, const char *type, const char *data, size_t bytes)
{
        struct ed_assembly *assembly = arg;

        while (bytes > 0 && (*data == ' ' || *data == '\n')) {
                data++;
                bytes--;
        }
        if (assembly->error < 0 || bytes == 0 || ed_assembly_is_ended(assembly))
                return assembly->error;
        if (bytes >= 6 && memcmp(data, "[DONE]", 6) == 0)
                assembly->is_ended = true;
        else
                event_take(assembly, type, data, bytes);
        if (assembly->error == 0)
                assembly->error = assembly->tree.error;
        return assembly->error;
}

bool ed_assembly_has_token(const struct ed_assembly *assembly)
{
        return assembly->has_token || assembly->choices.has_token || assembly->message.has_token ||
               assembly->candidates.has_token || assembly->cohere.has_token ||
               assembly->ollama.has_token;
}

bool ed_assembly_is_ended(const struct ed_assembly *assembly)
{
        return assembly->is_ended || assembly->message.is_ended || assembly->cohere.is_ended ||
               assembly->ollama.is_ended;
}

bool ed_assembly_is_finished(const struct ed_assembly *assembly, uint64_t choices)
{
        return ed_assembly_is_ended(assembly) ||
               ed_candidates_are_finished(&assembly->candidates, choices) ||
               (assembly->choices.finished >= choices &&
                ed_choices_are_finished(&assembly->choices));
}

bool ed_assembly_is_whole(const struct ed_assembly *assembly)
{
        return ed_assembly_is_finished(assembly, 1);
}

bool ed_assembly_has_event(const struct ed_assembly *assembly)
{
        return assembly->has_event;
}

bool ed_assembly_is_known(const struct ed_assembly *assembly)
{
        return assembly->kind != ASSEMBLY_NONE;
}

const char *ed_assembly_error(const struct ed_assembly *assembly, size_t *ret_bytes)
{
        if (assembly->report.bytes == 0 || !ed_draft_is_whole(&assembly->report))
                return NULL;
        *ret_bytes = assembly->report.bytes;
        return assembly->report.data;
}

int ed_assembly_write(const struct ed_assembly *assembly, struct ed_draft *body)
{
        if (assembly->tree.error < 0)
                return assembly->tree.error;
        if (assembly->kind == ASSEMBLY_NONE || ed_tree_is_blank(assembly->tree.root))
                return -EBADMSG;
        ed_tree_write(assembly->tree.root, body);
        return ed_draft_is_whole(body) ? 0 : -ENOMEM;
}
