/*
 * batch/request/fault.h - the sentence about a fault of a line, of an option, or of the first row.
 */
#ifndef ED_CMD_BATCH_REQUEST_FAULT_H
#define ED_CMD_BATCH_REQUEST_FAULT_H

#include "eddy/def.h"

enum { ED_FAULT_BYTES = 320 };

/* Remedies, with commands. */
#define ED_FAULT_UTF8  "convert the input to UTF-8, for example by iconv -f WINDOWS-1252 -t UTF-8"
#define ED_FAULT_UTF16 "convert the input to UTF-8, from UTF-16 by iconv -f UTF-16 -t UTF-8"
#define ED_FAULT_COMMAS(delimiter)                                                                 \
        "separate them by commas, for example by python3 -c 'import csv,sys; "                     \
        "csv.writer(sys.stdout).writerows(csv.reader(sys.stdin,delimiter=\"" delimiter             \
        "\"))' <IN >NEW.csv"

/* Write a sentence; a long one is cut. Returns -EINVAL. */
int ed_fault_set(char error[ED_FAULT_BYTES], const char *format, ...) EDDY_PRINTF(2, 3);

#endif
