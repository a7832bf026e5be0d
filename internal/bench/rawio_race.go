//go:build race

package bench

import "syscall"

// With the race detector the ordinary calls are used: they establish that the
// writes of a server in the same process happened before the reads here.

func readNow(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), b)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func writeNow(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), b)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
