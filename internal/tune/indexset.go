package tune

import "slices"

// mostIndexes bounds the indexes that are tried as one change.
const mostIndexes = 8

// addsIndex reports whether a candidate adds an index.
func (c Candidate) addsIndex() bool {
	return c.Remedy.Kind == "ddl" && c.Remedy.Args["act"] == "add index"
}

// indexSet is an index with the others that wait for a trial, best first, in a search
// with a bounded time. The advice chooses indexes as a set: what one of them saves is
// computed with the others there, and one trial of all costs as much as that of one. An
// index with a large gain is tried alone: it moves the bottleneck. nil means to try the
// index by itself.
func (q *queue) indexSet(first Candidate) []Candidate {
	if q.options.Time <= 0 || !first.addsIndex() || first.Proposed || first.Gain >= large {
		return nil
	}
	parts := []Candidate{first}
	for _, c := range q.waiting(false) {
		same := func(o Candidate) bool { return o.cause() == c.cause() }
		if len(parts) < mostIndexes && c.addsIndex() && !c.Proposed && !slices.ContainsFunc(parts, same) {
			parts = append(parts, c)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	if tried, _ := q.tried(bundleOf(parts, "")); tried {
		return nil
	}
	return parts
}
