package lead

import (
	"errors"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// TestWorkers: staff sees when a worker was heard of, whether it waits or runs a job. Staff can give a
// worker no more jobs, and let one work again that broke jobs of three teams.
func TestWorkers(t *testing.T) {
	h := newHall(t, 3)
	worker := func() api.Worker {
		t.Helper()
		all, err := h.Workers(t.Context())
		if err != nil || len(all) == 0 {
			t.Fatalf("%v, %v", all, err)
		}
		return all[0]
	}
	register := api.Register{Worker: "w1", Name: "one", Kinds: []string{"command"}, Slots: 1, Boot: "b"}
	if err := h.Register(t.Context(), register); err != nil {
		t.Fatal(err)
	}
	h.at = h.at.Add(5 * time.Minute)
	if w := worker(); !w.Gone {
		t.Errorf("a worker that is silent: %+v", w)
	}
	if err := h.Waits(t.Context(), "w1", register.Kinds, 1); err != nil {
		t.Fatal(err)
	}
	if w := worker(); w.Gone || !w.Seen.Equal(h.Now()) {
		t.Errorf("a worker that waits: %+v", w)
	}
	h.enqueue(0)
	c := h.take("w1")
	h.at = h.at.Add(50 * time.Second)
	if _, err := h.Beat(t.Context(), api.Beat{Claimed: c}); err != nil {
		t.Fatal(err)
	}
	h.at = h.at.Add(15 * time.Second)
	if w := worker(); w.Gone || w.Busy != 1 {
		t.Errorf("a worker that runs a job: %+v", w)
	}
	hold := func(hold bool, reason string) error { return h.Hold(t.Context(), "staff", "w1", hold, reason) }
	if err := hold(true, " "); err == nil {
		t.Error("an act without a reason")
	}
	if err := h.Hold(t.Context(), "staff", "none", true, "x"); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("an act on no worker: %v", err)
	}
	if err := hold(true, "its disk makes noises"); err != nil {
		t.Fatal(err)
	}
	if err := h.Waits(t.Context(), "w1", register.Kinds, 1); !errors.Is(err, api.ErrForbidden) || !worker().Quarantined {
		t.Errorf("a held worker waits for a job: %v", err)
	}
	if err := h.Register(t.Context(), register); err != nil || !worker().Quarantined {
		t.Errorf("a held worker that starts again: %v", err)
	}
	if err := hold(false, "a new disk"); err != nil {
		t.Fatal(err)
	}
	if err := h.Waits(t.Context(), "w1", register.Kinds, 1); err != nil || worker().Quarantined {
		t.Errorf("a released worker: %v", err)
	}
	if lines, broken, err := h.CheckAudit(t.Context()); err != nil || broken != 0 || lines < 2 {
		t.Errorf("the audit log: %d lines, %d, %v", lines, broken, err)
	}
}
