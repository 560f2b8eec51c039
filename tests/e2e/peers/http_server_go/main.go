// http_server_go - the server of test_http_peers.py in Go; http_server.py describes it.
//
//	http_server_go FOLDER [CERT KEY]
//
// With the environment variable H2C, HTTP/2 without TLS, and 10 streams at once.
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

func sent(w http.ResponseWriter, r *http.Request) {
	bytes, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		panic(err)
	}
	sum := r.Trailer.Get("X-Sum")
	if sum == "" {
		sum = "none"
	}
	fmt.Fprintf(w, "%d %s", bytes, sum)
}

func parts(w http.ResponseWriter) {
	w.Header().Set("Link", "</style.css>; rel=preload")
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Set("Trailer", "X-Sum")
	for i := 0; i < 3; i++ {
		fmt.Fprint(w, "part")
		w.(http.Flusher).Flush()
	}
	w.Header().Set("X-Sum", "3")
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
		case r.URL.Path == "/expect":
			sent(w, r)
		case r.URL.Path == "/parts":
			parts(w)
		case r.URL.Path == "/last":
			w.Header().Set("Connection", "close")
			fmt.Fprint(w, "last")
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
	server := &http.Server{Handler: answer(os.Args[1])}
	if os.Getenv("H2C") != "" && !speakPlain(server) {
		fmt.Println("Go before 1.24 has no HTTP/2 without TLS")
		os.Exit(77)
	}
	if len(os.Args) > 3 {
		fmt.Printf("listening on https://%s\n", listener.Addr())
		err = server.ServeTLS(listener, os.Args[2], os.Args[3])
	} else {
		fmt.Printf("listening on http://%s\n", listener.Addr())
		err = server.Serve(listener)
	}
	panic(err)
}
