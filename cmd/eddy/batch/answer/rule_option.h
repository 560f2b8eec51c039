/*
 * batch/answer/rule_option.h - the options that judge answers: --ok, --retry-if and --schema.
 */
#ifndef ED_CMD_BATCH_ANSWER_RULE_OPTION_H
#define ED_CMD_BATCH_ANSWER_RULE_OPTION_H

#include "batch/answer/rule.h"
#include "eddy/def.h"

/*
 * Set --ok or --retry-if. 'text' is borrowed. Errors: -EINVAL, after a message of 'command'; -ENOMEM
 */
EDDY_MUST_USE int ed_rule_set_ok(struct ed_rule *rule, const char *command, const char *text);
EDDY_MUST_USE int ed_rule_set_retry_if(struct ed_rule *rule, const char *command, const char *text);

/* Set --schema. Errors: -EINVAL, and those of ed_slurp(), after a message of 'command'; -ENOMEM */
EDDY_MUST_USE int ed_rule_set_schema(struct ed_rule *rule, const char *command, const char *path);

#endif
