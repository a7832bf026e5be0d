package ties

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Kind is what an app has on its host alone.
type Kind string

// The kinds.
const (
	Memory   Kind = "memory"   // values that requests write and read in the process
	Sessions Kind = "sessions" // sessions in the process, or in files
	Lock     Kind = "lock"     // a lock of the process or of the host around work elsewhere
	Key      Kind = "key"      // a key that each start makes anew
	Files    Kind = "files"    // files that requests write
	SQLite   Kind = "sqlite"   // a database in files
	Socket   Kind = "socket"   // a unix socket
	Local    Kind = "local"    // an address of this host that no variable changes
	Job      Kind = "job"      // work that runs beside the requests
	Cron     Kind = "cron"     // a job of the host
	Ours     Kind = "change"   // a change of iikanji by which the process keeps answers
)

// A Tie is one place that ties an app to its host.
type Tie struct {
	Kind Kind   `json:"kind"`
	File string `json:"file"` // relative to the source folder, with slashes; absolute for one of the host
	Line int    `json:"line,omitempty"`
	Name string `json:"name"` // the variable, the call, the path
	// Func is the function that uses it, as goapp.FuncName writes it; "" if unknown.
	Func string `json:"func,omitempty"`
	// Routes are those whose handlers reach it, as in "GET /a/:id"; none if unknown.
	Routes []string `json:"routes,omitempty"`
}

// Place is where the tie is, as in "main.go:12".
func (t Tie) Place() string {
	if t.Line == 0 {
		return t.File
	}
	return fmt.Sprintf("%s:%d", t.File, t.Line)
}

// A Verdict is what a tie means for a placement.
type Verdict string

// The verdicts.
const (
	Refused Verdict = "refused" // it would break answers
	Pinned  Verdict = "pinned"  // its routes stay on the home
	ByHost  Verdict = "by host" // only if each file belongs to one Host header
	Lost    Verdict = "lost"    // as by any restart
	Carried Verdict = "carried" // it goes along with the app's folders
)

// meaning is what a kind means.
type meaning struct {
	spread, move Verdict
	breaks       string // why, for a second instance
	cure         string
}

var meanings = map[Kind]meaning{
	Memory:   {Refused, Lost, "each instance would keep other values", "keep them in the database or in a cache server, or read them anew"},
	Sessions: {Refused, Lost, "an instance does not know the sessions of the other one", "keep sessions in a signed cookie, in the database or in a cache server"},
	Lock:     {Refused, Lost, "an instance does not wait for the lock of the other one", "lock in the database: SELECT … FOR UPDATE, or GET_LOCK"},
	Key:      {Refused, Lost, "each instance would have another key", "read the key from a variable that all instances get"},
	Files:    {Pinned, Carried, "the other instance does not have the files", "keep them in the database, or leave the routes on one host"},
	SQLite:   {ByHost, Carried, "the other instance has another database", "give each file to one host by the Host header, or use a database server"},
	Socket:   {Refused, Refused, "a unix socket is not reached from another host", "connect and listen by host and port"},
	Local:    {Refused, Refused, "another host has another server at this address", "read the address from a variable"},
	Job:      {Refused, Carried, "each instance would do the work", "have exactly one instance do it: a variable that turns it off"},
	Cron:     {Refused, Refused, "it runs on the home only, or twice", "move the job by hand, and leave it on exactly one host"},
	Ours:     {Refused, Lost, "an instance would not see what is written through the other one", "undo that change first (iikanji history has its number), or leave the app on one host"},
}

// Spread is what the tie means for a second instance on another host.
func (t Tie) Spread() Verdict {
	if t.Kind == Files && len(t.Routes) == 0 { // nothing says which routes to leave at home
		return Refused
	}
	return meanings[t.Kind].spread
}

// Move is what the tie means for the whole app on another host.
func (t Tie) Move() Verdict { return meanings[t.Kind].move }

// Breaks says why a second instance breaks answers.
func (t Tie) Breaks() string { return meanings[t.Kind].breaks }

// Cure says what a person can do.
func (t Tie) Cure() string { return meanings[t.Kind].cure }

// Sort orders ties by place, and leaves one of each kind, place and name.
func Sort(all []Tie) []Tie {
	slices.SortStableFunc(all, func(a, b Tie) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(all, func(a, b Tie) bool {
		return a.Kind == b.Kind && a.File == b.File && a.Line == b.Line && a.Name == b.Name
	})
}
