/*
 * common/hangup.h - the signal that a terminal sends when it closes.
 */
#ifndef ED_CMD_COMMON_HANGUP_H
#define ED_CMD_COMMON_HANGUP_H

#include "eddy/def.h"

/*
 * Wait for SIGHUP. Afterwards the signal is ignored to the end of the process, because a terminal
 * that closes may send it more than once.
 *
 * Suspends: yes.
 * Errors: -ECANCELED, also if the signal is ignored (nohup);  those of eddy_signal_open()
 */
EDDY_MUST_USE int ed_hangup_wait(void);

#endif
