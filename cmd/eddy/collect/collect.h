/*
 * collect/collect.h - the command `eddy collect`: joins the outputs of several runs, and checks that each
 * request has one answer.
 */
#ifndef ED_CMD_COLLECT_COLLECT_H
#define ED_CMD_COLLECT_COLLECT_H

/* Run the command with its arguments. Returns the exit code. */
int ed_collect_main(int argc, char **argv);

#endif
