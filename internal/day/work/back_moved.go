package work

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji/internal/day/work/state"
)

// overMove is a service that ran on another host then; nil for none. Nothing is brought back over
// a move: the service's files and units are those of the changes that moved it, and without the
// move they would lead its clients to a server that is not there.
func overMove(now, then *state.State) *Stay {
	for i := range now.Hosts {
		h := &now.Hosts[i]
		for j := range h.Services {
			s := &h.Services[j]
			if !running(s) {
				continue
			}
			ran := hostsOf(then, s.Name)
			if len(ran) == 0 || slices.Contains(ran, h.Name) {
				continue
			}
			return &Stay{Host: h.Name, Place: s.Name, Matters: true,
				Why: fmt.Sprintf("it runs on %s and ran on %s in run %d: undo its move first (iikanji history, iikanji revert)",
					cmp.Or(h.Name, "this machine"), cmp.Or(ran[0], "this machine"), then.Run)}
		}
	}
	return nil
}

// hostsOf are the hosts on which a service ran in a state.
func hostsOf(s *state.State, service string) (names []string) {
	for i := range s.Hosts {
		if svc, ok := s.Hosts[i].Service(service); ok && running(svc) {
			names = append(names, s.Hosts[i].Name)
		}
	}
	return names
}

// running reports whether a service had a process on its host: instances and spares are known by
// their names alone.
func running(s *state.Service) bool { return s.Program.Path != "" || s.Tables != nil }
