package cause

import (
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Locked is InnoDB's own sum if the server's counters are known. Lock_time in a
// slow log also contains the time to open tables, about ten microseconds per
// statement.
func (in Input) Locked() float64 {
	sum, counted := 0.0, false
	for f, grown := range fact.TopicStatus.In(in.Facts) {
		counted = true
		if strings.EqualFold(f.Key, "innodb_row_lock_time") { // in milliseconds
			sum += grown / 1000
		}
	}
	if counted {
		return sum
	}
	for _, r := range in.Rows(iikanji.Slow) {
		if r.Query != nil {
			sum += r.Query.Lock.Seconds()
		}
	}
	return sum
}

const (
	RoundTrip = 60e-6 // seconds between app and server on a loopback, which are not in the log
	poolBusy  = 0.7   // share of the connections' time from which on requests wait for one
	poolQueue = 2.0   // least number of concurrent requests per connection
)

// An AppPool is how the connections of one app to one database were used.
type AppPool struct {
	App  string
	Size int     // connections
	Busy float64 // share of their time in statements and round trips
	Load float64 // requests under way, on average
}

// Pools are the pools of connections to a database. A connection is busy for the
// time of its statements and one round trip each. The time between the
// statements of a transaction is unknown, so the true share is larger. The log
// does not name the app of a statement: with several apps, statements and
// requests are divided in proportion to the connections.
func (in Input) Pools(database iikanji.Service) []AppPool {
	in = in.of(database)
	sizes, total := map[string]int{}, 0
	for f, c := range fact.TopicConnection.In(in.Facts) {
		if in.Role(f.Target) == iikanji.RoleApp && f.Key == database.Name {
			sizes[f.Target] = max(sizes[f.Target], c.TCP+c.Unix)
		}
	}
	for _, n := range sizes {
		total += n
	}
	used, load := 0.0, 0.0
	for _, r := range in.Rows(iikanji.Slow) {
		used += r.Total.Seconds() + float64(r.Count)*RoundTrip
	}
	known := in.Run != nil && in.Run.Took > 0
	if known {
		for _, s := range in.Run.Steps {
			load += s.Total.Seconds() / in.Run.Took.Seconds()
		}
	}
	var out []AppPool
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		p := AppPool{App: name, Size: sizes[name]}
		if known && p.Size > 0 {
			part := float64(p.Size) / float64(total)
			p.Load = load * part
			p.Busy = used * part / (in.Run.Took.Seconds() * float64(p.Size))
		}
		out = append(out, p)
	}
	return out
}

// Starved reports whether requests had to wait for a connection: all
// connections were busy, and there were several requests for each.
func (p AppPool) Starved() bool {
	return p.Size > 0 && p.Busy >= poolBusy && p.Load >= poolQueue*float64(p.Size)
}
