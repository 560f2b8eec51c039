/*
 * fetch/fetch.h - `eddy fetch`: many URLs at a time, one line of JSON for each.
 */
#ifndef ED_CMD_FETCH_FETCH_H
#define ED_CMD_FETCH_FETCH_H

/* Returns the exit code. */
int ed_fetch_main(int argc, char **argv);

#endif
