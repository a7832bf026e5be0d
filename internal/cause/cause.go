package cause

import (
	"strings"

	"github.com/iikanji/iikanji"
)

// A Cause is what is known of a cause of lost time before any run. It is declared once,
// beside the rule that finds it; the order of findings, the weight of their gains, the
// index of docs/findings and the heads of its pages derive from the declaration.
type Cause struct {
	Code  iikanji.Code
	Title string // "missing index"
	Line  string // the cause in one line, for lists
	Of    iikanji.Basis
	// Doubt and Inside are those of [iikanji.Nature].
	Doubt, Inside bool
	// Relieves are the limits of a run that the remedies relieve. Where another one is the
	// limit, a remedy may save nothing, and the finding comes after those that can.
	Relieves Limits
	Remedies []Way // what findings may propose
}

// nature is what all findings of a cause have in common.
func (c Cause) nature() iikanji.Nature {
	return iikanji.Nature{Of: c.Of, Doubt: c.Doubt, Inside: c.Inside}
}

// Limits are resources that may limit a run.
type Limits uint8

const (
	CPU   Limits = 1 << iota
	Disk         // syncs, reads and writes
	Locks        // of rows and tables
	Pool         // connections of an app to a database
	// NoLimit: the remedies save something that never limits a run, as bytes sent.
	NoLimit Limits = 0
	// AnyLimit is also of causes of failed requests and errors: these always count.
	AnyLimit = CPU | Disk | Locks | Pool
)

var limitNames = map[string]Limits{"cpu": CPU, "disk": Disk, "locks": Locks, "pool": Pool}

// relieve reports whether the limits include the binding resource of a run. Without one,
// and where the load generator was the limit, every remedy counts.
func (l Limits) relieve(resource string) bool {
	limit, known := limitNames[resource]
	return !known || l&limit != 0
}

// String lists the limits by their names.
func (l Limits) String() string {
	var names []string
	for _, name := range []string{"cpu", "disk", "locks", "pool"} {
		if l&limitNames[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// A Way is a sort of remedy that findings of a cause have.
type Way struct {
	Kind, Act string // of package change; Act is "" for a kind with one act
	// On is the role of the target; RoleUnknown for a service of any role.
	On iikanji.Role
}

var (
	// Person is the way of remedies that no kind of change can plan.
	Person = Way{Kind: iikanji.KindPerson}
	// Patch is the way of changes of an app's source that a person or a proposer writes as
	// a diff: the kind patch plans the diff.
	Patch = Way{Kind: "patch", On: iikanji.RoleApp}
)

// Plan is the way of remedies that a kind of change plans on services of a role.
func Plan(kind, act string, on iikanji.Role) Way { return Way{kind, act, on} }

// A Rule finds one cause, or a few with the same evidence, in the views of its reach.
type Rule struct {
	Reach  Reach
	Find   func(*View) []iikanji.Finding
	Causes []Cause
	// Settle is called for each view after all rules, with all findings. It returns them
	// with its own, or with more evidence. nil for most rules.
	Settle func(*View, []Result) []Result
}

// A Reach is how often a rule runs.
type Reach uint8

const (
	PerRun      Reach = iota // once, over everything
	PerDatabase              // for each service of the role database
	PerWeb                   // for each service of the role web
	PerNginx                 // for each service of the role web whose engine is nginx
	PerHost                  // for each host
)

// Declare makes a rule with the causes that it finds.
func Declare(reach Reach, find func(*View) []iikanji.Finding, causes ...Cause) Rule {
	return Rule{Reach: reach, Find: find, Causes: causes}
}

// Settling adds what runs after all rules.
func (r Rule) Settling(by func(*View, []Result) []Result) Rule {
	r.Settle = by
	return r
}

// A Lever is a rewrite of source as the rules need it: the cause that its places are, and
// what a rewrite saves.
type Lever struct {
	Cause
	// Order is the position of its fixes in a change of one function.
	Order int
	// Saved is the share of the seconds of a place that its fix saves.
	Saved iikanji.Range
	// OneRow: a statement that reads n rows reads one, which saves up to (n−1)/n.
	OneRow bool
	// Whole: its change is planned from all of the source.
	Whole bool
	// Ahead: its statements are sent once for each element of a loop. The change of a Whole
	// lever, the query cache, reads their rows ahead.
	Ahead bool
}
