package process

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// Reloaded returns an error that names what is missing until a server such as nginx has
// taken its configuration: new children of its root process, and the end of the listening
// of the old ones.
func Reloaded(root ID, old []ID) error {
	if !root.Alive() {
		return fmt.Errorf("process %d has ended", root.PID)
	}
	if !slices.ContainsFunc(Children(root.PID), func(id ID) bool { return !slices.Contains(old, id) }) {
		return fmt.Errorf("process %d has no new workers yet", root.PID)
	}
	listens, err := listeners()
	if err != nil {
		return err
	}
	for _, id := range old {
		if id.Alive() && holds(id.PID, listens) {
			return fmt.Errorf("the old worker %d still takes connections", id.PID)
		}
	}
	return nil
}

// Children are the running processes whose parent is a process.
func Children(pid int) (of []ID) {
	all, _ := hostproc.Stats(host.Local{}) // none: no process can be seen
	for _, p := range all {
		if p.Parent == pid && !p.Ended() {
			of = append(of, ID{p.PID, p.Started})
		}
	}
	return of
}
