package lead

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// smallDisk is a folder on a file system of some bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	missing := ""
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		missing = err.Error()
	}
	tier.Needs(t, "a small file system", missing)
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestDiskFull: the disk is full before a result, with a page more of room each time: a result is
// kept whole or refused, and after room was made the same request is accepted, once.
func TestDiskFull(t *testing.T) {
	tier.Slow(t)
	dir := smallDisk(t, 8<<20)
	s, err := store.Open(t.Context(), filepath.Join(dir, "full.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := newHallOn(t, 1, s)
	refusals, pages := 0, 0
	for room := 0; ; room += 4 << 10 {
		id := h.enqueue(0)
		c := h.take("w1")
		ballast := fill(t, dir, room)
		r := api.Report{Outcome: iikanji.Passed, Score: float64(pages + 1), Log: fmt.Sprintf("%020000d", pages)}
		answer, err := h.Finish(t.Context(), api.Finish{Claimed: c, Report: r})
		if err != nil {
			refusals++
			if j := h.job(id); j.State != api.Running || j.Result != nil {
				t.Errorf("with %d bytes of room the refused result left the job %s", room, j.State)
			}
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		want := api.Accepted
		if err == nil && answer.Became == api.Accepted {
			want = api.Same
		}
		if got := h.finish(c, r); got != want {
			t.Errorf("with %d bytes of room the request again was %s, want %s", room, got, want)
		}
		if j := h.job(id); j.State != api.Done || j.Result.Score != r.Score {
			t.Errorf("%+v", j)
		}
		pages++
		if err == nil && pages > 3 {
			break
		}
		if room > 1<<20 {
			t.Fatal("a result needs more than a MiB")
		}
	}
	if refusals == 0 {
		t.Error("the disk was never full: the test shows nothing")
	}
	var history History
	if _, err := h.Follow(t.Context(), "hall_day", &history); err != nil || len(history.Data.Results) != pages {
		t.Errorf("%d results of %d runs, %v", len(history.Data.Results), pages, err)
	}
	t.Logf("%d runs, %d refused while the disk was full", pages, refusals)
}

// fill writes a file until the disk has only some bytes left.
func fill(t *testing.T, dir string, room int) string {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := int64(0)
	for block := make([]byte, 4<<10); ; {
		n, err := f.Write(block)
		size += int64(n)
		if errors.Is(err, unix.ENOSPC) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(max(0, size-int64(room))); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestClockBack: the portal's clock is set back by 40 minutes while jobs wait and run: their
// leases and results stay, each runs once, and events are in the order of their numbers.
func TestClockBack(t *testing.T) {
	h := newHall(t, 3)
	first := h.enqueue(0)
	c := h.take("w1")
	second := h.enqueue(1)
	h.at = h.at.Add(-40 * time.Minute)
	third := h.enqueue(2)
	h.check(h.leader.Tick(t.Context(), true))
	if got := h.beat(c); got != api.Continue {
		t.Errorf("the running attempt was told %s", got)
	}
	if got := h.finish(c, passed); got != api.Accepted {
		t.Errorf("its result was %s", got)
	}
	scores := map[string]float64{second: 200, third: 300}
	for range scores {
		c := h.take("w1")
		h.finish(c, api.Report{Outcome: iikanji.Passed, Score: scores[c.Job]})
	}
	h.at = h.at.Add(40 * time.Minute)
	h.check(h.leader.Tick(t.Context(), true))
	for _, id := range []string{first, second, third} {
		if j := h.job(id); j.State != api.Done || j.Attempt != 1 {
			t.Errorf("%+v", j)
		}
	}
	events, err := h.EventsAfter(t.Context(), "hall_day", 0)
	h.check(err)
	for i, e := range events {
		if e.Number != int64(i+1) {
			t.Errorf("event %d has number %d", i, e.Number)
		}
	}
	if got := h.ranks(); got != "team 2 1 300, team 1 2 200, team 0 3 100" {
		t.Error(got)
	}
}
