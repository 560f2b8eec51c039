//go:build !go1.23

package main

// Before iter.Pull: a goroutine and an unbuffered channel.
func rowGenerator() {
	values := make(chan int)
	go func() {
		for i := 0; i < count; i++ {
			values <- i
		}
		close(values)
	}()
	begin()
	for value := range values {
		if value != done {
			panic("a value is missing")
		}
		done++
	}
	end()
}
