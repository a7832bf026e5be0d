package work

import (
	"cmp"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// A MovedError is a service that ran on another machine in the state that is to be brought back.
type MovedError struct {
	Service, Now, Then string // hosts
	Run                iikanji.RunID
}

func (e *MovedError) Error() string {
	name := func(host string) string { return cmp.Or(host, "this machine") }
	return fmt.Sprintf("%s runs on %s, and ran on %s in run %d", e.Service, name(e.Now), name(e.Then), e.Run)
}

// Hints tells what to do first.
func (e *MovedError) Hints() []string {
	return []string{"undo its move first: iikanji history names the changes, iikanji revert undoes them"}
}

// overMove refuses the way over a move of a service: its files and units are those of the changes
// that moved it, and without the move they would lead its clients to a server that is not there.
func overMove(now, then *state.State) error {
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
					return &MovedError{Service: s.Name, Now: now.Hosts[i].Name, Then: then.Hosts[k].Name, Run: then.Run}
				}
			}
		}
	}
	return nil
}

// running reports whether a service had a process on its host: instances and spares are known by
// their names alone.
func running(s *state.Service) bool { return s.Program.Path != "" || s.Tables != nil }
