/*
 * explore/explore.h - `eddy explore`: every outcome of a program.
 */
#ifndef ED_CMD_EXPLORE_EXPLORE_H
#define ED_CMD_EXPLORE_EXPLORE_H

/* Returns the exit code, or becomes the program. */
int ed_explore_main(int argc, char **argv);

#endif
