/*
 * batch/answer/rule.h - decides if an answer is a success: by --ok, or else by its status and, for
 * the APIs of batch/request/api_path.h, by its body. docs/design/answers.md gives the reasons. No
 * I/O.
 */
#ifndef ED_CMD_BATCH_ANSWER_RULE_H
#define ED_CMD_BATCH_ANSWER_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/schema.h"
#include "common/condition.h"
#include "eddy/def.h"

/* All zero: the rule without options. */
struct ed_rule {
        struct ed_condition *ok;       /* --ok; NULL: none */
        struct ed_condition *retry_if; /* --retry-if; NULL: none */
        struct ed_schema *schema;      /* --schema; NULL: none */
        const char *ok_text;
};

void ed_rule_fini(struct ed_rule *rule);

/*
 * Judge an answer. 'is_api' is true if the request was to an API of language models. Returns 0 for a
 * success, and 1 if the status says that the request failed.
 *
 * Errors: ED_E_ANSWER_NOT_OK     --ok does not hold, although the status is one of success
 *         ED_E_ANSWER_HAS_ERROR  the body has an error
 *         ED_E_ANSWER_NOT_JSON   the body is not JSON
 *         ED_E_ANSWER_NOT_SCHEMA the schema does not accept the answer: the content of a chat completion,
 *                                or else the body
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_rule_judge(const struct ed_rule *rule, bool is_api,
                                const struct ed_condition_answer *answer);

/*
 * Write why the answer is not a success, a sentence for the error of ed_rule_judge(), with the message
 * of the server or the beginning of the body.
 */
void ed_rule_describe(const struct ed_rule *rule, int error, const void *body, size_t bytes,
                      char *text, size_t room);

/*
 * Returns the bytes of a message that name the cause: an excerpt of the answer, with which a message of
 * ed_rule_describe() may end, does not count. Other messages count as a whole.
 */
size_t ed_rule_cause_bytes(const char *message);

/* The kinds of lines of earlier runs. */
enum ed_rule_line {
        ED_RULE_LINE_FAILED,
        ED_RULE_LINE_OK,
        ED_RULE_LINE_DOUBTED, /* a failure if the request was to an API of language models */
};

/*
 * Judge a line. 'is_output' is true in the output, and false in the errors file. An error by which
 * an earlier run judged the answer (ED_E_ANSWER_NOT_OK and the others of ed_rule_judge()) does not
 * count. Lines do not keep headers: if --ok has a header(), a line without an error is a success in
 * the output, and a failure in the errors file, and any error counts.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_rule_judge_line(const struct ed_rule *rule, const struct ed_answer_seen *line,
                                     bool is_output);

#endif
