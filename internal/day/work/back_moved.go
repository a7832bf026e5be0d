package work

import (
	"cmp"
	"fmt"

	"github.com/iikanji/iikanji/internal/day/work/state"
)

// overMove is a service that ran on another host then; nil for none. Nothing is brought back over
// a move: the service's files and units are those of the changes that moved it, and without the
// move they would lead its clients to a server that is not there.
func overMove(now, then *state.State) *Stay {
	for i := range now.Hosts {
		for j := range now.Hosts[i].Services {
			s := &now.Hosts[i].Services[j]
			if !running(s) {
				continue
			}
			if here, ok := then.Host(now.Hosts[i].Name); ok {
				if was, ok := here.Service(s.Name); ok && running(was) {
					continue
				}
			}
			for k := range then.Hosts {
				if was, ok := then.Hosts[k].Service(s.Name); ok && running(was) {
					return &Stay{Host: now.Hosts[i].Name, Place: s.Name, Matters: true,
						Why: fmt.Sprintf("it runs on %s and ran on %s in run %d: undo its move first (iikanji history, iikanji revert)",
							cmp.Or(now.Hosts[i].Name, "this machine"), cmp.Or(then.Hosts[k].Name, "this machine"), then.Run)}
				}
			}
		}
	}
	return nil
}

// running reports whether a service had a process on its host: instances and spares are known by
// their names alone.
func running(s *state.Service) bool { return s.Program.Path != "" || s.Tables != nil }
