/*
 * batch/answer/reasons.c - counts causes, and keeps the first message of each.
 */
#include "batch/answer/reasons.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/answer/rule.h"
#include "common/excerpt.h"
#include "common/json_shown.h"
#include "common/text_form.h"
#include "common/url_parts.h"
#include "common/url_shown.h"

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

bool ed_reasons_hide(const struct ed_reasons *reasons, const struct ed_request *request,
                     const char *text, size_t bytes)
{
        return reasons->has_secret && reasons->has_secret(reasons->secrets, request, text, bytes);
}

static void text_set(const struct ed_reasons *reasons, struct ed_reason *reason,
                     const struct ed_answer *answer, const char *text, size_t bytes)
{
        if (!ed_reasons_hide(reasons, answer->request, text, bytes))
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
        bytes = message.kind == EDDY_JSON_STRING ? eddy_json_string(&message, text, sizeof(text))
                                                 : -EINVAL;
        if (bytes < 0) { /* as it is in JSON, without quotes and control characters */
                size_t quote = message.kind == EDDY_JSON_STRING;

                bytes = (int64_t) ed_json_shown(text, sizeof(text), message.text + quote,
                                                message.bytes - 2 * quote);
        }
        text_set(reasons, reason, answer, text, (size_t) bytes);
}

/*
 * Keep the URL to which an answer redirects, without its query. Returns the bytes of the text that
 * names the cause: that up to the host.
 */
static size_t redirect_read(const struct ed_reasons *reasons, struct ed_reason *reason,
                            const struct ed_answer *answer)
{
        struct ed_url_parts parts = ed_url_parts(answer->redirect);
        char shown[ED_URL_SHOWN_BYTES];
        int n;

        if (ed_reasons_hide(reasons, answer->request, answer->redirect, strlen(answer->redirect)))
                return 0;
        ed_url_shown(shown, answer->redirect, (size_t) (parts.query - answer->redirect));
        n = snprintf(reason->text, sizeof(reason->text), "redirects to ");
        ed_excerpt_within(reason->text + n, sizeof(reason->text) - (size_t) n, shown,
                          strlen(shown));
        return (size_t) (ed_url_parts(reason->text + n).path - reason->text);
}

/* Put the place of a failure before its message: a server, or the line. */
static void place_add(struct ed_reason *reason, const struct ed_answer *answer)
{
        const char *from = answer->endpoint ? answer->endpoint : answer->id;
        size_t from_bytes = answer->endpoint ? strlen(answer->endpoint) : answer->id_bytes;
        char place[ED_EXCERPT_BYTES], message[ED_REASON_TEXT_BYTES];
        int n;

        memcpy(message, reason->text, sizeof(message));
        n = snprintf(reason->text, sizeof(reason->text), "%s%s",
                     ed_excerpt(place, from, from_bytes), *message ? ": " : "");
        if (*message)
                ed_excerpt_within(reason->text + n, sizeof(reason->text) - (size_t) n, message,
                                  strlen(message));
}

void ed_reasons_add(struct ed_reasons *reasons, const struct ed_answer *answer)
{
        struct ed_reason reason = { 0 };
        size_t cause_bytes = 0; /* of the text; 0: all */
        unsigned place;

        if (answer->code)
                snprintf(reason.name, sizeof(reason.name), "%s", answer->code);
        else
                snprintf(reason.name, sizeof(reason.name), "%d", answer->status);
        if (answer->redirect)
                cause_bytes = redirect_read(reasons, &reason, answer);
        else if (answer->status > 0)
                body_read(reasons, &reason, answer);
        /* Our own message has the beginning of such a body, where a secret may be cut. */
        if (answer->status > 0 && answer->code && !*reason.text &&
            !ed_reasons_hide(reasons, answer->request, answer->body, answer->body_bytes))
                text_set(reasons, &reason, answer, answer->message, strlen(answer->message));
        if (answer->status == 0)
                text_set(reasons, &reason, answer, answer->message, strlen(answer->message));
        place = ed_groups_add(
                &reasons->groups,
                ed_text_form(reason.name, reason.text,
                             cause_bytes > 0 ? cause_bytes : ed_rule_cause_bytes(reason.text)));
        if (place == ED_GROUPS_MAX || reasons->groups.items[place].members > 1)
                return;
        if (answer->status == 0)
                place_add(&reason, answer);
        reasons->items[place] = reason;
}

const char *ed_reasons_text(const struct ed_reasons *reasons, int status)
{
        char name[ED_REASON_NAME_BYTES];

        snprintf(name, sizeof(name), "%d", status);
        for (unsigned i = 0; i < reasons->groups.count; i++)
                if (strcmp(reasons->items[i].name, name) == 0)
                        return reasons->items[i].text;
        return "";
}
