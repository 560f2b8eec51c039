// tls_go - TLS handshakes by Go's crypto/tls.
//
//	tls_go full PORT HANDSHAKES WIDTH     connect, ask and close, WIDTH goroutines
//	tls_go resumed PORT HANDSHAKES WIDTH  the same, each goroutine with a session cache
//
// Handshakes ask for "/reused", as those of tls_floor.c do.  Only X25519 is
// offered, as OpenSSL does here: Go would add a post-quantum key share.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const request = "GET /reused HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

func cpuNs() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// ask returns the last byte of the answer.
func ask(address string, config *tls.Config, buffer []byte) (byte, error) {
	connection, err := tls.Dial("tcp", address, config)
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	if _, err := connection.Write([]byte(request)); err != nil {
		return 0, err
	}
	var last byte
	for {
		n, err := connection.Read(buffer)
		if n > 0 {
			last = buffer[n-1]
		}
		if err == io.EOF {
			return last, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: tls_go full|resumed PORT HANDSHAKES WIDTH")
		os.Exit(2)
	}
	address := "127.0.0.1:" + os.Args[2]
	count, err1 := strconv.ParseInt(os.Args[3], 10, 64)
	width, err2 := strconv.Atoi(os.Args[4])
	if err1 != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, "counts must be numbers")
		os.Exit(2)
	}

	var started, ok, resumed int64
	cpu, wall := cpuNs(), time.Now()
	var group sync.WaitGroup
	for i := 0; i < width; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			buffer := make([]byte, 4096)
			config := &tls.Config{
				MinVersion:       tls.VersionTLS13,
				CurvePreferences: []tls.CurveID{tls.X25519},
			}
			if os.Args[1] == "resumed" {
				config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			}
			for atomic.AddInt64(&started, 1) <= count {
				last, err := ask(address, config, buffer)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					continue
				}
				atomic.AddInt64(&ok, 1)
				if last == 'r' {
					atomic.AddInt64(&resumed, 1)
				}
			}
		}()
	}
	group.Wait()
	wallNs := time.Since(wall).Nanoseconds()
	cpu = cpuNs() - cpu
	fmt.Printf("{\"client\": \"crypto/tls %s GOMAXPROCS=%d\", \"ok\": %d, \"resumed\": %d, "+
		"\"cpu_ns\": %d, \"wall_ns\": %d}\n",
		runtime.Version(), runtime.GOMAXPROCS(0), ok, resumed, cpu, wallNs)
}
