package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

const (
	poolMost   = 64  // pools of this size are not made larger
	poolGrowth = 4   // factor by which a pool is enlarged or reduced
	poolLocked = 0.3 // share of statement seconds spent in locks above which a pool is too large
	poolLarge  = 4   // connections per core above which fewer may suffice
)

var poolSize = Declare(PerDatabase, findPoolSize,
	Cause{Code: "APP103", Title: "pool too small", Of: iikanji.OfCPU, Relieves: Pool,
		Line:     "requests wait for a database connection",
		Remedies: []Way{Plan("appenv", "", iikanji.RoleApp), Patch}},
	Cause{Code: "APP104", Title: "pool too large", Of: iikanji.OfCPU, Relieves: Locks | Pool,
		Line:     "more connections only queue for the same row locks",
		Remedies: []Way{Plan("appenv", "", iikanji.RoleApp), Patch}})

// findPoolSize reports pools whose connections were always busy (APP103), so that
// requests waited for one, and pools whose connections mostly wait for each
// other's locks (APP104). Where the CPU is used up, connections are held
// because statements wait for the CPU: a larger pool does not help.
func findPoolSize(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, p := range v.in.pools(v.self) {
		out = append(out, v.ofPool(p)...)
	}
	return out
}

// ofPool is the finding of one pool.
func (v *view) ofPool(p pool) []iikanji.Finding {
	if !p.starved() && !v.lockedPool(p) {
		return nil
	}
	use := iikanji.Evidence{Source: "connections", Text: fmt.Sprintf("%d connections of %s, busy in statements for %.0f %% of %.0f s; %.1f concurrent requests on average", p.size, v.in.called(p.app), 100*min(1, p.busy), v.in.Run.Took.Seconds(), p.load)}
	locks := iikanji.Evidence{Source: "digests", Text: fmt.Sprintf("%.1f of %.1f s of statement time was spent waiting for locks", v.locked(), v.seconds)}
	if v.lockedPool(p) {
		n := max(2, p.size/poolGrowth)
		return []iikanji.Finding{{Code: "APP104", Where: p.app,
			Claim:    fmt.Sprintf("%d connections mostly wait for each other's locks: fewer would do the same work", p.size),
			Evidence: []iikanji.Evidence{use, locks}, Gain: between(v.locked(), 0, 0.3),
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: p.app, Says: fmt.Sprintf("try a pool of %d connections, if no request needs a second one while it holds one", n)}}}}
	}
	if p.size >= poolMost || v.locked() > poolLocked*v.seconds || v.binding.Resource == "cpu" {
		return nil
	}
	n := min(poolMost, p.size*poolGrowth)
	// With as many connections as there are concurrent requests, up to n, the
	// same work takes the share size/wanted of the time. This is an upper bound:
	// another resource may become the limit first.
	wanted := min(p.load, float64(n))
	return []iikanji.Finding{{Code: "APP103", Where: p.app,
		Claim:    fmt.Sprintf("all %d connections to %s are busy %.0f %% of the time: requests wait for a connection", p.size, v.in.called(v.self.Name), 100*min(1, p.busy)),
		Evidence: []iikanji.Evidence{use, locks}, Gain: between(v.in.Run.Took.Seconds()*(1-float64(p.size)/wanted), 0.1, 1),
		Remedies: []iikanji.Remedy{{Kind: "appenv", Target: p.app, Says: fmt.Sprintf("use a pool of %d connections, and keep as many idle as open", n), Args: map[string]string{"pool": fmt.Sprint(n)}}}}}
}

// lockedPool reports whether a pool is large and its connections wait for
// locks.
func (v *view) lockedPool(p pool) bool {
	cores := 1
	if v.in.Run != nil {
		cores = max(cores, v.in.Run.Place.Cores)
	}
	return p.size > poolLarge*cores && v.locked() > poolLocked*v.seconds && v.status["innodb_row_lock_waits"] >= leastLockWaits
}
