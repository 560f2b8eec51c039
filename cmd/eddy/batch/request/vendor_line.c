/*
 * batch/request/vendor_line.c - the table of forms.
 *
 * Sources, beside those of the forms: anthropic-version is required
 * (https://platform.claude.com/docs/en/api/versioning), and the key is in x-api-key
 * (https://platform.claude.com/docs/en/api/overview), or x-goog-api-key
 * (https://ai.google.dev/gemini-api/docs/api-key).
 */
#include "batch/request/vendor_line.h"

#include <stdbool.h>

static const struct ed_vendor_form forms[] = {
        { .vendor = "Anthropic",
          .files = "Anthropic's Message Batches",
          .member = "params",
          .marks = { "messages" },
          .path = "/v1/messages",
          .url = "https://api.anthropic.com",
          .header = "anthropic-version",
          .value = "2023-06-01",
          .key_header = "x-api-key" },
        { .vendor = "Gemini",
          .files = "Gemini's batch files",
          .member = "request",
          .marks = { "contents", "content" },
          .id = "key",
          .url = "https://generativelanguage.googleapis.com/v1beta/models/MODEL:generateContent",
          .key_header = "x-goog-api-key" },
};

static bool has_mark(const struct ed_vendor_form *form, const struct eddy_json_value *body)
{
        struct eddy_json_value value;

        for (int i = 0; body->kind == EDDY_JSON_OBJECT && i < ED_VENDOR_MARKS_MAX; i++)
                if (form->marks[i] && eddy_json_get(body, form->marks[i], &value) == 0)
                        return true;
        return false;
}

void ed_vendor_line_take(struct ed_vendor_line *line, const struct eddy_json_value *name,
                         const struct eddy_json_value *value)
{
        if (value->kind == EDDY_JSON_NULL)
                return;
        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
                const struct ed_vendor_form *form = &forms[i];

                if (form->id && eddy_json_is(name, form->id)) {
                        if (line->id.kind != EDDY_JSON_NONE)
                                line->twice = form->id;
                        line->id = *value;
                }
                if (!eddy_json_is(name, form->member))
                        continue;
                if (line->form == form || line->half == form)
                        line->twice = form->member;
                if (!has_mark(form, value)) {
                        line->half = form;
                } else if (!line->form) {
                        line->form = form;
                        line->body = *value;
                }
        }
}
