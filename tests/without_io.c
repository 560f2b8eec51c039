/*
 * without_io.c - for a build without the floor 'io': a case that calls one of
 * its functions is skipped.
 */
#include "test.h"

#define ABSENT(function)                                                                           \
        void function(void);                                                                       \
        void function(void)                                                                        \
        {                                                                                          \
                test_skip("this build has no " #function "()");                                    \
        }

ABSENT(eddy_dns_lookup)
ABSENT(eddy_file_close)
ABSENT(eddy_file_open)
ABSENT(eddy_file_read_at)
ABSENT(eddy_file_stat)
ABSENT(eddy_file_sync)
ABSENT(eddy_file_write_at)
ABSENT(eddy_path_remove)
ABSENT(eddy_path_rename)
ABSENT(eddy_path_stat)
ABSENT(eddy_signal_close)
ABSENT(eddy_signal_open)
ABSENT(eddy_signal_wait)
ABSENT(eddy_stream_close)
ABSENT(eddy_stream_from_fd)
ABSENT(eddy_stream_read)
ABSENT(eddy_stream_shutdown)
ABSENT(eddy_stream_write)
ABSENT(eddy_listener_accept)
ABSENT(eddy_tcp_connect)
ABSENT(eddy_tcp_listen)
ABSENT(eddy_listener_close)
ABSENT(eddy_listener_port)
ABSENT(eddy_test_link_set)
ABSENT(eddy_test_name_add)
ABSENT(eddy_test_stream_pair)
