/*
 * common/hangup.c - see hangup.h.
 */
#include "common/hangup.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "eddy/signal.h"

int ed_hangup_wait(void)
{
        static const int signo = SIGHUP;
        EDDY_AUTO(eddy_signal) eddy_signal *hangup = NULL;
        struct sigaction now;
        int err;

        if (sigaction(SIGHUP, NULL, &now) < 0 || now.sa_handler == SIG_IGN)
                return -ECANCELED;
        signal(SIGHUP, SIG_IGN); /* the handling after eddy_signal_close() */
        err = eddy_signal_open(&signo, 1, &hangup);
        if (err == 0)
                err = eddy_signal_wait(hangup);
        return err < 0 ? err : 0;
}
