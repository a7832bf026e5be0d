package hoststat

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// switchesOf counts how often the threads of a process got a core, by thread.
// The process's own status has the count of its first thread only, so each
// thread's schedstat is read: time on a core, time waited for one, and turns
// (Documentation/scheduler/sched-stats in the kernel's source). A kernel
// without it counts nothing.
func switchesOf(mount string, pid int, buf []byte) map[int]uint64 {
	dir := filepath.Join(mount, strconv.Itoa(pid), "task")
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	names, err := d.Readdirnames(-1)
	d.Close()
	if err != nil {
		return nil
	}
	turns := make(map[int]uint64, len(names))
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name, "schedstat"))
		if err != nil { // it has ended
			continue
		}
		n, _ := f.Read(buf)
		f.Close()
		fields := bytes.Fields(buf[:n])
		tid, err := strconv.Atoi(name)
		if err != nil || len(fields) < 3 {
			continue
		}
		if v, err := strconv.ParseUint(string(fields[2]), 10, 64); err == nil {
			turns[tid] = v
		}
	}
	return turns
}

// turnsBetween adds up what each thread counted since before; a thread that
// was not there before, or that got an ended one's number, began at 0.
func turnsBetween(before, now map[int]uint64) (sum uint64) {
	for tid, n := range now {
		if was := before[tid]; n >= was {
			sum += n - was
		} else {
			sum += n
		}
	}
	return sum
}
