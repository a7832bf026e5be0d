package portalbench

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A scripted is a stretch of requests of a simulated site.
type scripted struct {
	from, to time.Duration
	rate     float64 // requests per second
	init     bool    // an initialize at from, before the others
}

// simulate feeds a detector with what a log would show, and returns the loads.
func simulate(t *testing.T, parts []scripted, length time.Duration, seed uint64) (begins []time.Duration, loads []Load) {
	t.Helper()
	start := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(seed, 1))
	var d Detector
	for at := time.Duration(0); at <= length; at += lookEvery {
		var b Batch
		for _, p := range parts {
			if p.init && at >= p.from && at < p.from+lookEvery {
				b.Inits++
			}
			if at >= p.from && at < p.to {
				n := int(p.rate*lookEvery.Seconds() + r.Float64())
				if b.Inits > 0 {
					b.After += n
				} else {
					b.Before += n
				}
			}
		}
		for _, l := range d.See(start.Add(at), b) {
			if l.To.IsZero() {
				begins = append(begins, l.From.Sub(start))
			} else {
				loads = append(loads, l)
			}
		}
	}
	return begins, loads
}

// TestDetector: begin and end of every load within a second, and no load where there is
// none.
func TestDetector(t *testing.T) {
	type span struct{ from, to time.Duration }
	s := time.Second
	health := scripted{0, 400 * s, 0.5, false}
	for name, c := range map[string]struct {
		parts []scripted
		want  []span
	}{
		"usual":               {[]scripted{{20 * s, 80 * s, 800, true}}, []span{{20 * s, 80 * s}}},
		"with health checks":  {[]scripted{health, {20 * s, 80 * s, 800, true}}, []span{{20 * s, 80 * s}}},
		"health checks often": {[]scripted{{0, 400 * s, 2, false}, {20 * s, 80 * s, 300, true}}, []span{{20 * s, 80 * s}}},
		"without initialize":  {[]scripted{health, {20 * s, 80 * s, 100, false}}, []span{{20 * s, 80 * s}}},
		"slow site":           {[]scripted{{20 * s, 80 * s, 4, true}}, []span{{20 * s, 80 * s}}},
		"long initialize":     {[]scripted{{20 * s, 20 * s, 0, true}, {20*s + 300*time.Millisecond, 80 * s, 50, false}}, []span{{20 * s, 80 * s}}},
		"a pause":             {[]scripted{{20 * s, 40 * s, 100, true}, {43 * s, 80 * s, 100, false}}, []span{{20 * s, 80 * s}}},
		"twice":               {[]scripted{health, {20 * s, 80 * s, 800, true}, {110 * s, 170 * s, 900, true}}, []span{{20 * s, 80 * s}, {110 * s, 170 * s}}},
		"twice at once":       {[]scripted{{20 * s, 80 * s, 800, true}, {82 * s, 142 * s, 900, true}}, []span{{20 * s, 80 * s}, {82 * s, 142 * s}}},
		"initialize twice":    {[]scripted{{20 * s, 80 * s, 800, true}, {21 * s, 21 * s, 0, true}}, []span{{20 * s, 80 * s}}},
		"never":               {[]scripted{health}, nil},
		"initialize by hand":  {[]scripted{health, {20 * s, 20 * s, 0, true}}, nil},
		"a person browses":    {[]scripted{{20 * s, 21 * s, 25, false}, {30 * s, 31 * s, 25, false}}, nil},
		"and then a load":     {[]scripted{{5 * s, 5 * s, 0, true}, {40 * s, 100 * s, 500, true}}, []span{{40 * s, 100 * s}}},
		"it is late":          {[]scripted{health, {300 * s, 360 * s, 800, true}}, []span{{300 * s, 360 * s}}},
		"load decays":         {[]scripted{{20 * s, 80 * s, 800, true}, {80 * s, 85 * s, 1, false}}, []span{{20 * s, 80 * s}}},
		"growing load":        {[]scripted{{20 * s, 80 * s, 20, true}, {60 * s, 80 * s, 2000, false}}, []span{{20 * s, 80 * s}}},
		"a load that shrinks": {[]scripted{{20 * s, 40 * s, 500, true}, {40 * s, 80 * s, 40, false}}, []span{{20 * s, 80 * s}}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				begins, loads := simulate(t, c.parts, 400*s, seed)
				if len(begins) != len(c.want) || len(loads) != len(c.want) {
					t.Fatalf("seed %d: %d begins, loads %v, want %d", seed, len(begins), loads, len(c.want))
				}
				for i, w := range c.want {
					from := loads[i].From.Sub(time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC))
					if off := max((from - w.from).Abs(), (from + loads[i].To.Sub(loads[i].From) - w.to).Abs()); off > s {
						t.Errorf("seed %d: load %d from %v for %v is %v off; want %v to %v", seed, i, from, loads[i].To.Sub(loads[i].From), off, w.from, w.to)
					}
				}
			}
		})
	}
}

// FuzzDetector: any lines at any times give loads in order that end after they begin.
func FuzzDetector(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 200, 0, 0, 255, 0, 100, 3, 9, 255, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
		var d Detector
		var open bool
		var last time.Time
		for len(data) >= 4 {
			at = at.Add(time.Duration(data[0]) * 40 * time.Millisecond)
			for _, l := range d.See(at, Batch{int(data[1]), int(data[2]) % 3, int(data[3])}) {
				switch {
				case l.From.Before(last) || l.From.After(at):
					t.Fatalf("a load from %v after one until %v, now %v", l.From, last, at)
				case l.To.IsZero() == open:
					t.Fatal("a load begins in another, or ends without a begin")
				case open && l.To.Before(l.From):
					t.Fatalf("a load from %v to %v", l.From, l.To)
				}
				if open = l.To.IsZero(); !open {
					last = l.To
				}
			}
			data = data[4:]
		}
		if _, ok := d.Stop(); ok != open {
			t.Fatal(fmt.Sprint("open is ", open))
		}
	})
}
