package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	poolMost   = 64  // pools of this size are not made larger
	poolGrowth = 4   // factor by which a pool is enlarged or reduced
	poolLocked = 0.3 // share of statement seconds spent in locks above which a pool is too large
	poolLarge  = 4   // connections per core above which fewer may suffice
)

var poolSize = cause.Declare(cause.PerDatabase, findPoolSize,
	cause.Cause{Code: "APP103", Title: "pool too small", Of: iikanji.OfCPU, Relieves: cause.Pool,
		Line:     "requests wait for a database connection",
		Remedies: []cause.Way{cause.Plan("appenv", "", iikanji.RoleApp), cause.Patch}},
	cause.Cause{Code: "APP104", Title: "pool too large", Of: iikanji.OfCPU, Relieves: cause.Locks | cause.Pool,
		Line:     "more connections only queue for the same row locks",
		Remedies: []cause.Way{cause.Plan("appenv", "", iikanji.RoleApp), cause.Patch}})

// findPoolSize reports pools whose connections were always busy (APP103), so that
// requests waited for one, and pools whose connections mostly wait for each
// other's locks (APP104). Where the CPU is used up, connections are held
// because statements wait for the CPU: a larger pool does not help.
func findPoolSize(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, p := range v.Input.Pools(v.Self) {
		out = append(out, ofPool(v, p)...)
	}
	return out
}

// ofPool is the finding of one pool.
func ofPool(v *cause.View, p cause.AppPool) []iikanji.Finding {
	if !p.Starved() && !lockedPool(v, p) {
		return nil
	}
	use := iikanji.Evidence{Source: "connections", Text: fmt.Sprintf("%d connections of %s, busy in statements for %.0f %% of %.0f s; %.1f concurrent requests on average", p.Size, v.Input.Called(p.App), 100*min(1, p.Busy), v.Input.Run.Took.Seconds(), p.Load)}
	locks := iikanji.Evidence{Source: "digests", Text: fmt.Sprintf("%.1f of %.1f s of statement time was spent waiting for locks", locked(v), v.Seconds)}
	if lockedPool(v, p) {
		n := max(2, p.Size/poolGrowth)
		return []iikanji.Finding{{Code: "APP104", Where: p.App,
			Claim:    fmt.Sprintf("%d connections mostly wait for each other's locks: fewer would do the same work", p.Size),
			Evidence: []iikanji.Evidence{use, locks}, Gain: cause.Between(locked(v), 0, 0.3),
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: p.App, Says: fmt.Sprintf("try a pool of %d connections, if no request needs a second one while it holds one", n)}}}}
	}
	if p.Size >= poolMost || locked(v) > poolLocked*v.Seconds || v.Binding.Resource == "cpu" {
		return nil
	}
	n := min(poolMost, p.Size*poolGrowth)
	// With as many connections as there are concurrent requests, up to n, the
	// same work takes the share size/wanted of the time. This is an upper bound:
	// another resource may become the limit first.
	wanted := min(p.Load, float64(n))
	return []iikanji.Finding{{Code: "APP103", Where: p.App,
		Claim:    fmt.Sprintf("all %d connections to %s are busy %.0f %% of the time: requests wait for a connection", p.Size, v.Input.Called(v.Self.Name), 100*min(1, p.Busy)),
		Evidence: []iikanji.Evidence{use, locks}, Gain: cause.Between(v.Input.Run.Took.Seconds()*(1-float64(p.Size)/wanted), 0.1, 1),
		Remedies: []iikanji.Remedy{{Kind: "appenv", Target: p.App, Says: fmt.Sprintf("use a pool of %d connections, and keep as many idle as open", n), Args: map[string]string{"pool": fmt.Sprint(n)}}}}}
}

// lockedPool reports whether a pool is large and its connections wait for
// locks.
func lockedPool(v *cause.View, p cause.AppPool) bool {
	cores := 1
	if v.Input.Run != nil {
		cores = max(cores, v.Input.Run.Place.Cores)
	}
	return p.Size > poolLarge*cores && locked(v) > poolLocked*v.Seconds && v.Status["innodb_row_lock_waits"] >= leastLockWaits
}
