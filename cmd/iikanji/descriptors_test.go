package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKeepDescriptors: a program that iikanji starts has none of the descriptors that
// iikanji was started with.
func TestKeepDescriptors(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil { // without close-on-exec, as a parent leaves it
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	inherited := func() bool {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "ls -l /proc/$$/fd").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var pipe unix.Stat_t
		if err := unix.Fstat(ends[0], &pipe); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(out), fmt.Sprintf("pipe:[%d]", pipe.Ino))
	}
	if !inherited() {
		t.Fatal("the pipe is not inherited before: the test shows nothing")
	}
	keepDescriptors()
	if inherited() {
		t.Error("a program has the pipe")
	}
}

// TestOnThisMachine: a URL of a loopback or of an interface is this machine's.
func TestOnThisMachine(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "https://[::1]:443/x": true,
		"http://192.0.2.1": false, "http://shop.example": false, "http://%zz": false,
	} {
		if got := onThisMachine(url); got != want {
			t.Errorf("%s: %v, want %v", url, got, want)
		}
	}
}
