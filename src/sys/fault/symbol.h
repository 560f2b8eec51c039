/*
 * sys/fault/symbol.h - callers, and the names of functions and places in the program.
 */
#ifndef ED_SYS_FAULT_SYMBOL_H
#define ED_SYS_FAULT_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

enum { ED_FRAMES_MAX = 24 };

/*
 * Returns true if the current stack of this thread has a call that will return to that address.
 * Also returns true if there are too many calls to check, or the C library has no backtrace().
 */
ED_SHARED bool ed_sys_called_from(const void *return_address);

/*
 * Store the return addresses of the calls on that stack, innermost first, starting at 'from' if it
 * is among them (NULL: at this call's). Returns the number stored; 0 if the C library has no
 * backtrace().
 */
ED_SHARED int ed_sys_callers(const void *from, void **ret_frames, int max);

/*
 * Returns true if 'address' is in the same file of the process as 'other' and not in an exported
 * function. Functions whose names begin with ed_ do not count as exported.
 */
ED_SHARED bool ed_sys_is_inside(const void *address, const void *other);

/* As ed_sys_is_inside(), for a file whose name begins with 'name'. */
ED_SHARED bool ed_sys_is_inside_named(const void *address, const char *name);

/*
 * Returns true in a static program, which has no information about addresses, and can neither load
 * nor unload libraries.
 */
ED_SHARED bool ed_sys_is_static(void);

/*
 * Describe an address: "name" or "name+0x12"; "program+0x1234" if the program does not export the
 * function, which addr2line resolves; else "0x55d0...". The name is cut if 'bytes' is too small.
 */
ED_SHARED void ed_sys_symbol(const void *address, char *buf, size_t bytes);

/*
 * Name a function that the program passed as 'text' in a call (NULL: unknown): the function's name
 * if the program exports it, else the function at the start of the text, else as ed_sys_symbol().
 */
void ed_sys_function(const void *fn, const char *text, char *buf, size_t bytes);

/* The same for a text that is valid, whatever libraries were unloaded. */
void ed_sys_function_in(const void *fn, const char *text, char *buf, size_t bytes);

#endif
