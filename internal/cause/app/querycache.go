package app

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// mostCachedShown bounds the statements in the evidence about a query cache.
const mostCachedShown = 5

// keptAnswers reports what the query caches in the apps did during the load, without a
// gain: one that answers few reads is to be taken out, or its plan is old.
func keptAnswers(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	at := slices.IndexFunc(v.Input.Levers, func(l cause.Lever) bool { return l.Whole })
	if at < 0 {
		return nil
	}
	for _, f := range v.Input.Facts {
		c, ok := cause.Decode(f, fact.TopicQueryCache)
		reads := c.All.Hits + c.All.Asked()
		if !ok || reads == 0 {
			continue
		}
		finding := iikanji.Finding{Code: v.Input.Levers[at].Code, Where: f.Target + " sqlcache",
			Claim: fmt.Sprintf("the query cache gave %.0f%% of the %s answers of statements that it may keep", 100*float64(c.All.Hits)/float64(reads), cause.Number(float64(reads)))}
		finding.Evidence = append(finding.Evidence, iikanji.Evidence{Source: "expvar sqlcache",
			Text: fmt.Sprintf("%s; it held %s answers in %s at the end", useOf(c.All), cause.Number(float64(c.Entries)), c.Bytes)})
		for _, s := range c.Statements[:min(len(c.Statements), mostCachedShown)] {
			finding.Evidence = append(finding.Evidence, iikanji.Evidence{Source: "expvar sqlcache", Text: useOf(s) + ": " + cause.Cut(s.Text, 120)})
		}
		for _, b := range c.Batches {
			finding.Evidence = append(finding.Evidence, iikanji.Evidence{Source: "expvar sqlcache", Text: batchText(b)})
		}
		out = append(out, finding)
	}
	return out
}

// batchText describes what was read ahead of one statement of a loop.
func batchText(b fact.QueryCacheBatch) string {
	text := fmt.Sprintf("read ahead: %s keys by %s, %s of the answers used: %s", cause.Number(float64(b.Keys)), cause.Plural(float64(b.Sent), "statement"),
		cause.Number(float64(b.Used)), cause.Cut(b.Child, 100))
	if b.Stopped {
		text += " (given up)"
	}
	for _, p := range b.Parents[:min(len(b.Parents), mostParents)] {
		text += fmt.Sprintf("; keys of %s", cause.Cut(p.Text, 60))
		if p.Column != "" {
			text += ", column " + p.Column
		}
	}
	return text
}

// mostParents bounds the parents of a statement in the evidence.
const mostParents = 2

// useOf describes the counts of a statement, or of all.
func useOf(u fact.QueryCacheUse) string {
	text := fmt.Sprintf("%s hits, %s misses", cause.Number(float64(u.Hits)), cause.Number(float64(u.Misses)))
	for _, p := range []struct {
		n   int64
		why string
	}{{u.Doubts, "asked during a write"}, {u.Drops, "not kept because of a write"}, {u.Evicted, "removed for lack of memory"}} {
		if p.n > 0 {
			text += fmt.Sprintf(", %s %s", cause.Number(float64(p.n)), p.why)
		}
	}
	return text
}
