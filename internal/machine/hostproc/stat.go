// Package hostproc reads single processes of a host from /proc.
//
// It decides nothing. Only root sees the environment of another user's processes.
package hostproc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TicksPerSecond is the unit of times in /proc/PID/stat: USER_HZ, which is 100 on
// every architecture that Linux gives to user space.
const TicksPerSecond = 100

// A Stat is the part of /proc/PID/stat that identifies a process. The kernel reuses
// process ids; PID and Started together are unique within one boot.
type Stat struct {
	PID, Parent, Session int
	State                byte   // the letter of the kernel, as in 'S' or 'Z'
	Name                 string // the kernel's short name
	Started              uint64 // clock ticks since boot
}

// SinceBoot is the time of the start since that of the host, in steps of 10 ms.
func (s Stat) SinceBoot() time.Duration {
	return time.Duration(s.Started) * (time.Second / TicksPerSecond)
}

// ReadStat reads one process. The error wraps that of the file: fs.ErrNotExist if
// there is no such process, or ESRCH while it ends.
func ReadStat(h host.Host, pid int) (Stat, error) {
	text, err := h.Read(file(pid, "stat"))
	if err != nil {
		return Stat{PID: pid}, fmt.Errorf("reading process %d: %w", pid, err)
	}
	return ParseStat(pid, string(text))
}

// ParseStat parses the content of /proc/PID/stat. The name in brackets may hold any
// character, also brackets and blanks.
func ParseStat(pid int, text string) (Stat, error) {
	s := Stat{PID: pid}
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return s, fmt.Errorf("reading the state of process %d: %.40q", pid, text)
	}
	s.Name = text[open+1 : end]
	rest := strings.Fields(text[end+1:])
	const state, parent, session, started = 0, 1, 3, 19
	if len(rest) <= started {
		return s, fmt.Errorf("reading the state of process %d: %.40q", pid, text)
	}
	s.State = rest[state][0]
	var errs [3]error
	s.Parent, errs[0] = strconv.Atoi(rest[parent])
	s.Session, errs[1] = strconv.Atoi(rest[session])
	s.Started, errs[2] = strconv.ParseUint(rest[started], 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return s, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	return s, nil
}

// Ended reports whether the process has ended: only its exit status is left.
func (s Stat) Ended() bool { return s.State == 'Z' || s.State == 'X' }

// Alive reports whether exactly this process still runs.
func (s Stat) Alive(h host.Host) bool {
	now, err := ReadStat(h, s.PID)
	return err == nil && now.Started == s.Started && !now.Ended()
}

// IDs lists the processes of a host.
func IDs(h host.Host) ([]int, error) {
	entries, err := h.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing the processes: %w", err)
	}
	var ids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, pid)
		}
	}
	return ids, nil
}

// Stats reads all processes of a host. One that ends meanwhile is left out.
func Stats(h host.Host) ([]Stat, error) {
	return statsTask().On(context.Background(), h, nothing{})
}

// nothing are the arguments of a task without any. The encoding wants a field.
type nothing struct{ Nothing bool }

func statsTask() host.Task[nothing, []Stat] {
	return host.Task[nothing, []Stat]{Name: "stats", Do: func(_ context.Context, h host.Host, _ nothing) ([]Stat, error) { return readStats(h) }}
}

func openFilesTask() host.Task[int, []OpenFile] {
	return host.Task[int, []OpenFile]{Name: "open-files", Do: func(_ context.Context, h host.Host, pid int) ([]OpenFile, error) { return readOpenFiles(h, pid) }}
}

// Tasks are what the far end of a host carries out for this package: each of them reads many
// small files.
func Tasks() []host.Served { return []host.Served{statsTask(), openFilesTask()} }

func readStats(h host.Host) ([]Stat, error) {
	ids, err := IDs(h)
	if err != nil {
		return nil, err
	}
	var all []Stat
	for _, pid := range ids {
		if s, err := ReadStat(h, pid); err == nil {
			all = append(all, s)
		}
	}
	return all, nil
}

// Forked are the children that the main thread of a process has started. The kernel
// lists them without reading every process of the host.
func Forked(h host.Host, pid int) ([]int, error) {
	text, err := h.Read(file(pid, fmt.Sprintf("task/%d/children", pid)))
	if err != nil {
		return nil, fmt.Errorf("listing the children of process %d: %w", pid, err)
	}
	var ids []int
	for word := range strings.FieldsSeq(string(text)) {
		if id, err := strconv.Atoi(word); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Self is the process that reads, where a process id is expected.
const Self = 0

func file(pid int, name string) string {
	if pid == Self {
		return "/proc/self/" + name
	}
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}
