// idle_go - idle connections of Go's net/http, as idle_eddy.c.
//
//	idle_go serve CONNECTIONS [CERT KEY]
//	idle_go hold SCHEME PORT CONNECTIONS
//	idle_go visit SCHEME PORT CONNECTIONS
//
// Memory that the collector has freed is given back to the system each second, which a program
// would not do.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(args []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	server := &http.Server{
		IdleTimeout:  time.Hour,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // HTTP/1 only
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "ok\n")
		}),
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if len(args) == 5 {
		fail(server.ServeTLS(listener, args[3], args[4]))
	}
	fail(server.Serve(listener))
}

func ask(client *http.Client, url string) {
	response, err := client.Get(url)
	fail(err)
	_, err = io.Copy(io.Discard, response.Body)
	fail(err)
	response.Body.Close()
}

func hold(scheme, port string, count int, visits bool) {
	var group sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns:        count,
		MaxIdleConnsPerHost: count,
		MaxConnsPerHost:     count,
		IdleConnTimeout:     time.Hour,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}}
	url := func(i int) string { return fmt.Sprintf("%s://c%d.bench.test:%s/", scheme, i, port) }
	ask(client, url(0))
	fmt.Println("warm")
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	fail(err)
	for i := 0; i < count; i++ {
		if visits {
			ask(client, url(i+1))
			continue
		}
		group.Add(1)
		go func() {
			defer group.Done()
			ask(client, url(0))
		}()
	}
	group.Wait()
	fmt.Println("idle")
	time.Sleep(time.Hour)
	runtime.KeepAlive(client)
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: idle_go serve|hold|visit ...")
		os.Exit(2)
	}
	go func() {
		for range time.Tick(time.Second) {
			debug.FreeOSMemory()
		}
	}()
	if os.Args[1] == "serve" {
		serve(os.Args)
	}
	count, err := strconv.Atoi(os.Args[4])
	fail(err)
	hold(os.Args[2], os.Args[3], count, os.Args[1] == "visit")
}
