package topology

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func init() { change.Register(Kind{}) }

// Kind plans where services run. The package comment has its acts.
type Kind struct{}

var _ change.ReadsBack = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "topology" }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Which host a service runs on. The target is the service. Hosts are those of [[host]]; each that takes part must allow its folders, among them " + change.UnitsFolder + "."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := change.MatchAct[planner](acts, r)
	return act, err
}

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, args, err := change.MatchAct[planner](acts, r)
	if err != nil {
		return nil, err
	}
	return args.plan(&task{ctx: ctx, site: s, kind: k.Name(), target: r.Target})
}

// A task is one plan under way.
type task struct {
	ctx    context.Context
	site   *change.Site
	kind   string
	target string

	svc      iikanji.Service
	from, to host.Host
	toName   string
	address  string // of the new host for the clients
	server   server
	store    store
	clients  []client
}

// plan plans the next step of a move.
func (a *moveArgs) plan(t *task) (*iikanji.Change, error) {
	if err := t.find(a); err != nil {
		return nil, err
	}
	if t.svc.Engine.Caches() {
		return t.moveStore(a)
	}
	if err := t.findDatabase(a); err != nil {
		return nil, err
	}
	step := a.Step
	if step == "" {
		prepared, err := t.prepared()
		if err != nil {
			return nil, err
		}
		if step = stepPrepare; prepared {
			step = stepSwitch
		}
	}
	if step == stepPrepare {
		return t.prepare()
	}
	return t.move()
}

// find looks up the service and both hosts, and refuses what cannot be moved.
func (t *task) find(a *moveArgs) (err error) {
	svc, ok := t.site.Target.Service(a.Service)
	if !ok {
		return fmt.Errorf("service = %q: there is no such service", a.Service)
	}
	t.svc, t.toName = svc, a.to()
	if svc.Host == t.toName {
		return change.ErrNothing
	}
	refuses := t.site.Target.Stays
	if svc.Engine.Caches() { // which a person may ask for
		refuses = t.site.Target.Refuses
	}
	if why := refuses(svc, t.toName); why != "" {
		return errors.New(why)
	}
	if t.from, err = t.site.On(svc.Host); err != nil {
		return err
	}
	if t.to, err = t.site.On(t.toName); err != nil {
		return fmt.Errorf("to = %q: %w", a.To, err)
	}
	if t.address = t.site.Target.PrivateOf(t.toName); t.address == "" {
		return fmt.Errorf("the address of %s for the other hosts is not known: fill in private of its [[host]]", a.To)
	}
	return nil
}

// findDatabase reads the database and its clients.
func (t *task) findDatabase(a *moveArgs) (err error) {
	if a.Method == methodEmpty {
		return fmt.Errorf("method=empty is for caches: %s is a database", t.svc.Name)
	}
	if t.server, err = t.readServer(a.Method); err != nil {
		return err
	}
	if err := t.findClients(t.client); err != nil {
		return err
	}
	return t.keepsData(a)
}

// keepsData refuses a move whose undo would lose rows that nothing makes anew.
func (t *task) keepsData(a *moveArgs) error {
	b := t.site.Target.Bench
	if a.Back == "drop" || b.Resets || b.Scenario != "" || t.site.Initialize != nil {
		return nil
	}
	return errors.New("nothing is known that makes the data anew, so that an undo would lose the rows that were written after the switch: " +
		"fill in initialize or reset of [bench], or give back=drop")
}
