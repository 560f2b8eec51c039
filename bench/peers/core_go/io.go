package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
)

const pieceBytes, messageMax = 4096, 1024

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// COUNT operations by TASKS goroutines, on a file of the current folder.
func repeat(operation func(file *os.File, piece []byte, task int) error) {
	path := fmt.Sprintf("eddy-bench-%d", os.Getpid())
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0600)
	must(err)
	defer os.Remove(path)
	defer file.Close()
	_, err = file.WriteAt(make([]byte, extra*pieceBytes), 0)
	must(err)
	var group sync.WaitGroup
	var begun atomic.Int64
	begin()
	for task := 0; task < extra; task++ {
		group.Add(1)
		go func(task int) {
			defer group.Done()
			piece := make([]byte, pieceBytes)
			for begun.Add(1) <= int64(count) {
				must(operation(file, piece, task))
			}
		}(task)
	}
	group.Wait()
	end()
	done = count
}

func writePiece(file *os.File, piece []byte, task int) error {
	_, err := file.WriteAt(piece, int64(task*pieceBytes))
	return err
}

// ReadAt, WriteAt and Sync block their threads.
func rowFileRead() {
	repeat(func(file *os.File, piece []byte, task int) error {
		_, err := file.ReadAt(piece, 0)
		return err
	})
}

func rowFileWrite() {
	repeat(writePiece)
}

func rowFileSync() {
	repeat(func(file *os.File, piece []byte, task int) error {
		if err := writePiece(file, piece, task); err != nil {
			return err
		}
		return file.Sync()
	})
}

func rowFileOpen() {
	repeat(func(file *os.File, piece []byte, task int) error {
		own, err := os.Open(file.Name())
		if err != nil {
			return err
		}
		if _, err = io.ReadFull(own, piece); err != nil {
			return err
		}
		return own.Close()
	})
}

// A server of COUNT connections, which prints its port.
func rowEcho() {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	var group sync.WaitGroup
	var echoed atomic.Int64
	for i := 0; i < count; i++ {
		conn, err := listener.Accept()
		must(err)
		group.Add(1)
		go func() {
			defer group.Done()
			defer conn.Close()
			buf := make([]byte, messageMax)
			n := int64(0)
			for {
				bytes, err := conn.Read(buf)
				if err != nil {
					break
				}
				_, err = conn.Write(buf[:bytes])
				must(err)
				n++
			}
			echoed.Add(n)
		}()
	}
	listener.Close()
	group.Wait()
	done = int(echoed.Load())
}
