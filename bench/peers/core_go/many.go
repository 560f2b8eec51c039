package main

import (
	"runtime"
	"sync"
	"time"
)

// goOn counts one operation; false: it was the last.
func goOn() bool {
	if done == count {
		return false // others have done the last one
	}
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
				more = goOn()
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
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
	timers := make([]*time.Timer, extra)
	begin()
	for done < count {
		for i := range timers {
			late := time.Duration(i*7919%1000) * time.Microsecond
			timers[i] = time.AfterFunc(10*time.Second+late, func() {})
		}
		for _, timer := range timers {
			timer.Stop()
		}
		done += extra
	}
	end()
}

func rowTimersFire() {
	begin()
	for done < count {
		wake := time.Now().Add(2*time.Millisecond + time.Duration(extra)*2*time.Microsecond)
		for i := 0; i < extra; i++ {
			time.AfterFunc(time.Until(wake), func() { done++ })
		}
		for {
			time.Sleep(time.Until(wake.Add(time.Millisecond)))
			if done%extra == 0 {
				break
			}
			wake = wake.Add(time.Millisecond)
		}
	}
	end()
}
