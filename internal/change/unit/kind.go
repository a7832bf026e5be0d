package unit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func init() { change.Register(Kind{}) }

// Kind plans settings of units. The package comment has its acts.
type Kind struct{}

var _ change.ReadsBack = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "unit" }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Settings and states of systemd's units, in files of iikanji's own; the target is a service of the site, or host:NAME. The policy must allow " + Folder + ", or the unit's drop-in in it."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := change.MatchAct[planner](acts, r)
	return act, err
}

// Folder is where administrators put units and drop-ins (systemd.unit(5)).
const Folder = change.UnitsFolder

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, args, err := change.MatchAct[planner](acts, r)
	if err != nil {
		return nil, err
	}
	on, machine, err := hostOf(s, r.Target)
	if err != nil {
		return nil, err
	}
	if err := s.MayChangeUnit(on, args.unit()); err != nil {
		return nil, err
	}
	if _, booted := s.Services[change.Systemd]; !booted && on == "" {
		return nil, fmt.Errorf("the target is not allowed to change units: systemd has not booted the machine")
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: args.says(), Risk: iikanji.RiskNone}
	if a, ok := args.(*stateArgs); ok {
		return c, a.plan(ctx, s, on, c)
	}
	a, ok := args.(editor)
	if !ok {
		return nil, fmt.Errorf("BUG: act %T has no plan", args)
	}
	path, text := a.edit()
	old, err := s.ReadOld(on, path)
	if err != nil {
		return nil, err
	}
	edited := text(old)
	if bytes.Equal(old, edited) {
		return nil, change.ErrNothing
	}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Host: on, Path: path, Old: old, New: edited, Folder: true})
	notice := []iikanji.Op{{Verb: iikanji.Reload, Host: on, Place: change.Systemd}}
	if a.restarts() {
		c.Risk = iikanji.RiskRestart
		notice = append(notice, iikanji.Op{Verb: iikanji.Restart, Host: on, Place: restarted(s, r.Target, machine, a.unit())})
	}
	c.Do, c.Undo = slices.Concat(c.Do, notice), slices.Concat(c.Undo, notice)
	return c, nil
}

// hostOf is the host of a target: that of a service or of host:NAME. A unit of this machine
// that is no service of the site is a target by its own name.
func hostOf(s *change.Site, target string) (name string, machine bool, err error) {
	if name, machine, err = s.HostOf(target); err != nil && strings.HasSuffix(target, ".service") {
		return "", true, nil
	}
	return name, machine, err
}

// restarted is what has to be restarted: the service, where the unit is its own one, else
// the unit.
func restarted(s *change.Site, target string, machine bool, unit string) string {
	if svc, ok := s.Target.Service(target); ok && !machine && svc.Unit == unit && s.Services[target].Running != nil {
		return target
	}
	return unit
}

// on is the host of a change.
func on(s *change.Site, c *iikanji.Change) (host.Host, error) {
	name, _, err := hostOf(s, c.Target)
	if err != nil {
		return nil, err
	}
	return s.On(name)
}
