// http_stray_go - what "peer_calls stray" does, with Go's client.
//
//	http_stray_go URL COUNT [CONTROL]
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
)

func ask(url string) (string, error) {
	response, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func main() {
	// A line for each answer without a request.
	log.SetOutput(io.Discard)
	count, _ := strconv.Atoi(os.Args[2])
	right, wrong, failed := 0, 0, 0
	for i := 0; i < count; i++ {
		answer, err := ask(fmt.Sprintf("%s/%d", os.Args[1], i))
		if err != nil {
			failed++
		} else if answer == strconv.Itoa(i) {
			right++
		} else {
			wrong++
		}
		if len(os.Args) > 3 {
			if _, err := ask(os.Args[3]); err != nil {
				panic(err)
			}
		}
	}
	fmt.Println(right, wrong, failed)
}
