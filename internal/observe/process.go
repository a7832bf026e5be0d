package observe

import (
	"context"
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/facts"
)

// processes says what the processes of the services may use and how they are
// connected, while the load still lasts. What cannot be read has no fact: the
// rules then say nothing.
func (o *Observer) processes(ctx context.Context) []iikanji.Fact {
	groups := map[string][]int{}
	if o.w.Groups != nil {
		maps.Copy(groups, o.w.Groups())
	}
	out := facts.SysctlFacts("local")
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if f, err := facts.LimitFacts(name, facts.Busiest(groups[name])); err == nil {
			out = append(out, f...)
		}
	}
	if f, err := facts.ListenFacts(groups); err == nil {
		out = append(out, f...)
	}
	return append(out, o.connections(ctx, groups)...)
}

// connections are how each app is connected to each database. With several
// apps they are told apart by the processes that hold the clients' sockets.
func (o *Observer) connections(ctx context.Context, groups map[string][]int) []iikanji.Fact {
	apps := o.w.Target.WithRole(iikanji.RoleApp)
	processes := map[string][]int{}
	for _, a := range apps {
		processes[a.Name] = groups[a.Name]
	}
	var out []iikanji.Fact
	for _, d := range o.databases {
		switch {
		case d.asker == nil || len(apps) == 0:
		case len(apps) == 1:
			if c, err := d.asker.Clients(ctx); err == nil {
				out = append(out, facts.ConnectionFact(apps[0].Name, d.service.Name, c))
			}
		default:
			by, err := d.asker.ClientsOf(ctx, d.service.Socket, processes)
			for _, a := range apps {
				if c, ok := by[a.Name]; ok && err == nil {
					out = append(out, facts.ConnectionFact(a.Name, d.service.Name, c))
				}
			}
		}
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
	statuses, err := access.statuses(name)
	o.doubt(ob, err)
	ob.Seen = append(ob.Seen, statuses...)
	if access.urls.Err != nil {
		o.doubt(ob, access.urls.Err)
		return
	}
	series := seriesOf(access.routes, access.urls.Profile)
	if w.front {
		o.doubt(ob, addClients(series, o.samples))
	}
	for _, route := range slices.Sorted(maps.Keys(series)) {
		ob.Seen = append(ob.Seen, facts.SeriesFact(name, route, *series[route]))
	}
}

// doubt says of a run that less is known of it than could be.
func (o *Observer) doubt(ob *Observation, err error) {
	if err != nil {
		ob.Run.Warnings = append(ob.Run.Warnings, "less is known of the answers: "+err.Error())
	}
}
