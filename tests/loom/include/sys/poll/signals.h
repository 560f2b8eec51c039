/*
 * sys/poll/signals.h - with two slots instead of many: each handler looks at all of
 * them, and a free one adds points and nothing else.
 */
#ifndef LOOM_SYS_SIGNALS_H
#define LOOM_SYS_SIGNALS_H

#include_next "sys/poll/signals.h"

#define ED_SIGNALS_MAX      2
#define ED_SIGNALS_QUIT_MAX 0

#endif
