// core_go - goroutines, channels and timers, measured as core_eddy.c does.
//
//	core_go ROW COUNT [TASKS | WAIT_MS | ITEMS]
//
// GOMAXPROCS comes from the environment.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var (
	count, extra, done int
	notes              string
	span               struct{ wall, cpu int64 }
)

// clockNs reads a clock of the system; 2 is CLOCK_PROCESS_CPUTIME_ID.
func clockNs(clock uintptr) int64 {
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func begin() {
	span.wall, span.cpu = clockNs(1), clockNs(2)
}

func end() {
	span.cpu = clockNs(2) - span.cpu
	span.wall = clockNs(1) - span.wall
}

// memoryKib is resident memory plus page tables.
func memoryKib() int {
	total := 0
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "VmRSS:") || strings.HasPrefix(line, "VmPTE:") {
			n, _ := strconv.Atoi(strings.Fields(line)[1])
			total += n
		}
	}
	return total
}

// One runtime.Gosched(): a switch to the next goroutine.  With GOMAXPROCS=1
// only one goroutine runs at a time, so that the counter needs no atomic;
// the scheduler's preemption falls between statements at worst once in 10 ms.
func rowYield() {
	var group sync.WaitGroup
	for i := 0; i < extra; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			runtime.Gosched()
			if done == 0 {
				begin()
			}
			for done < count {
				if done++; done == count {
					end()
				}
				runtime.Gosched()
			}
		}()
	}
	group.Wait()
}

// go, and a receive from an unbuffered channel to join.
func rowStartJoin() {
	joined := make(chan struct{})
	begin()
	for i := 0; i < count; i++ {
		go func() {
			done++
			joined <- struct{}{}
		}()
		<-joined
	}
	end()
}

// A WaitGroup of its own around one goroutine.
func rowScopeOne() {
	begin()
	for i := 0; i < count; i++ {
		var group sync.WaitGroup
		group.Add(1)
		go func() {
			done++
			group.Done()
		}()
		group.Wait()
	}
	end()
}

// A WaitGroup around TASKS (1,000) goroutines.
func rowStartBatch() {
	batch := 1000
	if extra > 0 {
		batch = extra
	}
	batches := count / batch
	if batches == 0 {
		batches = 1
	}
	for i := 0; i <= batches; i++ {
		// The clock starts after the first batch.
		if i == 1 {
			done = 0
			begin()
		}
		var group sync.WaitGroup
		group.Add(batch)
		for j := 0; j < batch; j++ {
			go func() {
				done++
				group.Done()
			}()
		}
		group.Wait()
	}
	end()
}

// Two channels of capacity TASKS: 1 as elsewhere, 0 is Go's own habit.
func rowQueue() {
	there, back := make(chan int, extra), make(chan int, extra)
	go func() {
		for item := range there {
			back <- item
		}
	}()
	begin()
	for ; done < count; done++ {
		there <- done
		if <-back != done {
			panic("the item came back changed")
		}
	}
	end()
	close(there)
}

func rowSleep() {
	var group sync.WaitGroup
	parked := 0
	before := memoryKib()
	begin()
	wake := time.Now().Add(time.Duration(extra) * time.Millisecond)
	for i := 0; i < count; i++ {
		group.Add(1)
		go func() {
			parked++
			time.Sleep(time.Until(wake))
			done++
			group.Done()
		}()
	}
	for parked < count {
		runtime.Gosched()
	}
	during := memoryKib()
	if !time.Now().Before(wake) {
		fmt.Fprintln(os.Stderr, "WAIT_MS is too short: not all were parked in time")
		os.Exit(1)
	}
	group.Wait()
	end()
	notes = fmt.Sprintf(", \"kib_per_task\": %.2f", float64(during-before)/float64(count))
}

// The idiom: a channel of capacity one as the semaphore.
func rowSemaphore() {
	semaphore := make(chan struct{}, 1)
	begin()
	for ; done < count; done++ {
		semaphore <- struct{}{}
		<-semaphore
	}
	end()
}

func rowDeadline() {
	background := context.Background()
	begin()
	for ; done < count; done++ {
		_, cancel := context.WithTimeout(background, 5*time.Second)
		cancel()
	}
	end()
}

func main() {
	rows := map[string]func(){
		"yield": rowYield, "start-join": rowStartJoin, "scope-one": rowScopeOne,
		"start-batch": rowStartBatch, "queue": rowQueue, "sleep": rowSleep,
		"semaphore": rowSemaphore, "deadline": rowDeadline,
		"lock": rowLock, "event": rowEvent, "condition": rowCondition, "future": rowFuture,
		"generator": rowGenerator, "select": rowSelect,
		"channel": rowChannel, "stream": rowStream,
		"file-read": rowFileRead, "file-write": rowFileWrite, "file-sync": rowFileSync,
		"file-open": rowFileOpen, "echo": rowEcho,
		"queue-many": rowQueueMany, "event-many": rowEventMany, "lock-line": rowLockLine,
		"deadline-among": rowDeadlineAmong,
		"timers-cancel":  rowTimersCancel, "timers-fire": rowTimersFire,
	}
	if len(os.Args) < 3 || rows[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: core_go ROW COUNT [TASKS | WAIT_MS | ITEMS]")
		os.Exit(2)
	}
	count, _ = strconv.Atoi(os.Args[2])
	if len(os.Args) > 3 {
		extra, _ = strconv.Atoi(os.Args[3])
	}
	rows[os.Args[1]]()
	fmt.Printf("{\"peer\": \"%s GOMAXPROCS=%d\", \"row\": \"%s\", \"ops\": %d, \"cpu_ns\": %d, "+
		"\"wall_ns\": %d%s}\n", runtime.Version(), runtime.GOMAXPROCS(0), os.Args[1], done,
		span.cpu, span.wall, notes)
}
