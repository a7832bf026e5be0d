package goprofile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Cache is what a query cache did during a Session.
type Cache = fact.QueryCache

// cacheStats are the counters as package sqlcache publishes them.
type cacheStats struct {
	Entries    int64                  `json:"entries"`
	Bytes      iikanji.Bytes          `json:"bytes"`
	Statements []fact.QueryCacheUse   `json:"statements"`
	Batches    []fact.QueryCacheBatch `json:"batches"`
}

// mostCached bounds the statements of a Cache: those with the most misses.
const mostCached = 10

// cacheBetween is what the counters of a query cache grew by. The sums are those of all
// statements whose answers may be kept.
func cacheBetween(before, after []byte) (*Cache, error) {
	var from, to cacheStats
	var err error
	if len(before) > 0 {
		err = json.Unmarshal(before, &from)
	}
	if err == nil {
		err = json.Unmarshal(after, &to)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the counters of the query cache: %w", err)
	}
	old := map[string]fact.QueryCacheUse{}
	for _, s := range from.Statements {
		old[s.Text] = s
	}
	out := &Cache{Entries: to.Entries, Bytes: to.Bytes}
	for _, s := range to.Statements {
		if !s.Kept {
			continue
		}
		o := old[s.Text]
		s.Hits, s.Misses, s.Doubts, s.Drops, s.Evicted = s.Hits-o.Hits, s.Misses-o.Misses, s.Doubts-o.Doubts, s.Drops-o.Drops, s.Evicted-o.Evicted
		out.All.Add(s)
		out.Statements = append(out.Statements, s)
	}
	out.Batches = batchesBetween(from.Batches, to.Batches)
	slices.SortStableFunc(out.Statements, func(a, b fact.QueryCacheUse) int {
		return cmp.Or(cmp.Compare(b.Asked(), a.Asked()), cmp.Compare(a.Text, b.Text))
	})
	out.Statements = out.Statements[:min(len(out.Statements), mostCached)]
	return out, nil
}

// batchesBetween are the batches that were sent, with what their counters grew by.
func batchesBetween(from, to []fact.QueryCacheBatch) (out []fact.QueryCacheBatch) {
	for _, b := range to {
		for _, o := range from {
			if o.Child == b.Child && o.Column == b.Column {
				b.Sent, b.Keys, b.Used = b.Sent-o.Sent, b.Keys-o.Keys, b.Used-o.Used
				break
			}
		}
		if b.Sent > 0 && len(out) < mostCached {
			out = append(out, b)
		}
	}
	return out
}
