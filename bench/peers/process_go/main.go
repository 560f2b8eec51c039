// process_go COUNT TASKS - starting child processes by os/exec while timers tick, as process_eddy.c does.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	timers = 1000
	period = 100 * time.Millisecond
)

func cpu() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	count, _ := strconv.ParseInt(os.Args[1], 10, 64)
	tasks, _ := strconv.Atoi(os.Args[2])
	var mutex sync.Mutex
	var lags []int64
	var stop atomic.Bool
	for i := 0; i < timers; i++ {
		next := time.Now().Add(period * time.Duration(i+1) / timers)
		go func() {
			for ; !stop.Load(); next = next.Add(period) {
				time.Sleep(time.Until(next))
				mutex.Lock()
				lags = append(lags, int64(time.Since(next)))
				mutex.Unlock()
			}
		}()
	}
	left := count
	var group sync.WaitGroup
	wall, used := time.Now(), cpu()
	for i := 0; i < tasks; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				if err := exec.Command("/bin/true").Run(); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		}()
	}
	group.Wait()
	wallNs, cpuNs := time.Since(wall).Nanoseconds(), cpu()-used
	stop.Store(true)
	mutex.Lock()
	sort.Slice(lags, func(i, j int) bool { return lags[i] < lags[j] })
	fmt.Printf("{\"peer\": \"%s\", \"row\": \"process\", \"ops\": %d, \"cpu_ns\": %d, \"wall_ns\": %d, "+
		"\"lag_p99_ns\": %d, \"lag_max_ns\": %d}\n", runtime.Version(), count, cpuNs, wallNs,
		lags[len(lags)*99/100], lags[len(lags)-1])
}
