package main

import "runtime"

// Two goroutines, each locked to a thread of its own; channels of capacity
// ITEMS.  GOMAXPROCS=1 is faster than 2 here too.
func rowChannel() {
	there, back := make(chan int, extra), make(chan int, extra)
	runtime.LockOSThread()
	go func() {
		runtime.LockOSThread()
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

// One way, over a channel of ITEMS.
func rowStream() {
	there, back := make(chan int, extra), make(chan int)
	runtime.LockOSThread()
	go func() {
		runtime.LockOSThread()
		n := 0
		for item := range there {
			if item != n {
				panic("an item is missing")
			}
			n++
		}
		back <- n
	}()
	begin()
	for i := 0; i < count; i++ {
		there <- i
	}
	close(there)
	done = <-back
	end()
}
