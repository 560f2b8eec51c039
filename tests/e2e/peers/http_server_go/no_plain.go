//go:build !go1.24

package main

import "net/http"

func speakPlain(*http.Server) bool { return false }
