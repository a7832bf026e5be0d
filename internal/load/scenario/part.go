package scenario

import (
	"context"
	"time"
)

// A Part is one of the shards of a run: several processes, perhaps on several machines, offer one
// load together. The zero Part is a run of one process.
type Part struct {
	Number int `json:"number"` // from 0
	Of     int `json:"of"`
}

// A Shardable scenario can offer a part of its load. Its users are divided by Owns, its schedules
// by Thin, and its open arrivals by Rate: the sum of Poisson streams is a Poisson stream. An actor
// draws from Session.Rand by a name that no other shard uses.
type Shardable interface {
	Preparing
	Loader
	// Shard says which part the scenario offers; it is called before everything else, perhaps
	// twice. An error says why the load cannot be divided so. Checks of the whole belong to the
	// first shard.
	Shard(p Part) error
	// Join takes the place of Prepare in all shards but the first, whose Prepare has ended
	// before. It initialises nothing.
	Join(ctx context.Context, s Session) error
}

// First reports whether a shard initialises the target and makes the checks of the whole.
func (p Part) First() bool { return p.Number == 0 }

// Owns reports whether a user, or another actor, belongs to the shard.
func (p Part) Owns(id int) bool { return p.Of < 2 || id%p.Of == p.Number }

// Thin is the shard's part of a schedule: each due time belongs to one shard.
func (p Part) Thin(a Arrivals) Arrivals {
	if p.Of < 2 {
		return a
	}
	a.First += time.Duration(p.Number) * a.Period
	a.Period *= time.Duration(p.Of)
	return a
}

// Rate is the shard's part of a rate of independent arrivals.
func (p Part) Rate(perSecond float64) float64 { return perSecond / float64(max(p.Of, 1)) }
