package hoststat

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A threadCounter is the time of a thread on a core, and its number of turns there.
type threadCounter struct {
	ran   time.Duration
	turns uint64
}

// threadsOf reads the core time of each thread of a process. The process's own
// status has the turns of its first thread only, so each thread's schedstat is
// read: time on a core in ns, time waiting for a core, and turns
// (Documentation/scheduler/sched-stats in the kernel's source). The result is
// empty if the kernel does not have schedstat.
func threadsOf(mount string, pid int, buf []byte) map[int]threadCounter {
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
	threads := make(map[int]threadCounter, len(names))
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
		ran, err1 := strconv.ParseInt(string(fields[0]), 10, 64)
		turns, err2 := strconv.ParseUint(string(fields[2]), 10, 64)
		if err1 == nil && err2 == nil {
			threads[tid] = threadCounter{time.Duration(ran), turns}
		}
	}
	return threads
}

// threadsBetween sums up the turns of all threads since before, and finds the time
// of the thread that ran longest. A thread that is new, or that has the reused
// number of an ended thread, starts at 0.
func threadsBetween(before, now map[int]threadCounter) (turns uint64, longest time.Duration) {
	for tid, n := range now {
		if was := before[tid]; n.turns >= was.turns {
			n.turns -= was.turns
			n.ran = max(0, n.ran-was.ran)
		}
		turns += n.turns
		longest = max(longest, n.ran)
	}
	return turns, longest
}
