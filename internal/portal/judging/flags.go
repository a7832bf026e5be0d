package judging

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A FlagKind is what a flag is about.
type FlagKind string

// Kinds of flags.
const (
	SameMachine FlagKind = "machine" // machines of two teams have one boot id or one SSH host key
	SameAddress FlagKind = "address" // machines of two teams have one address
	SameMail    FlagKind = "mail"    // members of two teams have one mail address
	KeysChanged FlagKind = "keys"    // the SSH host keys of a machine are not the pinned ones
	LateBoot    FlagKind = "boot"    // a machine was rebooted after its team's time, and not by the judges
	TwoAnswers  FlagKind = "answers" // a site answered the benchmarker otherwise than a browser
)

// A Flag is something that staff should look at. It decides nothing.
type Flag struct {
	Kind  FlagKind  `json:"kind"`
	Teams []string  `json:"teams"`
	Hosts []string  `json:"hosts,omitempty"` // their names
	Pages []string  `json:"pages,omitempty"` // of TwoAnswers
	At    time.Time `json:"at,omitzero"`
}

// A Machine is a machine of a team, as its agent reports it.
type Machine struct {
	Team, Name, Address string // Address without a port
	Boot                string
	Keys                []string
}

// A Person is a member of a team.
type Person struct{ Team, Mail string }

// A MachineEvent is another boot or other keys of a machine.
type MachineEvent struct {
	Team, Name string
	At         time.Time
	Keys       bool // other SSH host keys; else a boot
}

// Answers are the pages that a site answered otherwise for the benchmarker, in one run.
type Answers struct {
	Team  string
	At    time.Time
	Pages []string
}

// Evidence is what flags are made of.
type Evidence struct {
	// Local: all teams are on one machine, so machines and addresses are equal anyway.
	Local    bool
	Machines []Machine
	People   []Person
	Events   []MachineEvent
	Answers  []Answers
	// Ends are when the time of each team ends, HandsOff when its final judging began: boots
	// from then on are the judges' own. A zero time is not yet.
	Ends, HandsOff map[string]time.Time
}

// Flags are the flags of a round: those of two teams first, then those of one, by time.
func Flags(e Evidence) []Flag {
	var out []Flag
	if !e.Local {
		out = append(out, shared(SameMachine, e.Machines, func(m Machine) []string {
			return append(slices.Clone(m.Keys), m.Boot)
		})...)
		out = append(out, shared(SameAddress, e.Machines, func(m Machine) []string { return []string{m.Address} })...)
	}
	people := make([]Machine, len(e.People))
	for i, p := range e.People {
		people[i] = Machine{Team: p.Team, Address: strings.ToLower(p.Mail)}
	}
	out = append(out, shared(SameMail, people, func(m Machine) []string { return []string{m.Address} })...)
	var own []Flag
	for _, x := range e.Events {
		f := Flag{Kind: KeysChanged, Teams: []string{x.Team}, Hosts: []string{x.Name}, At: x.At}
		if !x.Keys {
			end, off := e.Ends[x.Team], e.HandsOff[x.Team]
			if end.IsZero() || x.At.Before(end) || !off.IsZero() && !x.At.Before(off) {
				continue
			}
			f.Kind = LateBoot
		}
		own = append(own, f)
	}
	for _, x := range e.Answers {
		own = append(own, Flag{Kind: TwoAnswers, Teams: []string{x.Team}, At: x.At, Pages: x.Pages})
	}
	slices.SortStableFunc(own, func(a, b Flag) int { return a.At.Compare(b.At) })
	return append(out, own...)
}

// shared finds marks that machines of several teams have, a flag for each set of teams.
func shared(kind FlagKind, machines []Machine, marks func(Machine) []string) []Flag {
	by := map[string][]Machine{}
	for _, m := range machines {
		for _, mark := range marks(m) {
			if mark != "" {
				by[mark] = append(by[mark], m)
			}
		}
	}
	var out []Flag
	known := map[string]bool{}
	for _, all := range by {
		f := Flag{Kind: kind}
		for _, m := range all {
			if !slices.Contains(f.Teams, m.Team) {
				f.Teams = append(f.Teams, m.Team)
			}
			if name := strings.TrimSpace(m.Name); name != "" && !slices.Contains(f.Hosts, name) {
				f.Hosts = append(f.Hosts, name)
			}
		}
		slices.Sort(f.Teams)
		slices.Sort(f.Hosts)
		key := strings.Join(append(slices.Clone(f.Teams), f.Hosts...), "\x00")
		if len(f.Teams) > 1 && !known[key] {
			known[key] = true
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Flag) int {
		return cmp.Or(slices.Compare(a.Teams, b.Teams), slices.Compare(a.Hosts, b.Hosts))
	})
	return out
}
