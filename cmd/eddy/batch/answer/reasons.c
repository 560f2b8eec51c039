/*
 * batch/answer/reasons.c - keeps the first message of each kind.
 */
#include "batch/answer/reasons.h"

#include <stdio.h>
#include <string.h>

#include "common/excerpt.h"

enum { MESSAGE_BYTES = 1024 }; /* longer strings are not unescaped */

bool ed_reason_find(const struct eddy_json_value *body, struct eddy_json_value *ret_message)
{
        static const char *const paths[] = { "error.message", "error", "message", "detail" };

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
                if (eddy_json_get(body, paths[i], ret_message) == 0 &&
                    ret_message->kind != EDDY_JSON_NULL)
                        return true;
        return false;
}

/* Returns an empty item for a kind that is new, or NULL. */
static struct ed_reason *reason_new(struct ed_reasons *reasons, const char *name)
{
        struct ed_reason *reason;

        for (unsigned i = 0; i < reasons->count; i++)
                if (strcmp(reasons->items[i].name, name) == 0)
                        return NULL;
        if (reasons->count == ED_REASONS_MAX)
                return NULL;
        reason = &reasons->items[reasons->count++];
        snprintf(reason->name, sizeof(reason->name), "%s", name);
        return reason;
}

static bool has_secret(const struct ed_reasons *reasons, const char *text, size_t bytes)
{
        return reasons->has_secret && reasons->has_secret(reasons->secrets, text, bytes);
}

static void text_set(const struct ed_reasons *reasons, struct ed_reason *reason, const char *text,
                     size_t bytes)
{
        if (!has_secret(reasons, text, bytes))
                ed_excerpt_within(reason->text, sizeof(reason->text), text, bytes);
}

/* Keep the message of a server. */
static void body_read(const struct ed_reasons *reasons, struct ed_reason *reason,
                      const struct ed_answer *answer)
{
        struct eddy_json_value body, message;
        char text[MESSAGE_BYTES];
        int64_t bytes;

        if (!answer->body ||
            eddy_json_parse(answer->body, answer->body_bytes, NULL, &body, NULL) < 0 ||
            !ed_reason_find(&body, &message))
                return;
        if (message.kind != EDDY_JSON_STRING) {
                text_set(reasons, reason, message.text, message.bytes);
                return;
        }
        bytes = eddy_json_string(&message, text, sizeof(text));
        if (bytes >= 0)
                text_set(reasons, reason, text, (size_t) bytes);
        else /* with its escapes, without its quotes */
                text_set(reasons, reason, message.text + 1, message.bytes - 2);
}

void ed_reasons_add(struct ed_reasons *reasons, const struct ed_answer *answer)
{
        char status[16], place[ED_EXCERPT_BYTES];
        struct ed_reason *reason;
        int n;

        snprintf(status, sizeof(status), "%d", answer->status);
        reason = reason_new(reasons, answer->code ? answer->code : status);
        if (!reason)
                return;
        if (answer->status > 0)
                body_read(reasons, reason, answer);
        /* Our own message has the beginning of such a body, where a secret may be cut. */
        if (answer->status > 0 && answer->code && !*reason->text &&
            !has_secret(reasons, answer->body, answer->body_bytes))
                text_set(reasons, reason, answer->message, strlen(answer->message));
        if (answer->status > 0)
                return;
        /* The place of a failure: a server, or the line. */
        if (answer->endpoint)
                ed_excerpt(place, answer->endpoint, strlen(answer->endpoint));
        else
                ed_excerpt(place, answer->id, answer->id_bytes);
        if (has_secret(reasons, answer->message, strlen(answer->message))) {
                snprintf(reason->text, sizeof(reason->text), "%s", place);
                return;
        }
        n = snprintf(reason->text, sizeof(reason->text), "%s: ", place);
        ed_excerpt_within(reason->text + n, sizeof(reason->text) - (size_t) n, answer->message,
                          strlen(answer->message));
}

const char *ed_reasons_text(const struct ed_reasons *reasons, int status)
{
        char name[ED_REASON_NAME_BYTES];

        snprintf(name, sizeof(name), "%d", status);
        for (unsigned i = 0; i < reasons->count; i++)
                if (strcmp(reasons->items[i].name, name) == 0)
                        return reasons->items[i].text;
        return "";
}
