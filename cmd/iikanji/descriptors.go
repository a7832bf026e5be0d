package main

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstInherited is the first descriptor after standard input, output and error.
const firstInherited = 3

// keepDescriptors keeps the descriptors that this process was started with from the
// services that it starts. A service outlives iikanji, and would hold a lock or an end of a
// pipe of iikanji's parent. A kernel without close_range (before Linux 5.11) has its
// descriptors listed.
func keepDescriptors() {
	if unix.CloseRange(firstInherited, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // without /proc nothing is known of them
	}
	for _, d := range open {
		if fd, err := strconv.Atoi(d.Name()); err == nil && fd >= firstInherited {
			unix.CloseOnExec(fd)
		}
	}
}
