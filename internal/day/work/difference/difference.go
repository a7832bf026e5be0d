// Package difference compares two states of a site by meaning: not "a file differs" but
// the directive, the variable, the index or the function.
//
// It is pure: the contents of files come from a function of the caller, and nothing is
// read or asked. Its files:
//
//  1. difference.go: the edits of all hosts, and which change of iikanji explains one;
//  2. files.go: what a file is, and the functions, settings, lines of it that differ;
//     nginx.go, options.go, source.go and assignments.go are the languages;
//  3. tables.go: indexes and columns, and whether initialize undoes them;
//  4. live.go: what differs in what runs: variables, kernel, environment, programs.
//
// An edit may have a warning, which is one of four: the program was not built from the
// source, the service has not read the file, the value is lost at a restart, or the
// site's initialize undoes it. A warning is given only where the state proves it.
package difference

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// A Kind is what an Edit is about.
type Kind string

const (
	Directive   Kind = "directive" // of nginx
	Option      Kind = "option"    // of a database server, in its files
	Variable    Kind = "variable"  // of a running database server
	Table       Kind = "table"     // its indexes and columns
	Source      Kind = "source"    // functions
	Unit        Kind = "unit"
	Sysctl      Kind = "sysctl"
	Environment Kind = "environment"
	Package     Kind = "package"
	Crontab     Kind = "crontab"
	Program     Kind = "program"
	Other       Kind = "file"    // any other file, a link, rights
	Exchanged   Kind = "machine" // another machine, or another kernel or size of it
)

// A Warning is why an edit does not have, or will lose, its effect.
type Warning string

const (
	NotBuilt     Warning = "NOT BUILT"
	NotLoaded    Warning = "NOT LOADED"
	AtRunTime    Warning = "ONLY AT RUN TIME"
	InitializeIt Warning = "INITIALIZE UNDOES IT"
)

// An Edit is a place of a host that differs between two states.
type Edit struct {
	Host    string `json:"host"`
	Service string `json:"service,omitempty"`
	Kind    Kind   `json:"kind"`
	Place   string `json:"place"` // a path, a table, the name of a variable or package
	// Names say what differs there, as in "upstream app: keepalive 16".
	Names   []string `json:"names,omitempty"`
	Added   int      `json:"lines_added,omitempty"`
	Removed int      `json:"lines_removed,omitempty"`
	Warning Warning  `json:"warning,omitempty"`
	Why     string   `json:"why,omitempty"` // of the warning
	// Changes are those of apply and tune that touched the place; ByHand is false if
	// they explain all of it.
	Changes []iikanji.ChangeID `json:"changes,omitempty"`
	ByHand  bool               `json:"by_hand"`
	// Old and New are the digests of a file; "" where there is none.
	Old iikanji.Fingerprint `json:"old,omitempty"`
	New iikanji.Fingerprint `json:"new,omitempty"`
	// Touched are the edits of a file that several people have made since the first state, as
	// far as runs have seen them; the last one counts. nil where one person made them.
	Touched []Touch `json:"touched,omitempty"`
}

// A Touch is one edit of a file.
type Touch struct {
	At  time.Time `json:"at"`
	Who string    `json:"who"` // who had the turn then, else who made the next run
}

// A Made is a change of apply or tune that was made or undone since the first state.
type Made struct {
	ID iikanji.ChangeID
	// Left are the fingerprints that it left, by the locations of its ops.
	Left map[string]iikanji.Fingerprint
}

// An Input is what is compared.
type Input struct {
	Base, Now *state.State
	// Last is the state at the begin of the latest run that ran initialize after Base;
	// nil for none. What was there then, and is there now, initialize does not undo.
	Last *state.State
	// Text is the content of a file by its digest. An error leaves the edit without names.
	Text func(sha string) ([]byte, error)
	// Keyed is the digest of a secret value; see store.Keyed.
	Keyed func(value []byte) string
	Made  []Made // in the order of their latest moves
}

// Between lists the edits that lead from the first state to the second.
func Between(in Input) []Edit {
	var edits []Edit
	none := &state.Host{}
	for i := range in.Now.Hosts {
		now := &in.Now.Hosts[i]
		c := &comparer{in: in, base: none, now: now, last: none}
		base, ok := in.Base.Host(now.Name)
		if !ok && len(in.Base.Hosts) > 0 { // all of it would be an edit
			edits = append(edits, Edit{Host: now.Name, Kind: Exchanged, Place: "the machine", Names: []string{"seen for the first time"}, ByHand: true})
			continue
		}
		if ok {
			c.base = base
		}
		if in.Last != nil {
			if last, ok := in.Last.Host(now.Name); ok {
				c.last, c.ran = last, true
			}
		}
		c.files()
		c.tables()
		c.live()
		edits = append(edits, c.edits...)
	}
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(a.Place, b.Place))
	})
	return edits
}

// order is the order of kinds in a list.
var order = map[Kind]int{Directive: 1, Source: 2, Table: 3, Option: 4, Variable: 5, Unit: 6, Environment: 7, Sysctl: 8, Package: 9, Crontab: 10, Program: 11, Other: 12, Exchanged: 13}

// A comparer compares one host.
type comparer struct {
	in              Input
	base, now, last *state.Host
	ran             bool // last is the state of a run
	edits           []Edit

	// explained are live values that an edit of a file explains: "service/@@variable",
	// "sysctl/name", "service/env/NAME".
	explained map[string]bool
	// built are the services whose source differs.
	built map[string]bool
}

// explain notes that a live value differs because a file does.
func (c *comparer) explain(what string) {
	if c.explained == nil {
		c.explained = map[string]bool{}
	}
	c.explained[what] = true
}

// add adds an edit, with the changes that explain it. now is the fingerprint of the place
// as it is.
func (c *comparer) add(e Edit, location string, now iikanji.Fingerprint) {
	e.Host, e.ByHand = c.now.Name, true
	if c.now.Name != "" {
		location = c.now.Name + ":" + location
	}
	for _, m := range c.in.Made {
		left, touched := m.Left[location]
		if !touched {
			continue
		}
		e.Changes = append(slices.DeleteFunc(e.Changes, func(id iikanji.ChangeID) bool { return id == m.ID }), m.ID)
		e.ByHand = left != now
	}
	c.edits = append(c.edits, e)
}

// text is the content of a file; nil where there is none or it is not kept.
func (c *comparer) text(f state.File) []byte {
	if f.Class != state.Text || f.SHA == "" {
		return nil
	}
	text, err := c.in.Text(f.SHA)
	if err != nil {
		return nil
	}
	return text
}

// keysOf are the keys of two maps, sorted.
func keysOf[V any](a, b map[string]V) []string {
	all := map[string]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return slices.Sorted(maps.Keys(all))
}
