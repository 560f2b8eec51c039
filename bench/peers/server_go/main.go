// server_go - an HTTP server of net/http whose handler answers 128 bytes.
//
//	server_go respond   one Write: net/http finds the length
//	server_go known     with Content-Length
//	server_go unknown   chunked: head, chunk and last chunk leave together
//
// Prints its port, serves until SIGTERM, and then prints how many requests it answered.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
)

var body = []byte(strings.Repeat("x", 127) + "\n")

func main() {
	ways := map[string][2]string{
		"respond": {},
		"known":   {"Content-Length", "128"},
		"unknown": {"Transfer-Encoding", "chunked"},
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: server_go respond|known|unknown")
		os.Exit(2)
	}
	way, found := ways[os.Args[1]]
	if !found {
		fmt.Fprintln(os.Stderr, "no such way to answer")
		os.Exit(2)
	}
	var answers int64
	handler := func(w http.ResponseWriter, _ *http.Request) {
		atomic.AddInt64(&answers, 1)
		w.Header()["Content-Type"] = []string{"text/plain"}
		if way[0] != "" {
			w.Header()[way[0]] = []string{way[1]}
		}
		w.Write(body)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go http.Serve(listener, http.HandlerFunc(handler))
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	<-ended
	fmt.Printf("{\"peer\": \"net/http %s\", \"ops\": %d}\n", runtime.Version(), atomic.LoadInt64(&answers))
}
