package change

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// writeTimes has the time of the last write of each file by this process, by
// Op.Location: the time since the start of the file's host. A wall clock may be set
// back between a write and a reload.
type writeTimes struct {
	mu sync.Mutex
	at map[string]time.Duration
}

// note notes that a file was written just now. A host without a clock is left out.
func (w *writeTimes) note(h host.Host, op iikanji.Op) {
	now, err := uptime(h)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		delete(w.at, op.Location())
		return
	}
	if w.at == nil {
		w.at = map[string]time.Duration{}
	}
	w.at[op.Location()] = now
}

// WrittenAt is the time since the start of the host at which this process wrote the
// file of an op; false if it did not, or the host has no clock.
func (s *Site) WrittenAt(op iikanji.Op) (time.Duration, bool) {
	s.written.mu.Lock()
	defer s.written.mu.Unlock()
	at, ok := s.written.at[op.Location()]
	return at, ok
}

// uptime is the time since the start of a host, in steps of 10 ms.
func uptime(h host.Host) (time.Duration, error) {
	text, err := h.Read("/proc/uptime")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the time since the start of the machine: %w", err)
	}
	return time.Duration(seconds*100+0.5) * (10 * time.Millisecond), nil
}
