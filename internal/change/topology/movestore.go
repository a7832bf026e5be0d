package topology

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// moveStore plans the next step of a move of a Redis or a memcached. The preparation has the
// server listen on the new host; the switch ends the former one, takes its files along, and leads
// the clients, so that no key is written in between.
func (t *task) moveStore(a *moveArgs) (*iikanji.Change, error) {
	var err error
	if _, t.server.port, err = net.SplitHostPort(t.svc.Address); err != nil {
		return nil, fmt.Errorf("%s does not listen at a port, at which another host could reach it", t.svc.Name)
	}
	if err := t.readStore(a); err != nil {
		return nil, err
	}
	if err := t.findClients(t.storeClient); err != nil {
		return nil, err
	}
	edits, ready, err := t.storeEdits()
	switch {
	case err != nil:
		return nil, err
	case a.Step == stepSwitch && !ready:
		return nil, fmt.Errorf("%s does not serve other hosts on %s yet: %w", t.svc.Unit, t.toName, errNotPrepared)
	case a.Step != stepPrepare && ready:
		return t.switchStore()
	case ready:
		return nil, change.ErrNothing
	}
	return t.prepareStore(edits), nil
}

// storeClient reads how an app connects to the cache, and reports whether it does.
func (t *task) storeClient(app iikanji.Service) (client, bool, error) {
	c, env, files, err := t.readClient(app)
	if err != nil {
		return c, false, err
	}
	a := &cacheAddress{files: files, env: env, engine: t.svc.Engine, names: t.namesAt(app.Host), port: t.server.port, to: t.address}
	found, err := a.find()
	if err != nil || found == nil {
		return c, false, err
	}
	c.sets, c.place = found.sets, found.place
	return c, true, t.mayLead(c)
}

// serverDropIn is the file of the moved server's unit: it may boot before its address is there.
const serverDropIn = "91-iikanji-server.conf"

// storeEdits are the files of the server on the new host, and whether it serves with them.
func (t *task) storeEdits() (edits []change.Edit, ready bool, err error) {
	conf := change.Edit{Host: t.toName, Path: t.store.conf}
	unit := change.Edit{Host: t.toName, Path: filepath.Join(change.UnitsFolder, t.svc.Unit+".d", serverDropIn), Folder: true, New: []byte(clientUnit)}
	for _, e := range []*change.Edit{&conf, &unit} {
		if e.Old, err = t.site.ReadOld(e.Host, e.Path); err != nil {
			return nil, false, err
		}
	}
	conf.New = []byte(t.listeningStore(string(conf.Old)))
	ready = t.server.was == t.running()
	for _, e := range []change.Edit{conf, unit} {
		if string(e.Old) != string(e.New) {
			edits, ready = append(edits, e), false
		}
	}
	return edits, ready, nil
}

// running is the state of the server's unit on the new host once it serves.
func (t *task) running() change.UnitState {
	return change.UnitState{Active: true, Enabled: t.server.was.Enabled || len(t.server.links) > 0}
}

// prepareStore starts the server on the new host, for other hosts too.
func (t *task) prepareStore(edits []change.Edit) *iikanji.Change {
	c := &iikanji.Change{Kind: t.kind, Target: t.target, Risk: iikanji.RiskNone, Prepares: true, Weakens: t.weakens(),
		Says: fmt.Sprintf("prepare %s on %s: it listens at %s; then plan the same again for the switch", t.svc.Name, t.toName, t.address)}
	p := &preparation{change: c}
	at := func(from, to change.UnitState) iikanji.Op {
		return change.UnitOp(t.toName, t.svc.Unit, from, to, t.server.links)
	}
	off := change.UnitState{}
	if t.server.was != off {
		p.step([]iikanji.Op{at(t.server.was, off)}, []iikanji.Op{at(off, t.server.was)})
	}
	reload := iikanji.Op{Verb: iikanji.Reload, Host: t.toName, Place: change.Systemd}
	p.step(nil, []iikanji.Op{reload}) // of the undo, after its files
	p.edits(edits...)
	p.step([]iikanji.Op{reload}, nil)
	p.step([]iikanji.Op{at(off, t.running())}, []iikanji.Op{at(t.running(), off)})
	p.finish()
	return c
}

// switchStore leads the clients to the server on the new host.
func (t *task) switchStore() (*iikanji.Change, error) {
	for _, c := range t.clients {
		if err := t.reachable(c); err != nil {
			return nil, err
		}
	}
	edits, err := t.dropIns()
	if err != nil {
		return nil, err
	}
	if !t.server.home.Active {
		if same(edits) {
			return nil, change.ErrNothing
		}
		return nil, fmt.Errorf("%s does not run on %s", t.svc.Unit, hostText(t.svc.Host))
	}
	placement, err := t.placement()
	if err != nil {
		return nil, err
	}
	data, err := t.carry()
	if err != nil {
		return nil, err
	}
	with := "without its keys"
	if t.store.data != "" {
		with = "with " + t.store.data
	}
	c := &iikanji.Change{Kind: t.kind, Target: t.target, Risk: iikanji.RiskRestart, Weakens: t.weakens(),
		Says: fmt.Sprintf("lead %s to %s on %s, %s: %s", t.clientNames(), t.svc.Name, t.toName, with, t.variables())}
	t.ops(c, edits, placement, data)
	return c, nil
}

// same reports whether files have their content already.
func same(edits []change.Edit) bool {
	return !slices.ContainsFunc(edits, func(e change.Edit) bool { return e.Old == nil || !bytes.Equal(e.Old, e.New) })
}

// carry are the ops that put a copy of the ended server's folder onto the new host.
func (t *task) carry() (data carried, err error) {
	if t.store.data == "" {
		return data, nil
	}
	found, err := change.FolderID(t.to, t.store.data)
	if err != nil {
		return data, err
	}
	put, back := change.PlaceOps(t.toName, t.store.data, change.PlaceOrder{Host: t.svc.Host, Source: t.store.data, Found: found, Directly: t.site.Target.PrivateOf(t.svc.Host)})
	on := t.running()
	ended := change.UnitState{Enabled: on.Enabled}
	at := func(from, to change.UnitState) iikanji.Op {
		return change.UnitOp(t.toName, t.svc.Unit, from, to, t.server.links)
	}
	return carried{[]iikanji.Op{at(on, ended), put, at(ended, on)}, []iikanji.Op{at(on, ended), back, at(ended, on)}}, nil
}
