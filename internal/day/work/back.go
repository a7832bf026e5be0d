package work

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// Kind is the kind of a change that leads to a former state. Nothing plans it from a
// remedy: it is made of two states.
const Kind = "work"

// A Back is a plan that leads from the present state to a former one.
type Back struct {
	Change *iikanji.Change // nil if nothing has to change
	// Stays are the differences that the change does not undo, each with the reason.
	Stays []Stay
}

// A Stay is a difference that stays as it is.
type Stay struct {
	Host  string `json:"host,omitempty"`
	Place string `json:"place"`
	Why   string `json:"why"`
	// Matters: a run of the state would differ by it. Packages and programs do too, and
	// are a person's to restore.
	Matters bool `json:"matters"`
}

// A StaysError is a plan that would leave differences.
type StaysError struct{ Stays []Stay }

func (e *StaysError) Error() string {
	s := e.Stays[0]
	text := fmt.Sprintf("%s would stay as it is: %s", s.Place, s.Why)
	if more := len(e.Stays) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// Hints lists all of them.
func (e *StaysError) Hints() []string {
	var lines []string
	for _, s := range e.Stays {
		lines = append(lines, s.Place+": "+s.Why)
	}
	return append(lines, "restore these by hand, or bring back the rest with --partly")
}

// PlanBack plans the way from the present state to a former one: files, variables of the
// database server, indexes. only selects the edits that are undone; nil undoes all.
func (d *Day) PlanBack(ctx context.Context, now, then *state.State, only func(difference.Edit) bool) (*Back, error) {
	if s := overMove(now, then); s != nil {
		return &Back{Stays: []Stay{*s}}, nil
	}
	edits := difference.Between(difference.Input{Base: then, Now: now, Text: d.Store.Get, Keyed: d.Store.Keyed})
	p := &plan{d: d, now: now, then: then, restart: map[string]bool{}, reload: map[string]bool{}, systemd: map[string]bool{}}
	for _, e := range edits {
		if only != nil && !only(e) {
			continue
		}
		if err := p.edit(ctx, e); err != nil {
			return nil, err
		}
	}
	if err := p.fileTables(ctx); err != nil {
		return nil, err
	}
	p.runTime()
	back := &Back{Stays: p.stays}
	if len(p.files)+len(p.variables)+len(p.tables) == 0 {
		return back, nil
	}
	back.Change = p.change(fmt.Sprintf("bring back the state of run %d", then.Run))
	if err := change.Check(back.Change); err != nil {
		return nil, fmt.Errorf("planning the state of run %d: %w", then.Run, err)
	}
	return back, nil
}

// A plan collects the ops of a change.
type plan struct {
	d         *Day
	now, then *state.State
	stays     []Stay

	files     []pair // of files
	variables []pair
	tables    []*iikanji.Change
	restart   map[string]bool // services
	reload    map[string]bool
	systemd   map[string]bool   // hosts whose systemd reads its files
	inFiles   []difference.Edit // of the tables in SQLite files
}

// A pair is an op with its undo.
type pair struct{ do, undo iikanji.Op }

func (p *plan) stay(e difference.Edit, why string, matters bool) {
	p.stays = append(p.stays, Stay{Host: e.Host, Place: e.Place, Why: why, Matters: matters})
}

// edit plans the undo of one edit.
func (p *plan) edit(ctx context.Context, e difference.Edit) error {
	switch e.Kind {
	case difference.Variable:
		return p.variable(e)
	case difference.Table:
		return p.table(ctx, e)
	case difference.Sysctl:
		if !strings.HasPrefix(e.Place, "/") {
			return p.sysctl(e)
		}
	case difference.Package:
		p.stay(e, "packages are installed by a person", false)
		return nil
	case difference.Exchanged:
		p.stay(e, "it is another machine, or another kernel or size of it", true)
		return nil
	case difference.Program:
		if on, err := p.d.Site.On(e.Host); err == nil && host.WorkerOf(on) != nil {
			p.stay(e, "on another machine no restart builds it from its source: iikanji deploy "+e.Service, true)
			return nil
		}
		p.stay(e, "the program is built from its source at the restart", false)
		return nil
	case difference.Environment, difference.Unit:
		if !strings.HasPrefix(e.Place, "/") {
			p.stay(e, "it follows from the files at the next start", false)
			return nil
		}
	}
	return p.file(e)
}

// staticVariables take effect at a restart only.
func (p *plan) static(service, name string) (bool, error) {
	var readOnly string
	err := p.d.Site.Services[service].DB().QueryRow("SELECT READ_ONLY FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = ?", name).Scan(&readOnly)
	if err != nil {
		return false, fmt.Errorf("asking whether %s can be set: %w", name, err)
	}
	return readOnly == "YES", nil
}

// variable plans the value of a variable of a database server.
func (p *plan) variable(e difference.Edit) error {
	nowHost, _ := p.now.Host(e.Host)
	thenHost, _ := p.then.Host(e.Host)
	is, ok1 := nowHost.Service(e.Service)
	was, ok2 := thenHost.Service(e.Service)
	if !ok1 || !ok2 {
		p.stay(e, "one of the states does not have its server", true)
		return nil
	}
	return p.setVariable(e, is.Variables[e.Place].Value, was.Variables[e.Place].Value)
}

func (p *plan) setVariable(e difference.Edit, now, then string) error {
	if p.d.Site.Services[e.Service].DB() == nil {
		p.stay(e, "the server does not answer", true)
		return nil
	}
	static, err := p.static(e.Service, e.Place)
	if err != nil {
		p.stay(e, err.Error(), true)
		return nil
	}
	if static {
		p.restart[e.Service] = true
		return nil
	}
	place := change.VariablePlace(e.Service, e.Place)
	do := iikanji.Op{Verb: iikanji.SQL, Host: e.Host, Place: place, Body: change.SetGlobal(e.Place, then), Expect: change.FingerprintOf([]byte(now + "\n"))}
	undo := iikanji.Op{Verb: iikanji.SQL, Host: e.Host, Place: place, Body: change.SetGlobal(e.Place, now), Expect: change.FingerprintOf([]byte(then + "\n"))}
	p.variables = append(p.variables, pair{do, undo})
	return nil
}

// runTime adds the variables that differ and that an edit of a file explains, and refuses
// a restart that would lose values which were set at run time.
func (p *plan) runTime() {
	for i := range p.now.Hosts {
		h := &p.now.Hosts[i]
		thenHost, ok := p.then.Host(h.Name)
		if !ok {
			continue
		}
		for j := range h.Services {
			s := &h.Services[j]
			was, ok := thenHost.Service(s.Name)
			if !ok || !s.Engine.MySQLFamily() || !p.touchesOptions(s, h.Name) {
				continue
			}
			for name, v := range s.Variables {
				then, had := was.Variables[name]
				if !had || then.Value == v.Value || p.has(change.VariablePlace(s.Name, name)) {
					continue
				}
				e := difference.Edit{Host: h.Name, Service: s.Name, Place: name, Kind: difference.Variable}
				if err := p.setVariable(e, v.Value, then.Value); err != nil {
					p.stay(e, err.Error(), true)
				}
			}
		}
		for j := range h.Services {
			p.beforeRestart(&h.Services[j], h.Name)
		}
	}
	slices.SortFunc(p.variables, func(a, b pair) int { return strings.Compare(a.do.Location(), b.do.Location()) })
}

func (p *plan) touchesOptions(s *state.Service, on string) bool {
	return slices.ContainsFunc(p.files, func(f pair) bool {
		return f.do.Host == on && (slices.Contains(s.Reads, f.do.Place) || strings.HasSuffix(f.do.Place, ".cnf"))
	})
}

func (p *plan) has(place string) bool {
	return slices.ContainsFunc(p.variables, func(v pair) bool { return v.do.Place == place })
}

// beforeRestart refuses the restart of a database server that has values which were set at
// run time: neither they nor those of the plan would outlive it, and an undo could not
// restore them.
func (p *plan) beforeRestart(s *state.Service, on string) {
	if !p.restart[s.Name] || !s.Engine.MySQLFamily() {
		return
	}
	p.variables = slices.DeleteFunc(p.variables, func(v pair) bool {
		return strings.HasPrefix(v.do.Place, s.Name+"/@@") // the files have them
	})
	for name, v := range s.Variables {
		if v.Origin == "sql" || v.Origin == "dynamic" {
			p.stays = append(p.stays, Stay{Host: on, Place: name, Why: "it was set at run time, and the restart of " + s.Name + " loses it", Matters: true})
		}
	}
	slices.SortFunc(p.stays, func(a, b Stay) int { return strings.Compare(a.Place, b.Place) })
}

// sysctl plans a value of the kernel, where the policy has /proc/sys.
func (p *plan) sysctl(e difference.Edit) error {
	nowHost, _ := p.now.Host(e.Host)
	thenHost, _ := p.then.Host(e.Host)
	name := filepath.Join("/proc/sys", strings.ReplaceAll(e.Place, ".", "/"))
	is, was := nowHost.Sysctl[e.Place], thenHost.Sysctl[e.Place]
	if p.d.Site.MayWrite(e.Host, name) != nil || strings.ContainsAny(is+was, " :") || is == "" || was == "" {
		p.stay(e, "set it by hand: sysctl -w "+e.Place+"='"+was+"'", true)
		return nil
	}
	do := iikanji.Op{Verb: iikanji.Write, Host: e.Host, Place: name, Body: was + "\n", Expect: change.FingerprintOf([]byte(is + "\n"))}
	undo := iikanji.Op{Verb: iikanji.Write, Host: e.Host, Place: name, Body: is + "\n", Expect: change.FingerprintOf([]byte(was + "\n"))}
	p.files = append(p.files, pair{do, undo})
	return nil
}

// change makes one change of all ops: files, restarts of databases, variables, indexes,
// then apps and web servers. The undo has the same order: a service must read its former
// files only after these are back.
func (p *plan) change(says string) *iikanji.Change {
	c := &iikanji.Change{Kind: Kind, Target: p.target(), Says: says, Risk: iikanji.RiskNone}
	add := func(pairs []pair) {
		for _, x := range pairs {
			c.Do, c.Undo = append(c.Do, x.do), append(c.Undo, x.undo)
		}
	}
	notice := func(verb iikanji.Verb, services map[string]bool, is func(iikanji.Engine) bool, risk iikanji.Risk) {
		for _, s := range p.d.Site.Target.Services {
			if services[s.Name] && is(s.Engine) {
				op := iikanji.Op{Verb: verb, Host: s.Host, Place: s.Name}
				c.Do, c.Undo, c.Risk = append(c.Do, op), append(c.Undo, op), max(c.Risk, risk)
			}
		}
	}
	database := func(e iikanji.Engine) bool { return e.MySQLFamily() }
	add(p.files)
	for _, on := range slices.Sorted(maps.Keys(p.systemd)) {
		op := iikanji.Op{Verb: iikanji.Reload, Host: on, Place: change.Systemd}
		c.Do, c.Undo, c.Risk = append(c.Do, op), append(c.Undo, op), max(c.Risk, iikanji.RiskReload)
	}
	notice(iikanji.Restart, p.restart, database, iikanji.RiskRestart)
	add(p.variables)
	for _, t := range p.tables {
		c.Do, c.Undo, c.Risk = append(c.Do, t.Do...), append(c.Undo, t.Undo...), max(c.Risk, t.Risk)
	}
	notice(iikanji.Restart, p.restart, func(e iikanji.Engine) bool { return !database(e) }, iikanji.RiskRestart)
	notice(iikanji.Reload, p.reload, func(iikanji.Engine) bool { return true }, iikanji.RiskReload)
	var ground strings.Builder
	for _, op := range c.Do {
		fmt.Fprintf(&ground, "%s %s\n", op.Location(), op.Expect)
	}
	c.Ground = change.FingerprintOf([]byte(ground.String()))
	return c
}

func (p *plan) target() string {
	if len(p.d.Site.Target.Services) > 0 {
		return p.d.Site.Target.Services[0].Name
	}
	return "site"
}
