package cause_test

import (
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestWhoseQueue checks which drops count for the site, because the kernel's counter
// does not identify the queue: all of them if a queue of the site was seen full, else
// only those in logs of the site.
func TestWhoseQueue(t *testing.T) {
	for _, c := range []struct {
		name    string
		waiting int
		nginx   int64 // times that nginx found the app's queue full
		where   string
		hi      float64 // upper end of the gain, in seconds
	}{
		{"a full listener of ours", 128, 0, "app", 27.05},
		{"none of ours", 3, 0, "host", 0},
		{"none of ours at the end, and nginx met one", 3, 7, "host", 0.35},
	} {
		s := newScene().host(iikanji.MachineRow{ListenDrops: 541, ListenOverflows: 541}, nil).
			with("app", string(fact.TopicListen), "127.0.0.1:3000", fact.Listener{Backlog: 128, Waiting: c.waiting})
		if c.nginx > 0 {
			s.says("nginx", "error", "backlog-full", "connect() failed (11: Resource temporarily unavailable)", c.nginx)
		}
		f, ok := found(t, s.Input, "OS102")
		if !ok || f.Where != c.where || f.Gain.Hi != c.hi {
			t.Errorf("%s: found %v at %s, %v; want %s, %v", c.name, ok, f.Where, f.Gain, c.where, c.hi)
		}
	}
}
