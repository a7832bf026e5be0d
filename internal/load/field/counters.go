package field

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// counters reads the counters of every database of a site, by service.
type counters []namedCounter

type namedCounter struct {
	service string
	*observe.Counter
}

func countersOf(s Subject) counters {
	var cs counters
	site := s.Site()
	for _, d := range s.Target().WithRole(iikanji.RoleDatabase) {
		if db := site.Services[d.Name].DB(); db != nil {
			cs = append(cs, namedCounter{d.Name, &observe.Counter{DB: db}})
		}
	}
	return cs
}

func (cs counters) phase(p scenario.Phase, begins bool) {
	for _, c := range cs {
		c.Phase(p, begins)
	}
}

// mark writes the counts to a run. With several databases, the name of each count has
// the name of its database.
func (cs counters) mark(run *iikanji.Run) {
	for _, c := range cs {
		prefix := ""
		if len(cs) > 1 {
			prefix = c.service + ": "
		}
		for name, n := range c.Counts() {
			if run.Counts == nil {
				run.Counts = map[string]float64{}
			}
			run.Counts[prefix+name] = n
		}
		if c.Err != nil {
			run.Warnings = append(run.Warnings, c.Err.Error())
		}
	}
}
