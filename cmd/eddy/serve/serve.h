/*
 * serve/serve.h - `eddy serve`: a web server for the files of a folder.
 */
#ifndef ED_CMD_SERVE_SERVE_H
#define ED_CMD_SERVE_SERVE_H

/* Returns the exit code. */
int ed_serve_main(int argc, char **argv);

#endif
