package change

import (
	"time"

	"github.com/iikanji/iikanji"
)

// An AnswerKeeper is a kind whose changes keep answers of the app beyond initialize, which
// does not drop them.
type AnswerKeeper interface {
	Kind
	// KeptUntil is the time from which a service sends no answer that it kept before a
	// moment; the zero time if it keeps none. An error means that it is not known.
	KeptUntil(s *Site, svc Service, moment time.Time) (time.Time, error)
}

// KeptUntil is the time from which no service of a site sends an answer that a change had it
// keep before a moment; the zero time if none keeps answers. A service whose configuration
// cannot be read keeps none: no change was made there.
func KeptUntil(s *Site, moment time.Time) (until time.Time) {
	for _, kind := range registry {
		k, ok := kind.(AnswerKeeper)
		if !ok {
			continue
		}
		for name, svc := range s.Services {
			svc.Engine = s.engineOf(name)
			if end, err := k.KeptUntil(s, svc, moment); err == nil && end.After(until) {
				until = end
			}
		}
	}
	return until
}

// engineOf is the engine of a service, "" if it is unknown.
func (s *Site) engineOf(name string) iikanji.Engine {
	for _, svc := range s.Target.Services {
		if svc.Name == name {
			return svc.Engine
		}
	}
	return s.Services[name].Engine
}
