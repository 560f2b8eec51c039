// server_go - an HTTP server of net/http that answers a short JSON text; see server_eddy.c.
//
//	server_go respond   one Write: net/http finds the length
//	server_go known     with Content-Length
//	server_go unknown   chunked: head, chunk and last chunk leave together
//	server_go json      json.Marshal of a struct
//	server_go route     by a ServeMux that has one route
//	server_go routes    ... that has 1,000 routes
//	server_go folder DIR  http.FileServer of a folder
//	server_go WAY CERT KEY
//
// Prints its port, serves until SIGTERM, and then prints how many requests it answered.
package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
)

type hello struct {
	Message string `json:"message"`
}

var body = []byte(`{"message":"Hello, World!"}`)
var answers int64

// A handler that sets one more header, unless its name is "".
func writes(name, value string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		atomic.AddInt64(&answers, 1)
		w.Header()["Content-Type"] = []string{"application/json"}
		if name != "" {
			w.Header()[name] = []string{value}
		}
		w.Write(body)
	}
}

func writesJSON(w http.ResponseWriter, _ *http.Request) {
	atomic.AddInt64(&answers, 1)
	text, err := json.Marshal(hello{"Hello, World!"})
	if err != nil {
		panic(err)
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	w.Write(text)
}

func routes(count int) http.Handler {
	mux, answer := http.NewServeMux(), writes("", "")
	item := func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "" {
			panic("no id")
		}
		answer(w, r)
	}
	for i := 0; i < count; i++ {
		mux.HandleFunc(fmt.Sprintf("GET /api/r%03d/{id}", i), item)
	}
	return mux
}

func main() {
	folder := ""
	if len(os.Args) > 2 && os.Args[1] == "folder" {
		folder = os.Args[2]
		os.Args = append(os.Args[:2], os.Args[3:]...)
	}
	if len(os.Args) != 2 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: server_go WAY [CERT KEY]")
		os.Exit(2)
	}
	var handler http.Handler
	switch os.Args[1] {
	case "respond":
		handler = writes("", "")
	case "known":
		handler = writes("Content-Length", fmt.Sprint(len(body)))
	case "unknown":
		handler = writes("Transfer-Encoding", "chunked")
	case "json":
		handler = http.HandlerFunc(writesJSON)
	case "folder":
		handler = http.FileServer(http.Dir(folder))
	case "route":
		handler = routes(1)
	case "routes":
		handler = routes(1000)
	default:
		fmt.Fprintln(os.Stderr, "no such way to answer")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if len(os.Args) == 4 {
		// Without HTTP/2, as the others.
		server := &http.Server{Handler: handler, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}}
		go server.ServeTLS(listener, os.Args[2], os.Args[3])
	} else {
		go http.Serve(listener, handler)
	}
	<-ended
	fmt.Printf("{\"peer\": \"net/http %s\", \"ops\": %d}\n", runtime.Version(), atomic.LoadInt64(&answers))
}
