/*
 * common/say.h - messages to the user of a command, for code that does not know where they are shown.
 */
#ifndef ED_CMD_COMMON_SAY_H
#define ED_CMD_COMMON_SAY_H

#include <stdarg.h>

#include "eddy/def.h"

enum ed_say_kind {
        ED_SAY_NOTE,
        ED_SAY_REFUSAL, /* an option, or a file that an option names, cannot be used */
};

/* Called for each message, a sentence without a line feed. */
typedef void ed_say_fn(void *arg, enum ed_say_kind kind, const char *format, va_list args);

struct ed_say {
        ed_say_fn *hear; /* NULL: no message is shown */
        void *arg;
};

void ed_say(const struct ed_say *say, const char *format, ...) EDDY_PRINTF(2, 3);

/* Returns ED_EXIT_USAGE. */
int ed_refuse(const struct ed_say *say, const char *format, ...) EDDY_PRINTF(2, 3);

#endif
