package observe

import (
	"context"
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// processes are the limits, the listening sockets and the connections of the
// services' processes, while the load still lasts, and the parameters of their
// hosts' kernels. What cannot be read has no fact.
func (o *Observer) processes(ctx context.Context) []iikanji.Fact {
	var out []iikanji.Fact
	for _, w := range o.hosts {
		for _, f := range facts.SysctlFacts(w.h, w.name()) {
			f.Host = w.h.Name()
			out = append(out, f)
		}
		groups := o.w.groupsOn(w.h)
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			if f, err := facts.LimitFacts(w.h, name, facts.Busiest(w.h, groups[name])); err == nil {
				out = append(out, f...)
			}
			out = append(out, o.workers(w.h, name, groups[name])...)
		}
		if f, err := facts.ListenFacts(w.h, groups); err == nil {
			out = append(out, f...)
		}
	}
	return append(out, o.connections(ctx)...)
}

// workers are how the app server of an app runs; nothing for other services.
func (o *Observer) workers(h host.Host, name string, roots []int) []iikanji.Fact {
	s, _ := o.w.Target.Service(name)
	if s.Role != iikanji.RoleApp || len(roots) == 0 {
		return nil
	}
	config := ""
	if len(s.Configs) > 0 {
		config = s.Configs[0]
	}
	f, err := facts.WorkerFacts(h, name, roots[0], config)
	if err != nil {
		return nil
	}
	return f
}

// connections are how each app is connected to each database. With several
// apps they are distinguished by the processes that have the clients' sockets open.
func (o *Observer) connections(ctx context.Context) []iikanji.Fact {
	apps := o.w.Target.WithRole(iikanji.RoleApp)
	var out []iikanji.Fact
	for _, d := range o.databases {
		switch {
		case d.asker == nil || len(apps) == 0:
		case len(apps) == 1:
			if c, err := d.asker.Clients(ctx); err == nil {
				out = append(out, facts.ConnectionFact(apps[0].Name, d.service.Name, c))
			}
		default:
			for _, w := range o.hosts {
				out = append(out, o.connectionsFrom(ctx, w.h, d)...)
			}
		}
	}
	return out
}

// connectionsFrom are how the apps of a host are connected to a database.
func (o *Observer) connectionsFrom(ctx context.Context, h host.Host, d *databaseWatch) []iikanji.Fact {
	groups := o.w.groupsOn(h)
	maps.DeleteFunc(groups, func(name string, _ []int) bool {
		s, _ := o.w.Target.Service(name)
		return s.Role != iikanji.RoleApp
	})
	if len(groups) == 0 {
		return nil
	}
	socket := ""
	if d.host.Name() == h.Name() {
		socket = d.service.Socket
	}
	by, err := d.asker.ClientsOf(ctx, h, socket, groups)
	if err != nil {
		return nil
	}
	var out []iikanji.Fact
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, facts.ConnectionFact(name, d.service.Name, by[name]))
	}
	return out
}

// readAnswers adds what only the access log, read in other ways, and the
// samples of the load generator contain about answers. It belongs to the sensor
// of the access log: where that is red, rules use none of it.
func (o *Observer) readAnswers(ob *Observation, w *webWatch, access *accessRead) {
	if access.routes == nil || len(access.routes.Rows) == 0 {
		return
	}
	name := w.service.Name
	ob.Seen = append(ob.Seen, volumeFact(name, "access", w.written()))
	ob.Seen = append(ob.Seen, w.resets()...)
	statuses, err := access.statuses(name)
	o.doubt(ob, err)
	ob.Seen = append(ob.Seen, statuses...)
	ob.Seen = append(ob.Seen, access.agentFacts(name)...)
	if access.urls.Err != nil {
		o.doubt(ob, access.urls.Err)
		return
	}
	series := seriesOf(access.routes, access.urls.Profile)
	addURLs(series, access.routes, access.urls.Profile, ob.Run.Took)
	if w.front {
		o.doubt(ob, addClients(series, o.samples))
		o.doubt(ob, o.noClients)
	}
	for _, route := range slices.Sorted(maps.Keys(series)) {
		ob.Seen = append(ob.Seen, facts.SeriesFact(name, route, *series[route]))
	}
}

// doubt warns that less is known about the answers of a run.
func (o *Observer) doubt(ob *Observation, err error) {
	if err != nil {
		ob.Run.Warnings = append(ob.Run.Warnings, "less is known about the answers: "+err.Error())
	}
}
