// http_go - Go's net/http with a Transport tuned for one host.
//
//	http_go URL REQUESTS CONNECTIONS [FILE]
//
// As its documentation advises: one Client and Transport for all, idle
// connections kept for every worker (the default keeps two per host), bodies
// read to their end and closed so that connections are reused.  Compression,
// proxies and HTTP/2, which this server does not speak, are off.  Requests
// and buffers are reused.  GOMAXPROCS and GOGC come from the environment.  With
// FILE a line for each response is appended to it.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func cpuNs() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// readAll reads into the worker's own buffer and counts.
func readAll(body io.Reader, buffer []byte) (int64, error) {
	var total int64
	for {
		n, err := body.Read(buffer)
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

func main() {
	if len(os.Args) != 4 && len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: http_go URL REQUESTS CONNECTIONS [FILE]")
		os.Exit(2)
	}
	url := os.Args[1]
	count, err1 := strconv.ParseInt(os.Args[2], 10, 64)
	width, err2 := strconv.Atoi(os.Args[3])
	if err1 != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, "counts must be numbers")
		os.Exit(2)
	}

	var opened, started, ok, done, bodyBytes int64
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	cpu, wall := cpuNs(), time.Now()
	client := &http.Client{Transport: &http.Transport{
		DialContext:         countDials(dialer, &opened),
		MaxIdleConns:        width,
		MaxIdleConnsPerHost: width,
		MaxConnsPerHost:     width,
		DisableCompression:  true,
	}}
	var out *lines
	if len(os.Args) == 5 {
		out = linesOpen(os.Args[4])
	}
	var group sync.WaitGroup
	for i := 0; i < width; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			buffer := make([]byte, 32768)
			request, err := http.NewRequest("GET", url, nil)
			if err != nil {
				panic(err)
			}
			for {
				index := atomic.AddInt64(&started, 1) - 1
				if index >= count {
					break
				}
				atomic.AddInt64(&done, 1)
				var begin time.Time
				if out != nil {
					begin = time.Now()
				}
				response, err := client.Do(request)
				if err != nil {
					continue
				}
				n, err := readAll(response.Body, buffer)
				response.Body.Close()
				atomic.CompareAndSwapInt64(&bodyBytes, 0, n)
				if err == nil && response.StatusCode == 200 && n == atomic.LoadInt64(&bodyBytes) {
					atomic.AddInt64(&ok, 1)
					if out != nil {
						out.add(index, url, n, time.Since(begin))
					}
				}
			}
		}()
	}
	group.Wait()
	if out != nil {
		out.end()
	}
	wallNs := time.Since(wall).Nanoseconds()
	cpu = cpuNs() - cpu
	fmt.Printf("{\"client\": \"net/http %s GOMAXPROCS=%d\", \"requests\": %d, \"ok\": %d, "+
		"\"connections\": %d, \"cpu_ns\": %d, \"wall_ns\": %d}\n",
		runtime.Version(), runtime.GOMAXPROCS(0), done, ok, opened, cpu, wallNs)
}
