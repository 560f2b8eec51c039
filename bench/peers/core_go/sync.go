package main

import "sync"

func rowLock() {
	var mutex sync.Mutex
	begin()
	for ; done < count; done++ {
		mutex.Lock()
		mutex.Unlock()
	}
	end()
}

// Go has no event: a channel of capacity one, into which the signal is put.
func rowEvent() {
	there, back := make(chan struct{}, 1), make(chan struct{}, 1)
	go func() {
		for range there {
			back <- struct{}{}
		}
	}()
	begin()
	for ; done < count; done++ {
		there <- struct{}{}
		<-back
	}
	end()
	close(there)
}

func rowCondition() {
	var mutex sync.Mutex
	changed := sync.NewCond(&mutex)
	turn := 0
	go func() {
		mutex.Lock()
		for {
			for turn == 0 {
				changed.Wait()
			}
			turn = 0
			changed.Signal()
		}
	}()
	begin()
	mutex.Lock()
	for ; done < count; done++ {
		turn = 1
		changed.Signal()
		for turn == 1 {
			changed.Wait()
		}
	}
	mutex.Unlock()
	end()
}

// Go has no future: a channel of capacity one that serves once.
func rowFuture() {
	type request struct {
		there, back chan int
		next        *request
	}
	first := &request{there: make(chan int, 1), back: make(chan int, 1)}
	go func() {
		for at := first; ; at = at.next {
			item := <-at.there
			at.next = &request{there: make(chan int, 1), back: make(chan int, 1)}
			at.back <- item
		}
	}()
	begin()
	for at := first; done < count; done++ {
		at.there <- done
		if <-at.back != done {
			panic("the result came back changed")
		}
		at = at.next
	}
	end()
}

// The item goes there over one of two channels in turn.
func rowSelect() {
	there := [2]chan int{make(chan int, extra), make(chan int, extra)}
	back := make(chan int, extra)
	go func() {
		for {
			select {
			case item := <-there[0]:
				back <- item
			case item := <-there[1]:
				back <- item
			}
		}
	}()
	begin()
	for ; done < count; done++ {
		there[done%2] <- done
		if <-back != done {
			panic("the item came back changed")
		}
	}
	end()
}
