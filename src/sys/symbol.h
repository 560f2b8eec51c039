/*
 * sys/symbol.h - callers, and the names of functions and places in the program.
 */
#ifndef ED_SYS_SYMBOL_H
#define ED_SYS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

enum { ED_FRAMES_MAX = 24 };

/*
 * Whether a call that will return to that address is under way on the stack
 * that this thread runs on; also if there are too many to look at each, or if the
 * C library has no backtrace().
 */
ED_SHARED bool ed_sys_called_from(const void *return_address);

/*
 * The return addresses of the calls that are under way there, innermost first,
 * from 'from' on if that is among them (NULL: from this call's).  Returns how many;
 * 0 if the C library has no backtrace().
 */
ED_SHARED int ed_sys_callers(const void *from, void **ret_frames, int max);

/*
 * Whether 'address' is in the same file of the process as 'other', in no
 * function that it exports for programs: those that begin with ed_ are not.
 */
ED_SHARED bool ed_sys_is_inside(const void *address, const void *other);

/* The same of a file whose name begins so. */
ED_SHARED bool ed_sys_is_inside_named(const void *address, const char *name);

/*
 * What the place at an address is called: "name" or "name+0x12"; where the
 * program does not export the function, "program+0x1234", which addr2line
 * resolves; else "0x55d0...".  Where room is short, the name is cut.
 */
ED_SHARED void ed_sys_symbol(const void *address, char *buf, size_t bytes);

/*
 * What a function is called that the program gave as 'text' in a call (NULL: it
 * did not): its name if the program exports it, else the function that the text
 * begins with, else as above.
 */
void ed_sys_function(const void *fn, const char *text, char *buf, size_t bytes);

#endif
