/*
 * common/page_head.h - how each HTML page of the program begins.
 */
#ifndef ED_CMD_COMMON_PAGE_HEAD_H
#define ED_CMD_COMMON_PAGE_HEAD_H

/* Up to the title. The policy forbids scripts and the network, whatever text the page contains. */
extern const char ed_page_head[];

#endif
