package main

import (
	"os"
	"os/signal"
	"syscall"
)

// Stopped waits for a signal: the capacity of its channel throttles no work.
func Stopped() {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	<-c
}
