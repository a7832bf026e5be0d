package observe

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
)

// locksEvery is the time between two readings of /proc/locks. A reading takes well
// below a millisecond.
const locksEvery = 50 * time.Millisecond

// A fileLocks samples which threads wait for a lock of a whole file (flock) in some
// folders. The kernel lists each waiting thread in /proc/locks.
//
// It does not see a lock that is polled (LOCK_NB in a loop, SQLite's own locks of a
// busy file): between two tries no thread waits in the kernel.
type fileLocks struct {
	host    host.Host
	folders []string
	paths   map[uint64]string // by inode
	waited  map[string]time.Duration
	sum     iikanji.FileLockWait

	quit chan struct{} // nil when it does not run
	done sync.WaitGroup
}

func newFileLocks(h host.Host, folders []string) *fileLocks {
	return &fileLocks{host: h, folders: folders, paths: map[uint64]string{}, waited: map[string]time.Duration{}}
}

// begin starts the samples. Another host is not sampled: each reading would be a round
// trip.
func (l *fileLocks) begin() {
	if l.host.Name() != "" || l.quit != nil {
		return
	}
	l.quit = make(chan struct{})
	l.look()
	l.done.Go(l.run)
}

func (l *fileLocks) run() {
	tick := time.NewTicker(locksEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
		}
		text, err := l.host.Read(filepath.Join(l.host.ProcFolder(), "locks"))
		if err != nil {
			return
		}
		now := time.Now()
		l.add(string(text), now.Sub(last))
		last = now
	}
}

// waiters are the threads that wait for one lock of a file.
type waiters struct{ reads, writes int64 }

func (w waiters) all() int64 { return w.reads + w.writes }

// add adds one sample of /proc/locks, which stands for the time since the last one.
//
// The kernel makes the file page by page. If locks begin or end meanwhile, it lists a lock
// with its waiting threads twice, with two numbers: of the locks of a file, the one with
// the most threads counts.
func (l *fileLocks) add(text string, since time.Duration) {
	l.sum.Samples++
	locks, files := map[[2]string]waiters{}, map[string]waiters{}
	for line := range strings.Lines(text) {
		w, ok := flockWaiter(line)
		if !ok {
			continue
		}
		path := l.path(w.inode)
		if path == "" {
			continue
		}
		lock := [2]string{path, w.lock}
		n := locks[lock]
		if w.shared {
			n.reads++
		} else {
			n.writes++
		}
		if locks[lock] = n; n.all() > files[path].all() {
			files[path] = n
		}
	}
	var sum waiters
	for path, n := range files {
		sum.reads += n.reads
		sum.writes += n.writes
		l.waited[path] += time.Duration(n.all()) * since
	}
	l.sum.Reads += sum.reads
	l.sum.Writes += sum.writes
	l.sum.Waited += time.Duration(sum.all()) * since
	if sum.all() > 0 {
		l.sum.Seen++
		l.sum.Most = max(l.sum.Most, sum.all())
	}
}

// path is the path of a file in the folders; "" for another one.
func (l *fileLocks) path(inode uint64) string {
	path, known := l.paths[inode]
	if !known { // a file made since
		l.look()
		if path, known = l.paths[inode]; !known {
			l.paths[inode] = ""
		}
	}
	return path
}

// A flockWait is a thread that waits in flock.
type flockWait struct {
	lock   string // the number of the lock that it waits for, in this reading
	inode  uint64
	shared bool
}

// flockWaiter parses a line of /proc/locks that is a thread waiting in flock:
//
//	7: -> FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF
//
// The device is not compared: some file systems show another one there.
func flockWaiter(line string) (w flockWait, ok bool) {
	f := strings.Fields(line)
	if len(f) < 7 || f[1] != "->" || f[2] != "FLOCK" {
		return w, false
	}
	id := f[6]
	inode, err := strconv.ParseUint(id[strings.LastIndexByte(id, ':')+1:], 10, 64)
	return flockWait{lock: f[0], inode: inode, shared: f[4] == "READ"}, err == nil
}

// look lists the files of the folders.
func (l *fileLocks) look() {
	for _, dir := range l.folders {
		n := 0
		_ = l.host.Walk(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not waited for
			if err != nil || d.IsDir() {
				return nil
			}
			if n++; n > sqlitefile.MaxFiles {
				return filepath.SkipAll
			}
			if info, err := d.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					l.paths[st.Ino] = path
				}
			}
			return nil
		})
	}
}

// end stops the samples; it may be called again.
func (l *fileLocks) end() {
	if l.quit == nil {
		return
	}
	close(l.quit)
	l.done.Wait()
	l.quit = nil
}

// facts are the waits that were seen; none if no thread waited.
func (l *fileLocks) facts(service string) []iikanji.Fact {
	sum := l.sum
	if sum.Waited == 0 {
		return nil
	}
	worst := time.Duration(0)
	for path, d := range l.waited {
		if sum.Files++; d > worst || d == worst && path < sum.Worst {
			worst, sum.Worst = d, path
		}
	}
	b, err := json.Marshal(sum)
	if err != nil {
		panic("BUG: packing the waits for locks of files: " + err.Error())
	}
	return []iikanji.Fact{{Target: service, Topic: iikanji.TopicFileLock, Key: service, Value: string(b), Moves: true}}
}
