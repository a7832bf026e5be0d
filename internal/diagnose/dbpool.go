package diagnose

import (
	"encoding/json"
	"fmt"

	"github.com/iikanji/iikanji"
)

const (
	poolBusy   = 0.7 // share of the connections' time that starves a pool
	poolMost   = 64  // connections from which on more are no cure
	poolQueue  = 2.0 // requests under way for each connection: with fewer nobody waits long
	poolGrowth = 4   // times as many as there were
	poolLocked = 0.3 // share of all statement seconds in locks that makes a pool too large
	poolLarge  = 4   // connections for each core, from which on fewer may do
)

// A pool is how the app's connections to the database were used.
type pool struct {
	size int     // connections
	busy float64 // share of their time in statements and round trips
	load float64 // requests under way, on average
}

// pool reckons with the seconds of all statements and a round trip for each.
// What a connection waits between the statements of a transaction is not seen,
// so that the true share is larger.
func (in Input) pool() pool {
	p := pool{}
	for _, f := range in.Facts {
		var c iikanji.Connections
		if f.Topic == iikanji.TopicConnection && f.Target == "app" && f.Key == "database" && json.Unmarshal([]byte(f.Value), &c) == nil {
			p.size = max(p.size, c.TCP+c.Unix)
		}
	}
	if in.Run == nil || p.size == 0 || in.Run.Took <= 0 {
		return p
	}
	used := 0.0
	for _, r := range in.rows(iikanji.Slow) {
		used += r.Total.Seconds() + float64(r.Count)*roundTrip
	}
	for _, s := range in.Run.Steps {
		p.load += s.Total.Seconds() / in.Run.Took.Seconds()
	}
	p.busy = used / (in.Run.Took.Seconds() * float64(p.size))
	return p
}

// starved says whether requests had to wait for a connection: all of them were
// busy, and there were several requests for each.
func (p pool) starved() bool {
	return p.size > 0 && p.busy >= poolBusy && p.load >= poolQueue*float64(p.size)
}

// app103 reports a pool whose connections were busy all the time: whoever came
// then had to wait for one. Where statements wait for each other's locks more
// of them would only wait together (APP104), and where the CPU is used up they
// hold their connections because they wait for it: more of them wait for it too.
func app103(v *view) []iikanji.Finding {
	p := v.in.pool()
	if !p.starved() && !v.lockedPool(p) {
		return nil
	}
	use := iikanji.Evidence{Source: "connections", Text: fmt.Sprintf("%d connections of the app, in statements for %.0f %% of %.0f s; %.1f requests under way, on average", p.size, 100*min(1, p.busy), v.in.Run.Took.Seconds(), p.load)}
	locks := iikanji.Evidence{Source: "digests", Text: fmt.Sprintf("%.1f of %.1f s of all statements went into waiting for locks", v.locked(), v.seconds)}
	if v.lockedPool(p) {
		n := max(2, p.size/poolGrowth)
		return []iikanji.Finding{{Code: "APP104", Where: "app",
			Claim:    fmt.Sprintf("%d connections mostly wait for each other's locks: fewer would do the same work", p.size),
			Evidence: []iikanji.Evidence{use, locks}, Gain: between(v.locked(), 0, 0.3),
			Remedies: []iikanji.Remedy{{Kind: "appenv", Target: "app", Says: fmt.Sprintf("try a pool of %d connections", n), Args: map[string]string{"pool": fmt.Sprint(n)}}}}}
	}
	if p.size >= poolMost || v.locked() > poolLocked*v.seconds || v.in.Binding().Resource == "cpu" {
		return nil
	}
	n := min(poolMost, p.size*poolGrowth)
	// A pool of as many connections as are wanted at once, up to n, does the
	// same in the share size/wanted of the time. It is the most: another
	// resource may be used up before.
	wanted := min(p.load, float64(n))
	return []iikanji.Finding{{Code: "APP103", Where: "app",
		Claim:    fmt.Sprintf("all %d connections to the database are busy %.0f %% of the time: requests wait for one", p.size, 100*min(1, p.busy)),
		Evidence: []iikanji.Evidence{use, locks}, Gain: between(v.in.Run.Took.Seconds()*(1-float64(p.size)/wanted), 0.1, 1),
		Remedies: []iikanji.Remedy{{Kind: "appenv", Target: "app", Says: fmt.Sprintf("a pool of %d connections, as many kept idle as open", n), Args: map[string]string{"pool": fmt.Sprint(n)}}}}}
}

// lockedPool says whether there are many connections and they wait for locks.
func (v *view) lockedPool(p pool) bool {
	cores := 1
	if v.in.Run != nil {
		cores = max(cores, v.in.Run.Place.Cores)
	}
	return p.size > poolLarge*cores && v.locked() > poolLocked*v.seconds && v.status["innodb_row_lock_waits"] >= leastLockWaits
}
