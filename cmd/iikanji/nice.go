package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// niceSays is a warning about a nice value that does not protect measurements; ""
// if this process has none, or if it works.
func niceSays() string {
	prio, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	nice := 20 - prio // the system call returns 20 - nice
	if err != nil || nice == 0 || !hoststat.Autogroup(host.Local{}, os.Getpid()) {
		return ""
	}
	return fmt.Sprintf("nice %d has no effect on programs of other sessions here, because the kernel shares the CPU between sessions first "+
		"(sched_autogroup): write the value to /proc/self/autogroup of the session instead", nice)
}
