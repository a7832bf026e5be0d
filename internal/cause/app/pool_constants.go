package app

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Codes of findings about locks of rows.
var lockCodes = []iikanji.Code{"DB117", "DB118", "APP104"}

// smallerVariant is the title of the variant of a knob that lets less in.
const smallerVariant = "half"

// fewerSave is the share of the time of lock waits that fewer connections save at most, as in APP104.
const fewerSave = 0.3

// poolConstants settles the findings of constants that are the size of a pool of connections. No
// profile has time at such a constant: its place is where the pool is opened.
//
// Where the CPU is used up, statements hold their connections while they wait for it. No pool size
// saves CPU time, so a finding whose remedies are all pool sizes is dropped. Where transactions wait
// for each other's row locks, a larger pool only makes more of them wait, and is not proposed. Such
// waits are known from the run, or from a transaction that locks what it reads and then waits for
// something else.
func poolConstants(v *cause.View, all []cause.Result) []cause.Result {
	for _, s := range v.Sites {
		if !s.At().Pool {
			continue
		}
		larger := func(r iikanji.Remedy) bool { return ofPlace(r, s) && r.Args["variant"] != smallerVariant }
		useless := larger
		why, locked := lockedBy(v, s.Service, all)
		if v.Binding.Resource == "cpu" {
			useless = func(r iikanji.Remedy) bool { return ofPlace(r, s) }
		} else if !locked {
			continue
		}
		all = slices.DeleteFunc(all, func(f cause.Result) bool { // all of its remedies are useless
			return f.Code == s.Lever.Code && len(f.Remedies) > 0 && !slices.ContainsFunc(f.Remedies, func(r iikanji.Remedy) bool { return !useless(r) })
		})
		if !locked {
			continue
		}
		for i := range all {
			f := &all[i]
			if f.Code == s.Lever.Code && slices.ContainsFunc(f.Remedies, larger) {
				f.Remedies = slices.DeleteFunc(f.Remedies, larger)
				f.Claim += "; a larger one is not proposed: more connections would only wait for the same row locks"
				f.Evidence, f.Gain = append(f.Evidence, why), cause.Between(v.Input.Locked(), 0, fewerSave)
			}
		}
	}
	return all
}

// ofPlace reports whether a remedy is a variant of the constant of a site.
func ofPlace(r iikanji.Remedy, s cause.Site) bool {
	p := s.At()
	return r.Kind == "gocode" && r.Target == s.Service && r.Args["levers"] == string(s.Lever.Code) && r.Args["file"] == p.File && r.Args["func"] == p.Func &&
		r.Args["place"] == p.What
}

// lockedBy is the evidence that transactions of an app wait for each other's row locks.
func lockedBy(v *cause.View, service string, all []cause.Result) (iikanji.Evidence, bool) {
	for _, f := range all {
		if slices.Contains(lockCodes, f.Code) && (f.From.Self.Name == "" || connects(v, service, f.From.Self.Name)) {
			return iikanji.Evidence{Source: "finding " + string(f.Code), Text: f.Claim}, true
		}
	}
	for _, s := range v.Sites {
		if s.Service != service || s.Lever.Code != waitsInTransactions {
			continue
		}
		for _, p := range s.Places {
			i := slices.IndexFunc(p.Statements, locksRows)
			if i >= 0 && (!statementsSeen(v) || executions(v, s) > 0) {
				return iikanji.Evidence{Source: fmt.Sprintf("%s:%d", p.File, p.Line), Text: p.What + ", with the rows locked of " + cause.Cut(p.Statements[i], 160)}, true
			}
		}
	}
	return iikanji.Evidence{}, false
}

// connects reports whether a service was seen connected to a database, or nothing is known of
// its connections.
func connects(v *cause.View, service, database string) bool {
	known := false
	for f := range fact.TopicConnection.In(v.Input.Facts) {
		if f.Target == service {
			if f.Key == database {
				return true
			}
			known = true
		}
	}
	return !known
}

// locksRows reports whether a statement locks the rows that it reads.
func locksRows(sql string) bool {
	tokens, ok := sqltext.Unknown.Tokens(sql)
	return ok && sqltext.Locks(tokens)
}
