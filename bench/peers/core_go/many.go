package main

import (
	"runtime"
	"sync"
	"time"
)

// goOn counts one operation; false: it was the last.
func goOn() bool {
	if done == 0 {
		begin()
	}
	done++
	if done == count {
		end()
	}
	return done < count
}

// TASKS goroutines in pairs; unbuffered channels, Go's own habit.
func rowQueueMany() {
	pairsRun(func() (chan int, chan int) { return make(chan int), make(chan int) })
}

// Go has no event: channels of capacity one.
func rowEventMany() {
	pairsRun(func() (chan int, chan int) { return make(chan int, 1), make(chan int, 1) })
}

func pairsRun(channels func() (chan int, chan int)) {
	var group sync.WaitGroup
	for i := 0; i < extra/2; i++ {
		there, back := channels()
		group.Add(2)
		go func() {
			defer group.Done()
			for item := range there {
				back <- item
			}
		}()
		go func() {
			defer group.Done()
			for more := true; more; more = goOn() {
				there <- 1
				<-back
			}
			close(there)
		}()
	}
	group.Wait()
}

// All want one lock, and give way while they hold it.
func rowLockLine() {
	var mutex sync.Mutex
	var group sync.WaitGroup
	for i := 0; i < extra; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for more := true; more; {
				mutex.Lock()
				runtime.Gosched()
				more = done < count && goOn()
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
}

// timerSpread is up to a millisecond, as in core_eddy.h.
func timerSpread(i int) time.Duration {
	return time.Duration(i*7919%1000) * time.Microsecond
}

func rowDeadlineAmong() {
	timers := make([]*time.Timer, extra)
	for i := range timers {
		timers[i] = time.AfterFunc(1000*time.Second+time.Duration(i), func() {})
	}
	rowDeadline()
	for _, timer := range timers {
		timer.Stop()
	}
}

func rowTimersCancel() {
	timers := make([]*time.Timer, count)
	begin()
	for i := range timers {
		timers[i] = time.AfterFunc(10*time.Second+timerSpread(i), func() {})
	}
	for ; done < count; done++ {
		timers[done].Stop()
	}
	end()
}

func rowTimersFire() {
	timers := make([]*time.Timer, count)
	begin()
	wake := time.Now().Add(time.Duration(extra) * time.Millisecond)
	for i := range timers {
		timers[i] = time.AfterFunc(time.Until(wake)+timerSpread(i), func() { done++ })
	}
	for done < count {
		time.Sleep(20 * time.Millisecond)
	}
	end()
}
