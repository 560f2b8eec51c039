package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

// lines appends result lines to a file, as `eddy fetch` writes them.  Workers
// add theirs to a buffer; a goroutine of its own writes what has come together
// since its last write, so that no line waits while nothing else happens.
type lines struct {
	file   *os.File
	mutex  sync.Mutex
	buffer []byte
	more   chan struct{}
	done   sync.WaitGroup
}

func linesOpen(path string) *lines {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		panic(err)
	}
	l := &lines{file: file, more: make(chan struct{}, 1)}
	l.done.Add(1)
	go l.write()
	return l
}

func (l *lines) write() {
	defer l.done.Done()
	var taken []byte
	for range l.more {
		l.mutex.Lock()
		taken, l.buffer = l.buffer, taken[:0]
		l.mutex.Unlock()
		if _, err := l.file.Write(taken); err != nil {
			panic(err)
		}
	}
}

// add appends the line of a response with status 200.
func (l *lines) add(index int64, url string, bodyBytes int64, elapsed time.Duration) {
	l.mutex.Lock()
	b := append(l.buffer, `{"index":`...)
	b = strconv.AppendInt(b, index, 10)
	b = append(b, `,"url":"`...)
	b = append(b, url...)
	b = append(b, `","status":200,"bytes":`...)
	b = strconv.AppendInt(b, bodyBytes, 10)
	b = append(b, `,"ms":`...)
	tenths := (int64(elapsed) + 50_000) / 100_000
	b = strconv.AppendInt(b, tenths/10, 10)
	b = append(b, '.', byte('0'+tenths%10))
	l.buffer = append(b, `,"attempts":1,"error":null}`+"\n"...)
	l.mutex.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// end writes what is left.
func (l *lines) end() {
	close(l.more)
	l.done.Wait()
	if err := l.file.Close(); err != nil {
		panic(err)
	}
}
