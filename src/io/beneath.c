/*
 * io/beneath.c - the folder of files beneath it.
 */
#include "io/beneath.h"

#include "loop/loop.h"
#include "sys/socket/sockets.h"

int ed_beneath_begin(const char *path)
{
        struct ed_sys *sys = ed_loop_current ? ed_loop_current->sys : NULL;
        struct ed_file_op op = { .call = ED_FILE_OPEN_FOLDER, .path = path };

        if (sys)
                sys->file->run(sys, &op);
        else
                ed_file_run(NULL, &op);
        return (int) op.result;
}

void ed_beneath_close(int folder)
{
        struct ed_sys *sys = ed_loop_current ? ed_loop_current->sys : NULL;

        if (sys)
                sys->socket->close(sys, folder);
        else
                ed_sockets_close(NULL, folder);
}
