// redis_go URL get|set COUNT pool|auto - as redis_eddy.c, by go-redis: each task uses one of 10
// connections, or its pipelines of all tasks ("auto").
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	keys        = 10000
	connections = 10
	tasks       = 64
	warmUp      = 640
	value       = "0123456789abcdef"
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

type commands interface {
	Get(ctx context.Context, key string) *redis.StringCmd
	Set(ctx context.Context, key string, value interface{}, expiration time.Duration) *redis.StatusCmd
}

func run(client commands, row string, n int64) {
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
				key := "key:" + strconv.FormatInt(i*7919%keys, 10)
				if row == "set" {
					must(client.Set(ctx, key, value, 0).Err())
					continue
				}
				found, err := client.Get(ctx, key).Result()
				must(err)
				if found != value {
					must(fmt.Errorf("another value: %s", found))
				}
			}
		}()
	}
	group.Wait()
}

func main() {
	row := os.Args[2]
	count, err := strconv.ParseInt(os.Args[3], 10, 64)
	must(err)
	options, err := redis.ParseURL(os.Args[1])
	must(err)
	options.PoolSize = connections
	client := redis.NewClient(options)
	var user commands = client
	if os.Args[4] == "auto" {
		user, err = client.AutoPipeline()
		must(err)
	}
	run(user, row, warmUp)
	wall, used := time.Now(), cpu()
	run(user, row, count)
	used = cpu() - used
	fmt.Printf("{\"peer\": \"go-redis %s\", \"row\": \"%s\", \"ops\": %d, \"cpu_ns\": %d, \"wall_ns\": %d}\n",
		redis.Version(), row, count, used, time.Since(wall).Nanoseconds())
}
