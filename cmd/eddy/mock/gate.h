/*
 * mock/gate.h - handles a request before its route answers: keys, limits, waves, waits and errors.
 */
#ifndef ED_CMD_MOCK_GATE_H
#define ED_CMD_MOCK_GATE_H

#include "mock/reply.h"

/*
 * Admit a request, or refuse it because of its key, a wave, the capacity or a limit. Returns 0 if
 * the request was admitted, 1 if it was answered, or a negative error. Call ed_gate_leave() in
 * every case.
 */
EDDY_MUST_USE int ed_gate_enter(struct ed_reply *reply);
void ed_gate_leave(struct ed_reply *reply);

/* Count 'tokens' against the limit of the request's key. Returns as ed_gate_enter(). */
EDDY_MUST_USE int ed_gate_tokens(struct ed_reply *reply, uint64_t tokens);

/* Wait; then answer with an error, or choose a fate, at random. Returns as ed_gate_enter(). */
EDDY_MUST_USE int ed_gate_mood(struct ed_reply *reply);

#endif
