package cause

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// locked is InnoDB's own sum if the server's counters are known. Lock_time in a
// slow log also contains the time to open tables, about ten microseconds per
// statement.
func (in Input) locked() float64 {
	sum, counted := 0.0, false
	for _, f := range in.Facts {
		if f.Topic != iikanji.TopicStatus {
			continue
		}
		counted = true
		if strings.EqualFold(f.Key, "innodb_row_lock_time") {
			ms, _ := strconv.ParseFloat(f.Value, 64)
			sum += ms / 1000
		}
	}
	if counted {
		return sum
	}
	for _, r := range in.rows(iikanji.Slow) {
		if r.Query != nil {
			sum += r.Query.Lock.Seconds()
		}
	}
	return sum
}

const roundTrip = 60e-6 // seconds between app and server on a loopback, which are not in the log

const poolBusy = 0.7 // share of the connections' time from which on requests wait for one

const poolQueue = 2.0 // least number of concurrent requests per connection

// A pool is how the connections of one app to one database were used.
type pool struct {
	app  string
	size int     // connections
	busy float64 // share of their time in statements and round trips
	load float64 // requests under way, on average
}

// pools are the pools of connections to a database. A connection is busy for the
// time of its statements and one round trip each. The time between the
// statements of a transaction is unknown, so the true share is larger. The log
// does not name the app of a statement: with several apps, statements and
// requests are divided in proportion to the connections.
func (in Input) pools(database iikanji.Service) []pool {
	in = in.of(database)
	sizes, total := map[string]int{}, 0
	for _, f := range in.Facts {
		var c iikanji.Connections
		if f.Topic == iikanji.TopicConnection && in.role(f.Target) == iikanji.RoleApp && f.Key == database.Name && json.Unmarshal([]byte(f.Value), &c) == nil {
			sizes[f.Target] = max(sizes[f.Target], c.TCP+c.Unix)
		}
	}
	for _, n := range sizes {
		total += n
	}
	used, load := 0.0, 0.0
	for _, r := range in.rows(iikanji.Slow) {
		used += r.Total.Seconds() + float64(r.Count)*roundTrip
	}
	known := in.Run != nil && in.Run.Took > 0
	if known {
		for _, s := range in.Run.Steps {
			load += s.Total.Seconds() / in.Run.Took.Seconds()
		}
	}
	var out []pool
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		p := pool{app: name, size: sizes[name]}
		if known && p.size > 0 {
			part := float64(p.size) / float64(total)
			p.load = load * part
			p.busy = used * part / (in.Run.Took.Seconds() * float64(p.size))
		}
		out = append(out, p)
	}
	return out
}

// starved reports whether requests had to wait for a connection: all
// connections were busy, and there were several requests for each.
func (p pool) starved() bool {
	return p.size > 0 && p.busy >= poolBusy && p.load >= poolQueue*float64(p.size)
}
