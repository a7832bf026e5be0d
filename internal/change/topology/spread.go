package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/ties"
	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A spread is the plan of several instances of an app.
type spread struct {
	*task
	args  *spreadArgs
	home  host.Host
	port  string // that the app listens at
	is    unitFiles
	away  []*instance
	ties  []ties.Tie
	known bool // whether its source is read
}

// An instance is the app on another host.
type instance struct {
	name    string // HostRef.Name
	on      host.Host
	address string // for the front
	was     change.UnitState
	links   []change.UnitLink
}

// at is where the front reaches an instance.
func (i *instance) at(port string) string { return net.JoinHostPort(i.address, port) }

// plan plans the next step of a spread.
func (a *spreadArgs) plan(t *task) (*iikanji.Change, error) {
	s := &spread{task: t, args: a}
	if err := s.find(); err != nil {
		return nil, err
	}
	if err := s.shared(); err != nil {
		return nil, err
	}
	ready, err := s.ready()
	switch {
	case err != nil:
		return nil, err
	case a.Step == stepSwitch || a.Step == "" && ready:
		return s.lead()
	case ready:
		return nil, change.ErrNothing
	}
	return s.prepareInstances()
}

// find looks up the app and the hosts, and refuses what cannot be spread.
func (s *spread) find() (err error) {
	if err := s.findApp(s.args.Service); err != nil {
		return err
	}
	if s.home, err = s.site.On(s.svc.Host); err != nil {
		return err
	}
	hosts, err := hostsOf(s.args.Over)
	if err != nil {
		return err
	}
	if !slices.Contains(hosts, s.svc.Host) {
		return fmt.Errorf("over: %s itself runs on %q, which is not among them: move it first", s.svc.Name, s.svc.Host)
	}
	for _, name := range hosts {
		if name == s.svc.Host {
			continue
		}
		i, err := s.instanceOn(name)
		if err != nil {
			return err
		}
		s.away = append(s.away, i)
	}
	s.is, err = s.unitFiles()
	return err
}

// findApp looks up an app of a unit that listens at a port.
func (t *task) findApp(name string) error {
	svc, ok := t.site.Target.Service(name)
	switch {
	case !ok:
		return fmt.Errorf("service = %q: there is no such service", name)
	case svc.Role != iikanji.RoleApp:
		return fmt.Errorf("%s is no app: only apps run on several hosts", name)
	case svc.Unit == "":
		return fmt.Errorf("%s has no systemd unit, by which it could be started on each host", name)
	}
	t.svc = svc
	return nil
}

// instanceOn is the app on another host, which has its unit.
func (s *spread) instanceOn(name string) (*instance, error) {
	i := &instance{name: name}
	var err error
	if i.on, err = s.site.On(name); err != nil {
		return nil, fmt.Errorf("over: %w", err)
	}
	if roles := s.site.Target.Roles[name]; len(roles) > 0 && !slices.Contains(roles, s.svc.Role) {
		return nil, fmt.Errorf("the roles of %s do not have %s", name, s.svc.Role)
	}
	if i.address = s.site.Target.PrivateOf(name); i.address == "" {
		return nil, fmt.Errorf("the address of %s for the other hosts is not known: fill in private of its [[host]]", name)
	}
	if _, s.port, err = net.SplitHostPort(s.svc.Address); err != nil {
		return nil, fmt.Errorf("%s does not listen at a port, at which another host could reach it", s.svc.Name)
	}
	if err := s.site.MayChangeUnit(name, s.svc.Unit); err != nil {
		return nil, err
	}
	if i.was, i.links, err = change.ReadUnit(s.ctx, i.on, s.svc.Unit); err != nil {
		return nil, fmt.Errorf("%s has nothing to run it with: %w", name, err)
	}
	return i, nil
}

// A SharedError is a place that keeps an app on one host.
type SharedError struct {
	Service string
	Tie     ties.Tie
	More    int // further places
}

func (e *SharedError) Error() string {
	more := ""
	if e.More > 0 {
		more = fmt.Sprintf(", and %d more", e.More)
	}
	return fmt.Sprintf("%s keeps %s on its host at %s (%s)%s: %s", e.Service, e.Tie.Kind, e.Tie.Place(), e.Tie.Name, more, e.Tie.Breaks())
}

// Hints implements the hints of errors.
func (e *SharedError) Hints() []string { return []string{e.Tie.Cure()} }

// shared refuses an app that has on its host what requests of all instances need.
func (s *spread) shared() (err error) {
	svc := s.site.Services[s.svc.Name]
	app := appserver.App{Source: cmp.Or(svc.Source, svc.SourceThere), Program: svc.Package}
	if pids, _ := svc.Processes(); len(pids) > 0 {
		app.PID = pids[0]
	}
	if s.ties, s.known, err = appserver.Ties(s.home, app); err != nil {
		return fmt.Errorf("reading what %s keeps on its host: %w", s.svc.Name, err)
	}
	stops := func(t ties.Tie) bool {
		v := t.Spread()
		return v == ties.Refused || v == ties.ByHost || v == ties.Pinned && s.args.By != byPath
	}
	first, n := -1, 0
	for i, t := range s.ties {
		if stops(t) {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return nil
	}
	e := &SharedError{s.svc.Name, s.ties[first], n - 1}
	if e.Tie.Spread() == ties.Pinned {
		return fmt.Errorf("%w; by=path leaves %s on %s", e, strings.Join(e.Tie.Routes, ", "), s.svc.Host)
	}
	return e
}

// ready reports whether all instances run as the switch needs them.
func (s *spread) ready() (bool, error) {
	for _, i := range s.away {
		edits, err := s.dropInsOf(i)
		if err != nil {
			return false, err
		}
		for _, e := range edits {
			if string(e.Old) != string(e.New) {
				return false, nil
			}
		}
		if !i.was.Active {
			return false, nil
		}
	}
	return true, nil
}

// weakened are the promises that several instances weaken: those of one more host, and of an
// app whose source is not read, nothing says what it keeps in its process.
func (s *spread) weakened() []iikanji.Promise {
	all := slices.Clone(s.weakens())
	if !s.known {
		all = append(all, iikanji.Behaviour)
	}
	return all
}

// inForce: the front's workers have the new configuration, and initialize works once.
func (a *spreadArgs) inForce(ctx context.Context, s *change.Site, c *iikanji.Change, all bool) error {
	return frontInForce(ctx, s, c, all)
}

func frontInForce(ctx context.Context, s *change.Site, c *iikanji.Change, all bool) error {
	for _, op := range c.Do {
		if op.Verb != iikanji.Reload || op.Place == change.Systemd {
			continue
		}
		if err := nginxedit.InForce(ctx, s, op.Place, c, nginxedit.Workers{}); err != nil {
			return err
		}
		if s.Initialize == nil || all {
			return nil
		}
		if err := s.Initialize(ctx); err != nil {
			return fmt.Errorf("initialize fails with several instances: %w", err)
		}
	}
	return nil
}

var errNoFront = errors.New("no nginx of the site leads to it, by which requests could be divided")
