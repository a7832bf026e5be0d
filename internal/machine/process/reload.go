package process

import (
	"context"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// Reloaded is ReloadedOn for this machine.
func Reloaded(root ID, old []ID) error { return ReloadedOn(host.Local{}, root, old) }

// ReloadedOn returns an error that names what is missing until a server of a host, such as
// nginx, has taken its configuration: new children of its root process, and the end of the
// listening of the old ones.
func ReloadedOn(h host.Host, root ID, old []ID) error {
	missing, err := reloadTask().On(context.Background(), h, reloading{root, old})
	if err == nil && missing != "" {
		err = missingError(missing)
	}
	return err
}

// A missingError is what a reload still lacks.
type missingError string

func (e missingError) Error() string { return string(e) }

// A reloading is a server with the workers that it had before its reload.
type reloading struct {
	Root ID
	Old  []ID
}

// lacking is what is missing, "" for nothing.
func lacking(h host.Host, of reloading) (string, error) {
	if !of.Root.AliveOn(h) {
		return fmt.Sprintf("process %d has ended", of.Root.PID), nil
	}
	if !slices.ContainsFunc(childrenOf(h, of.Root.PID), func(id ID) bool { return !slices.Contains(of.Old, id) }) {
		return fmt.Sprintf("process %d has no new workers yet", of.Root.PID), nil
	}
	listens, err := listeners(h)
	if err != nil {
		return "", err
	}
	for _, id := range of.Old {
		if id.AliveOn(h) && holds(h, id.PID, listens) {
			return fmt.Sprintf("the old worker %d still takes connections", id.PID), nil
		}
	}
	return "", nil
}

// Children is ChildrenOn for this machine.
func Children(pid int) (of []ID) { return ChildrenOn(host.Local{}, pid) }

// ChildrenOn are the running processes of a host whose parent is a process.
func ChildrenOn(h host.Host, pid int) []ID {
	of, _ := childrenTask().On(context.Background(), h, pid) // of a host that is lost: none
	return of
}

func childrenOf(h host.Host, pid int) (of []ID) {
	all, _ := hostproc.Stats(h) // none: no process can be seen
	for _, p := range all {
		if p.Parent == pid && !p.Ended() {
			of = append(of, ID{p.PID, p.Started})
		}
	}
	return of
}
