//go:build race

package bench

import "syscall"

// Under the race detector the ordinary calls: they tell it that what a server
// in the same process did before it wrote, happened before what we do after we
// have read.

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
