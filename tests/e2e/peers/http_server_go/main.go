// http_server_go - the server of test_http_peers.py in Go; http_server.py describes it.
//
//	http_server_go FOLDER [CERT KEY]
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
)

const (
	events       = 40
	eventsAtOnce = 10
)

func sendEvents(w http.ResponseWriter, r *http.Request) {
	begin := 0
	if last, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil {
		begin = last + 1
	}
	if begin >= events {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "retry: 1\n\n")
	for i := begin; i < begin+eventsAtOnce; i++ {
		fmt.Fprintf(w, "event: tick\nid: %d\ndata: line %d\n\n", i, i)
	}
	if begin/eventsAtOnce%2 == 1 {
		fmt.Fprint(w, "data: half\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func echo(w http.ResponseWriter) {
	connection, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
	io.Copy(connection, buffered)
}

func answer(folder string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "PUT":
			digest := sha256.New()
			if _, err := io.Copy(digest, r.Body); err != nil {
				panic(err)
			}
			fmt.Fprintf(w, "%x", digest.Sum(nil))
		case r.URL.Path == "/events":
			sendEvents(w, r)
		case r.URL.Path == "/echo":
			echo(w)
		default:
			http.ServeFile(w, r, folder+r.URL.Path)
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	handler := answer(os.Args[1])
	if len(os.Args) > 3 {
		fmt.Printf("listening on https://%s\n", listener.Addr())
		err = http.ServeTLS(listener, handler, os.Args[2], os.Args[3])
	} else {
		fmt.Printf("listening on http://%s\n", listener.Addr())
		err = http.Serve(listener, handler)
	}
	panic(err)
}
