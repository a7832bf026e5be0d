package node_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// TestBackup: the machine of a portal burns down in the middle of runs. A portal of the backup that
// was made a moment before goes on at the same address: what it had is there, its board is equal, its
// workers and their tokens are known, and every run that was open has one result in the end.
func TestBackup(t *testing.T) {
	tier.Slow(t)
	s := newSystem(t, 4, 2)
	s.play(8, func(int) {})
	for _, team := range s.teams {
		if _, err := s.core.Enqueue(t.Context(), "u"+team, false, api.Enqueue{Round: "system_day", Team: team}); err != nil {
			t.Fatal(err)
		}
	}
	s.until("a run", func() bool { return s.states()[api.Running] > 0 })
	var backup bytes.Buffer
	running, err := store.Open(t.Context(), filepath.Join(s.dir, "portal.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if _, err := running.Dump(t.Context(), &backup, store.Head{}); err != nil {
		t.Fatal(err)
	}
	s.kill("portal", syscall.SIGKILL)

	other := t.TempDir()
	address := filepath.Join(other, "portal.db")
	if _, _, err := store.Load(t.Context(), address, &backup); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), address, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	was := s.core
	s.core = lead.New(lead.Options{Store: db, Carry: carry.NewMemory(time.Now)})
	if old, now := rows(t, was, 8), rows(t, s.core, 8); old != now {
		t.Errorf("the board was\n%s\nand is after the restore\n%s", old, now)
	}
	s.start("portal", portalRole, other, s.address)
	s.until("the end of all runs", func() bool { return s.states()[api.Done] == 12 })
	s.check(12)
	s.play(16, func(int) {}) // and it goes on: 16 more
	s.check(28)
}

// states counts the jobs by their states.
func (s *system) states() map[api.JobState]int {
	s.t.Helper()
	jobs, err := s.core.Jobs(s.t.Context(), "system_day", "")
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[api.JobState]int{}
	for _, j := range jobs {
		out[j.State]++
	}
	return out
}

// rows is the board of the first n results, for staff.
func rows(t *testing.T, core *lead.Core, n int) string {
	t.Helper()
	var h lead.History
	if _, err := core.Follow(t.Context(), "system_day", &h); err != nil {
		t.Fatal(err)
	}
	if len(h.Data.Results) < n {
		t.Fatalf("%d results, want %d", len(h.Data.Results), n)
	}
	data := *h.Data
	data.Results = data.Results[:n]
	return fmt.Sprintf("%+v", board.Of(&data, board.Reader{Role: board.Staff}, time.Unix(4e9, 0)).Rows)
}
