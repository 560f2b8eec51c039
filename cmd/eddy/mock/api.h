/*
 * mock/api.h - the routes below /v1/, in the format of OpenAI's API.
 */
#ifndef ED_CMD_MOCK_API_H
#define ED_CMD_MOCK_API_H

#include "mock/reply.h"

/* Returns true if the path is one of the API's. */
bool ed_api_has(const char *path);

/* Returns true if the route counts tokens. */
bool ed_api_counts_tokens(const char *path);

/* Answer a request that ed_gate_enter() admitted. */
EDDY_MUST_USE int ed_api_answer(struct ed_reply *reply, const char *path);

#endif
