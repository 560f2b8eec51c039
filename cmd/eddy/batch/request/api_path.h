/*
 * batch/request/api_path.h - recognises the URLs of APIs of language models, whose answers are JSON,
 * with a member "error" if they failed.
 */
#ifndef ED_CMD_BATCH_REQUEST_API_PATH_H
#define ED_CMD_BATCH_REQUEST_API_PATH_H

#include <stdbool.h>

/* Returns true if the path of a URL, or of a path alone, ends as one of the table in api_path.c. */
bool ed_api_path_is(const char *url);

#endif
