//go:build !go1.24

package main

func speakPlain() bool { return false }
