/*
 * fetch/fetch.h - `eddy fetch`: fetches many URLs at a time, and writes a line of JSON for each.
 */
#ifndef ED_CMD_FETCH_FETCH_H
#define ED_CMD_FETCH_FETCH_H

/* Returns the exit code. */
int ed_fetch_main(int argc, char **argv);

#endif
