/*
 * batch/summary_servers.h - the part of the summary that is about the servers.
 */
#ifndef ED_CMD_BATCH_SUMMARY_SERVERS_H
#define ED_CMD_BATCH_SUMMARY_SERVERS_H

#include "batch/run/endpoint.h"
#include "common/draft.h"

/* Append a line for each server, or, if there are many, for the worst of them and for the others. */
void ed_servers_add(const struct ed_endpoints *endpoints, struct ed_draft *text);

/* Append the member with all of them. */
void ed_servers_add_json(const struct ed_endpoints *endpoints, struct ed_draft *text);

#endif
