// routes.go - Go's http.ServeMux with the patterns of tests/wire/routes.h, for
// tools/request-table: answers with 200.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
)

func main() {
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /{$}", "GET /users/me", "GET /users/{id}", "DELETE /users/{id}", "/any",
		"OPTIONS /own", "GET /folder/{$}", "GET /files/{rest...}", "GET /api/{v}/users/{id}",
		"POST /api/{v}/users/{id}"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, mux))
}
