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
	if o.asker != nil {
		if c, err := o.asker.Clients(ctx); err == nil {
			out = append(out, facts.ConnectionFact("app", "database", c))
		}
	}
	return out
}

// readAnswers adds what only the access log, read in other ways, and the
// samples of the load generator say of answers. It is lent by the sensor of
// the access log: where that is red, rules use none of it.
func (o *Observer) readAnswers(ctx context.Context, ob *Observation, access *iikanji.Profile) {
	if access == nil {
		return
	}
	ob.Seen = append(ob.Seen, volumeFact("nginx", "access", o.access.Size()-o.accessFrom))
	statuses, err := o.statuses(ctx)
	o.doubt(ob, err)
	ob.Seen = append(ob.Seen, statuses...)
	series, err := o.series(ctx, access)
	o.doubt(ob, err)
	if err != nil {
		return
	}
	o.doubt(ob, addClients(series, o.samples))
	for _, route := range slices.Sorted(maps.Keys(series)) {
		ob.Seen = append(ob.Seen, facts.SeriesFact("nginx", route, *series[route]))
	}
}

// doubt says of a run that less is known of it than could be.
func (o *Observer) doubt(ob *Observation, err error) {
	if err != nil {
		ob.Run.Warnings = append(ob.Run.Warnings, "less is known of the answers: "+err.Error())
	}
}
