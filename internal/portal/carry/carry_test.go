package carry

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestCarriers: what the portal relies on, in memory and on the embedded server.
func TestCarriers(t *testing.T) {
	t.Run("memory", func(t *testing.T) { suite(t, NewMemory(time.Now)) })
	t.Run("embedded", func(t *testing.T) {
		tier.Slow(t)
		c, err := Embedded(t.Context(), t.TempDir(), 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		suite(t, c)
	})
}

// Subjects of the suite.
const one, other = "iik.task.main.arena", "iik.task.main.command"

func suite(t *testing.T, c Carrier) {
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var seen []string
	check(c.Watch(ctx, Events, "iik.ev.r.", func(m Message) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, string(m.Data))
	}))
	watched := func(n int) []string {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			mu.Lock()
			got := append([]string(nil), seen...)
			mu.Unlock()
			if len(got) >= n || time.Now().After(end) {
				return got
			}
		}
	}
	for range 2 { // once more after everything was deleted
		queue(ctx, t, c, "")
		keys(ctx, t, c)
		check(c.Publish(ctx, Events, Message{Subject: "iik.ev.r.result", ID: "r/1", Data: []byte("x")}))
		check(c.Publish(ctx, Events, Message{Subject: "iik.ev.other.result", ID: "other/1", Data: []byte("y")}))
		check(c.Empty(ctx))
	}
	if got := watched(2); len(got) != 2 || got[0] != "x" || got[1] != "x" {
		t.Errorf("watched %q", got)
	}
}

// queue checks the work queue. Ids of messages end with run: a repeated id is no new message.
func queue(ctx context.Context, t *testing.T, c Carrier, run string) {
	t.Helper()
	take := func(subject string, wait time.Duration) *Taken {
		t.Helper()
		m, err := c.Take(ctx, Tasks, subject, wait)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, m := range []Message{{one, "a/1/1" + run, []byte("a")}, {one, "a/1/1" + run, []byte("a")}, {other, "b/1/1" + run, []byte("b")}, {one, "c/1/1" + run, []byte("c")}} {
		if err := c.Publish(ctx, Tasks, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"a", "c"} { // the repeated one is one
		m := take(one, 2*time.Minute)
		if m == nil || string(m.Data) != want {
			t.Fatalf("took %+v, want %s", m, want)
		}
		if err := m.Ack(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if m := take(one, 0); m != nil {
		t.Fatalf("took %s twice", m.Data)
	}
	got := make(chan *Taken, 1)
	go func() {
		m, _ := c.Take(ctx, Tasks, "iik.task.main.late", 2*time.Minute) // nil fails below
		got <- m
	}()
	time.Sleep(20 * time.Millisecond)
	if err := c.Publish(ctx, Tasks, Message{"iik.task.main.late", "l" + run, []byte("late")}); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m == nil || string(m.Data) != "late" {
		t.Errorf("a message that comes later was not taken: %+v", m)
	}
}

// keys checks the buckets.
func keys(ctx context.Context, t *testing.T, c Carrier) {
	t.Helper()
	if _, _, err := c.Get(ctx, Leases, "j"); !errors.Is(err, ErrNoKey) {
		t.Errorf("a key that is not there: %v", err)
	}
	if err := c.Put(ctx, Leases, "j", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if v, _, err := c.Get(ctx, Leases, "j"); err != nil || string(v) != "1" {
		t.Errorf("got %s, %v", v, err)
	}
	all, err := c.List(ctx, Leases)
	if err != nil || len(all) != 1 || string(all["j"]) != "1" {
		t.Errorf("listed %v, %v", all, err)
	}
	if err := c.Delete(ctx, Leases, "j"); err != nil {
		t.Fatal(err)
	}
	if all, err := c.List(ctx, Leases); err != nil || len(all) != 0 {
		t.Errorf("after the deletion %v, %v", all, err)
	}
	first, err := c.Swap(ctx, Leader, "leader", []byte("a"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Swap(ctx, Leader, "leader", []byte("b"), 0); !errors.Is(err, ErrNoKey) {
		t.Errorf("two leaders: %v", err)
	}
	if _, err := c.Swap(ctx, Leader, "leader", []byte("a"), first); err != nil {
		t.Errorf("renewing: %v", err)
	}
	if _, err := c.Swap(ctx, Leader, "leader", []byte("a"), first); !errors.Is(err, ErrNoKey) {
		t.Errorf("renewing with an old revision: %v", err)
	}
}

// TestExpires: a key lives its time after the last write, by the clock that was passed in.
func TestExpires(t *testing.T) {
	now := time.Unix(1000, 0)
	c := NewMemory(func() time.Time { return now })
	put := func() {
		if err := c.Put(t.Context(), Leases, "j", nil); err != nil {
			t.Fatal(err)
		}
	}
	put()
	now = now.Add(LeaseTTL - time.Second)
	put()
	now = now.Add(LeaseTTL - time.Second)
	if _, _, err := c.Get(t.Context(), Leases, "j"); err != nil {
		t.Errorf("a renewed key: %v", err)
	}
	now = now.Add(time.Second)
	if _, _, err := c.Get(t.Context(), Leases, "j"); !errors.Is(err, ErrNoKey) {
		t.Errorf("an expired key: %v", err)
	}
}
