/*
 * batch/key_option.h - the options that name an API key: --api-key-env, --api-key-file and
 * --api-key-command.
 */
#ifndef ED_CMD_BATCH_KEY_OPTION_H
#define ED_CMD_BATCH_KEY_OPTION_H

#include "batch/run/api_key.h"
#include "eddy/def.h"

/*
 * Take the value of an option. Only one of these options may be given. Errors are reported on stderr.
 *
 * Errors: -EINVAL and those of ed_slurp(); -ENOMEM (not reported)
 */
EDDY_MUST_USE int ed_key_option_env(struct ed_api_keys *keys, const char *name);
EDDY_MUST_USE int ed_key_option_file(struct ed_api_keys *keys, const char *path);
EDDY_MUST_USE int ed_key_option_command(struct ed_api_keys *keys, const char *command);

#endif
