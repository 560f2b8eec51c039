/*
 * explore/program.h - the program to be explored: where it is, and whether a library can be loaded
 * into it.  A program without that library would run as usual, and send real requests.
 */
#ifndef ED_CMD_EXPLORE_PROGRAM_H
#define ED_CMD_EXPLORE_PROGRAM_H

#include <limits.h>

#include "eddy/def.h"
#include "eddy/version.h"

/* The names of shared libraries end with the part of the version that decides compatibility. */
#define ED_EXPLORE_TEXT_OF(x) #x
#define ED_EXPLORE_TEXT(x)    ED_EXPLORE_TEXT_OF(x)
#define ED_EXPLORE_VERSION                                                                         \
        ED_EXPLORE_TEXT(EDDY_VERSION_MAJOR) "." ED_EXPLORE_TEXT(EDDY_VERSION_MINOR)

/*
 * Find the program as a shell does, and ask its loader which libraries it would load, without
 * running it.  Adds 'library' to LD_PRELOAD.  Returns the exit code, after a message if it is not 0.
 */
EDDY_MUST_USE int ed_explore_program(const char *name, const char *library,
                                     char ret_path[PATH_MAX]);

/* Add a word to a variable of the environment that is a list, at its beginning. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_explore_variable_add(const char *variable, const char *word);

#endif
