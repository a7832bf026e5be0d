package history

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockDir locks the folder for one writer. The lock is on the folder itself, so
// that no lock file is left behind, and the kernel releases it when the process
// ends.
func lockDir(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the history: %w", err)
	}
	err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return d, nil
	}
	defer d.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("locking the history %s: %w", dir, err)
	}
	holder := "another process"
	if pid := lockHolder(d); pid > 0 {
		holder = fmt.Sprintf("process %d", pid)
	}
	return nil, &hintError{fmt.Errorf("the history %s is being written by %s", dir, holder),
		[]string{"wait for it to end, or use another folder"}}
}

// unlockDir releases the lock of lockDir. Closing alone is not enough: a child
// process that is just being started holds a copy of every descriptor until it
// executes its program, and with it the lock.
func unlockDir(d *os.File) error {
	err := syscall.Flock(int(d.Fd()), syscall.LOCK_UN)
	return errors.Join(err, d.Close())
}

// lockHolder returns the id of the process that holds the lock on a folder, from
// /proc/locks (proc_locks(5), Linux only); 0 if it cannot be found.
func lockHolder(d *os.File) int {
	info, err := d.Stat()
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	inode := ":" + strconv.FormatUint(st.Ino, 10)
	for line := range strings.Lines(string(locks)) {
		// "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"
		f := strings.Fields(line)
		if len(f) >= 6 && f[1] == "FLOCK" && strings.HasSuffix(f[5], inode) {
			pid, _ := strconv.Atoi(f[4])
			return pid
		}
	}
	return 0
}
