//go:build go1.23

package main

import "iter"

// iter.Pull: the function runs to its next value when that is asked for.
func rowGenerator() {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; i < count; i++ {
			if !yield(i) {
				return
			}
		}
	})
	begin()
	for {
		value, ok := next()
		if !ok {
			break
		}
		if value != done {
			panic("a value is missing")
		}
		done++
	}
	end()
	stop()
}
