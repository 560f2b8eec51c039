/*
 * report/report.h - `eddy report`: an HTML page about an output of `eddy batch`.
 */
#ifndef ED_CMD_REPORT_REPORT_H
#define ED_CMD_REPORT_REPORT_H

/* Returns the exit code. */
int ed_report_main(int argc, char **argv);

#endif
