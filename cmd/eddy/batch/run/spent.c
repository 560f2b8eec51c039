/*
 * batch/run/spent.c - see spent.h.
 */
#include "batch/run/spent.h"

#include "batch/answer/answer_line.h"
#include "eddy/json.h"

/* Returns the tokens of a member of "x_meta", or 0. */
static uint64_t meta_tokens(const struct eddy_json_value *meta, const char *name)
{
        struct eddy_json_value value;
        uint64_t tokens;

        if (eddy_json_get(meta, name, &value) < 0 || eddy_json_uint64(&value, &tokens) < 0)
                return 0;
        return tokens < ED_USAGE_TOKENS_MAX ? tokens : ED_USAGE_TOKENS_MAX;
}

void ed_spent_note(struct ed_batch_spent *spent, const struct ed_answer_seen *seen)
{
        struct ed_usage usage = { 0 };
        struct eddy_json_value body;

        if (seen->meta.kind == EDDY_JSON_OBJECT) {
                usage.input = meta_tokens(&seen->meta, "input_tokens");
                usage.output = meta_tokens(&seen->meta, "output_tokens");
        } else if (seen->response.kind == EDDY_JSON_OBJECT &&
                   eddy_json_get(&seen->response, "body", &body) == 0) {
                (void) ed_usage_read(body.text, body.bytes, &usage);
        }
        spent->before.input += usage.input;
        spent->before.output += usage.output;
}

uint64_t ed_spent_cost(const struct ed_batch_spent *spent, const struct ed_price *price)
{
        return ed_tokens_cost(price, spent->before.input + spent->usage.input,
                              spent->before.output + spent->usage.output);
}
