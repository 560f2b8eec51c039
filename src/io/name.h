/*
 * io/name.h - the former name of io/dns_name.h, for http/client.c only.
 */
#ifndef ED_IO_NAME_H
#define ED_IO_NAME_H

#include "io/dns_name.h"

#endif
