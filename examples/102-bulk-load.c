/*
 * 102-bulk-load - CSV from standard input into a PostgreSQL table with COPY: all rows or none.
 *
 * The input may be larger than the memory, which holds only a part of it and the bytes that libpq
 * has not yet sent: a write waits for the server. At the end of the input the server reports the
 * line of the first wrong row. A COPY is one command, so in that case none of its rows is stored.
 * Nothing is stored either if the input cannot be read to its end, or if Ctrl-C ends the program:
 * only the shutdown of the stream completes the COPY.
 *
 * Run: seq -f '%.0f,"the item",0.5' 200000 | 102-bulk-load "$POSTGRES"; psql -Atd "$POSTGRES" -c 'select count(*), sum(price) from items'
 * Time: wall 0 to 60 s
 * Output:
 *     1 MiB
 *     2 MiB
 *     3 MiB
 *     4 MiB
 *     200000 rows
 *     200000|100000.0
 *
 * Run: for rows in '1,Milk,0.99\n2,Bread,1.49\n' '3,Salt,0.50\n4,Tea,free\n5,Rice,2\n' '6,Oil,5\n1,Milk,1\n'; do printf "$rows" | 102-bulk-load "$POSTGRES" 2>&1; done; psql -Atd "$POSTGRES" -c 'select count(*) from items'
 * Time: wall 0 to 60 s
 * Output:
 *     2 rows
 *     102-bulk-load: invalid input syntax for type numeric: "free"; COPY items, line 2, column price: "free"
 *     102-bulk-load: duplicate key value violates unique constraint "items_pkey"; COPY items, line 2; Key (id)=(1) already exists.
 *     2
 *
 * Run: (seq -f '%.0f,x,1' 100000; sleep 2) | timeout --foreground --preserve-status -s TERM 1 102-bulk-load "$POSTGRES" 2>&1; psql -Atd "$POSTGRES" -c 'select count(*) from items'
 * Time: wall 1 to 60 s
 * Output:
 *     102-bulk-load: stopped; nothing is stored
 *     0
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 16 };

/* Send all of 'in', and report each MiB. */
static int send_all(eddy_stream *in, eddy_stream *copy)
{
        static char piece[PIECE_BYTES];
        int64_t sent = 0, n;
        int err;

        while ((n = eddy_stream_read(in, piece, sizeof(piece))) > 0) {
                err = eddy_stream_write(copy, piece, (size_t) n);
                if (err < 0)
                        return err;
                for (int64_t mib = sent >> 20; mib < (sent + n) >> 20; mib++)
                        printf("%lld MiB\n", (long long) mib + 1);
                fflush(stdout);
                sent += n;
        }
        return (int) n;
}

static int load(eddy_pg *pg)
{
        EDDY_AUTO(eddy_stream) eddy_stream *in = NULL;
        EDDY_AUTO(eddy_stream) eddy_stream *copy = NULL;
        int err = eddy_pg_exec(pg, "create table if not exists items (id bigint primary key,"
                                   " name text not null, price numeric not null)");

        if (err == 0)
                err = eddy_stream_from_fd(STDIN_FILENO, 0, &in);
        if (err == 0)
                err = eddy_pg_copy(pg, "copy items from stdin (format csv)", &copy);
        if (err == 0)
                err = send_all(in, copy);
        if (err == 0)
                err = eddy_stream_shutdown(copy); /* returns the server's result */
        if (err == 0)
                printf("%lld rows\n", (long long) eddy_pg_copied(pg));
        return err;
}

static void print_failure(int err, const struct eddy_pg_fault *fault)
{
        if (err == -ECANCELED)
                fprintf(stderr, "102-bulk-load: stopped; nothing is stored\n");
        else
                fprintf(stderr, "102-bulk-load: %s%s%s%s%s\n",
                        *fault->text ? fault->text : eddy_error_text(err),
                        *fault->context ? "; " : "", fault->context, *fault->detail ? "; " : "",
                        fault->detail);
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        static struct eddy_pg_fault fault;
        int err = eddy_pg_connect(&(struct eddy_pg_opts){ .conninfo = arg, .ret_fault = &fault },
                                  &pg);

        if (err == 0)
                err = load(pg);
        if (err < 0)
                print_failure(err, pg ? eddy_pg_fault(pg) : &fault);
        return err;
}

int main(int argc, char **argv)
{
        if (argc != 2) {
                fprintf(stderr, "usage: 102-bulk-load CONNINFO <FILE\n");
                return 2;
        }
        return eddy_run(run, argv[1], NULL) < 0;
}
