/*
 * scope/hooks.c - see hooks.h.
 */
#include "scope/hooks.h"

const struct ed_hooks *_Atomic ed_hooks_of_process;

__thread struct ed_debug *ed_debug_first;
