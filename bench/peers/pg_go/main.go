// pg_go CONNINFO query|cursor|copy-in|copy-out COUNT - as pg_eddy.c, by pgx.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	items       = 10000
	connections = 10
	tasks       = 64
	warmUp      = 640
	blockRows   = 1000
	selectOne   = "select name, score from items where id = $1"
	selectAll   = "select id, name, score from items"
	copyOut     = "copy (select id, 'name of ' || id, id * 0.5 from generate_series(1, %d) id) to stdout"
)

var ctx = context.Background()

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func cpu() int64 {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

func queries(pool *pgxpool.Pool, n int64) {
	var next atomic.Int64
	var group sync.WaitGroup
	for i := 0; i < tasks; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				i := next.Add(1) - 1
				if i >= n {
					return
				}
				var name string
				var score float64
				must(pool.QueryRow(ctx, selectOne, i*7919%items+1).Scan(&name, &score))
			}
		}()
	}
	group.Wait()
}

func rows(conn *pgx.Conn) {
	found, err := conn.Query(ctx, selectAll)
	must(err)
	count := 0
	for found.Next() {
		var id int64
		must(found.Scan(&id, nil, nil))
		count++
	}
	must(found.Err())
	if count != items {
		must(fmt.Errorf("%d rows", count))
	}
}

// The same block again and again.
type blocks struct {
	block string
	at    int
	left  int64
}

func (b *blocks) Read(to []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := copy(to, b.block[b.at:])
	b.at += n
	if b.at == len(b.block) {
		b.at = 0
		b.left--
	}
	return n, nil
}

func copyIn(conn *pgx.Conn, count int64) {
	var block strings.Builder
	for i := 1; i <= blockRows; i++ {
		fmt.Fprintf(&block, "%d\tname of %d\t%d.5\n", i, i, i)
	}
	source := &blocks{block: block.String(), left: count / blockRows}
	tag, err := conn.PgConn().CopyFrom(ctx, source, "copy loaded from stdin")
	must(err)
	if tag.RowsAffected() != count {
		must(fmt.Errorf("%d rows copied", tag.RowsAffected()))
	}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/jackc/pgx/v5" {
			return "pgx " + module.Version
		}
	}
	return "pgx"
}

func roundUp(n, unit int64) int64 {
	return (n + unit - 1) / unit * unit
}

func main() {
	conninfo, row := os.Args[1], os.Args[2]
	count, err := strconv.ParseInt(os.Args[3], 10, 64)
	must(err)
	config, err := pgxpool.ParseConfig(conninfo)
	must(err)
	config.MaxConns = connections
	config.MinConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(err)
	loan, err := pool.Acquire(ctx)
	must(err)
	conn := loan.Conn()
	if row == "query" {
		loan.Release()
		queries(pool, warmUp)
	} else if row == "cursor" {
		count = roundUp(count, items)
	} else {
		count = roundUp(count, blockRows)
		_, err = conn.Exec(ctx, "truncate loaded")
		must(err)
	}
	wall, used := time.Now(), cpu()
	switch row {
	case "query":
		queries(pool, count)
	case "cursor":
		for i := int64(0); i < count; i += items {
			rows(conn)
		}
	case "copy-in":
		copyIn(conn, count)
	case "copy-out":
		tag, err := conn.PgConn().CopyTo(ctx, io.Discard, fmt.Sprintf(copyOut, count))
		must(err)
		if tag.RowsAffected() != count {
			must(fmt.Errorf("%d rows copied", tag.RowsAffected()))
		}
	}
	used = cpu() - used
	fmt.Printf("{\"peer\": \"%s\", \"row\": \"%s\", \"ops\": %d, \"cpu_ns\": %d, \"wall_ns\": %d}\n",
		version(), row, count, used, time.Since(wall).Nanoseconds())
}
