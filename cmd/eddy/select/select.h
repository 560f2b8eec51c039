/*
 * select/select.h - the command `eddy select`: writes a table of values of the answers.
 */
#ifndef ED_CMD_SELECT_SELECT_H
#define ED_CMD_SELECT_SELECT_H

/* Run the command with its arguments. Returns the exit code. */
int ed_select_main(int argc, char **argv);

#endif
