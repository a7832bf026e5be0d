// Package arena defines an arena: a rebuilt contest with its app, data,
// benchmarker and rules. Arenas register themselves in init; arenas/all links
// them.
package arena

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// An Arena is one contest.
type Arena struct {
	Name    string // as in "isucondition"
	Title   string
	Summary string // one sentence

	// Files is the content of webapp/ in the work folder: sources, SQL, public
	// files, keys.
	Files fs.FS
	// Generate writes the data that Files does not contain (initial SQL, images,
	// the benchmarker's copy) into the folders webapp and data. It is called when
	// GeneratedVersion differs from the work folder's. It must write the same
	// bytes every time.
	Generate         func(ctx context.Context, webapp, data string) error
	GeneratedVersion string
	// Small is the initial data of tests, of the same kind as that of Generate. It is nil
	// for an arena whose data is small.
	Small *Data

	// Services are the parts of the stack in the order in which they start. They
	// stop in the reverse order; neighbours of the same role stop together.
	Services []Service
	// Entry is the name of the service that clients send their requests to. By
	// default it is the only service of role web.
	Entry string
	// Variants have other services, as an app in another language. Each is a target
	// of its own: variant "ruby" of the arena "isucondition" is
	// "isucondition-ruby", with a work folder and a history of its own.
	Variants []Variant
	// TLS is set if the entry can speak HTTPS, as the contest's did: its template looks
	// at {{.Self.TLS}}. The arena over TLS is a target of its own, with "-tls" behind the
	// name.
	TLS bool

	// Scenario returns the benchmarker.
	Scenario func(o Options) (scenario.Scenario, error)
	// Shards is into how many parts the load can be divided at most, among several
	// generators; 0 if it cannot be. The scenario is a scenario.Shardable then.
	Shards int
	// Settings are options of the benchmarker besides those that every arena has.
	Settings []Setting
	// Commands are further commands of the arena, such as a stand-in for an external
	// service for manual tests.
	Commands []Command
	// Answers is answers.txt: the known causes as finding codes, the best first.
	Answers string
	// Ladder has the rows of a write-up in their order, a file each; nil for none.
	// Package ladder describes the files. A variant has its own.
	Ladder fs.FS
	// HostsLadder has the rows of the same write-up for several machines, and those that change a
	// machine: it is climbed on the site that --hosts makes of the arena, with its names of services and machines; nil for none.
	HostsLadder fs.FS
	// Allow lists the promises that changes may weaken under the contest's rules.
	// The arena's README names the rules.
	Allow []iikanji.Promise
	// MaxAge is how old an answer may be by the rules, where they say a time; 0 for none.
	MaxAge time.Duration
	// Fixed are paths of files that the rules forbid to change, as in [iikanji.Policy].
	Fixed []string
	// Robots are regular expressions of the User-Agents that the contest's rules permit
	// to refuse.
	Robots            []string
	InitializeTimeout time.Duration
	// Pace is how machines of a size in cores are loaded so that the score responds to what the
	// site does; nil: every size as in the contest.
	Pace func(cores float64) Pace
}

// A Pace is the speed of a benchmarker. The zero Pace is the contest's.
type Pace struct {
	Clock float64 // of virtual time, as in Options
	Set   Values
}

// PaceOf is the Pace of an arena for machines of a size in cores; 0: without a limit.
func (a *Arena) PaceOf(cores float64) Pace {
	if a.Pace == nil || cores <= 0 || cores >= 1 {
		return Pace{}
	}
	return a.Pace(cores)
}

// Words are the Pace as flags of iikanji bench.
func (p Pace) Words() (words []string) {
	if p.Clock > 0 {
		words = append(words, "--clock", strconv.FormatFloat(p.Clock, 'f', -1, 64))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Set)) {
		words = append(words, "--set", name+"="+p.Set[name])
	}
	return words
}

// Data is initial data that Generate writes, as Arena.Generate does. Version differs for
// other data.
type Data struct {
	Generate func(ctx context.Context, webapp, data string) error
	Version  string
}

// Policy is what changes of the target may weaken. Agents may change an arena: it is a practice
// ground in a folder of its own.
func (a *Arena) Policy() iikanji.Policy {
	return iikanji.Policy{Allow: a.Allow, MaxAge: a.MaxAge, Fixed: a.Fixed, AgentsChange: true, Robots: a.Robots}
}

// A Command is a further command of an arena, run as "iikanji NAME".
type Command struct {
	Name     string
	Help     string // one sentence
	Detail   string // the long help
	Settings []Setting
	// Run runs until ctx is done. It calls say with each line of output, possibly
	// from several goroutines.
	Run func(ctx context.Context, set Values, say func(line string)) error
}

// Options configure a benchmarker.
type Options struct {
	// Data is the folder with the benchmarker's copy of the generated data.
	Data string
	// Set are the values of the arena's Settings.
	Set Values
	// Addresses are further hosts of the target, host:port. Empty means the host
	// of the URL only.
	Addresses []string
	// Clock replaces the speed of virtual time if it is above 0.
	Clock float64
	// Here is the stack that the run is on; nil for a site elsewhere.
	Here Here
	// NoLoad ends the run after the checks.
	NoLoad bool
}

var registry = map[string]*Arena{}

// Register adds an arena and its variants. Call it from init only. It panics if a
// name is taken.
func Register(a *Arena) {
	add := func(a *Arena) {
		if _, taken := registry[a.Name]; taken {
			panic("BUG: arena " + a.Name + " registered twice")
		}
		registry[a.Name] = a
	}
	add(a)
	for _, v := range a.Variants {
		add(a.with(v))
	}
	if a.TLS {
		add(a.overTLS())
	}
}

// Find returns the arena, or the variant of one, of a name.
func Find(name string) (*Arena, bool) {
	a, ok := registry[name]
	return a, ok
}

// Names lists the arenas and their variants in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
