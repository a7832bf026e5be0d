package propose

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// markName is a variable of a proposer's environment that its descendants inherit.
const markName = "IIKANJI_PROPOSER"

// adopt makes this process the parent of every descendant of a program whose own
// parent ends, also of those in a session of their own. The function that it
// returns kills them and ends the adoption; call it when the program has ended.
func adopt(mark string) (release func(), err error) {
	before := childrenOf(os.Getpid())
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("adopting its descendants: %w", err)
	}
	return func() {
		killAdopted(before, mark)
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}, nil
}

// killAdopted kills new children of this process until none is left; the children
// of those that it kills become its own. A process is the proposer's if it has
// the mark or is a session leader that this process did not start: this process
// starts none beside a proposer.
func killAdopted(before []int, mark string) {
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		left := 0
		for _, pid := range childrenOf(os.Getpid()) {
			if slices.Contains(before, pid) || !marked(pid, mark) && !leads(pid) {
				continue
			}
			left++
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil) // it is not a child of os/exec
		}
		if left == 0 {
			return
		}
	}
}

// childrenOf lists the direct children of a process, of all of its threads.
func childrenOf(pid int) []int {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	var all []int
	for _, t := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// marked reports whether a process was started with the mark. A zombie has no
// environment; it counts, to be reaped.
func marked(pid int, mark string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00"))
}

// leads reports whether a process leads a session.
func leads(pid int) bool {
	sid, err := unix.Getsid(pid)
	return err == nil && sid == pid
}
