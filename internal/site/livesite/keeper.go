package livesite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/process"
)

// A keeper is the shell script that has started a service and still runs. It may start the
// service again when it ends, as a loop does: a second process that iikanji started would
// then be in its way.
type keeper struct {
	id       process.ID
	says     string       // its command line
	known    bool         // keeps was seen
	keeps    bool         // it starts the service again
	siblings []process.ID // its other processes, before the service was ended
}

// keeperWait is how long a script has, at the first restart, to start the service again:
// loops of scripts usually sleep a second. Afterwards it is known whether it does.
const keeperWait = 3 * time.Second

// shells are programs that run scripts.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"}

// keeperOf is the script that has started a process; nil for none. A shell in which a person
// types is none.
func keeperOf(parent *process.Process) *keeper {
	if parent == nil || parent.PID == 1 || !slices.Contains(shells, filepath.Base(parent.Program)) || len(parent.Args) < 2 {
		return nil
	}
	first := parent.Args[1]
	if strings.HasPrefix(first, "-") && (strings.HasPrefix(first, "--") || !strings.Contains(first, "c")) && len(parent.Args) < 3 {
		return nil // options alone, as of a login
	}
	return &keeper{id: parent.ID(), says: parent.Command()}
}

// ends notes which processes the keeper has beside the service, which is ended next.
func (r *running) ends() {
	if k := r.keeper; k != nil {
		k.siblings = process.ChildrenOn(r.host, k.id.PID)
	}
}

// startedByKeeper waits for the process that the keeper starts in place of the ended one,
// and takes it for that of the service. own is how iikanji would start it. The result is
// false if the keeper starts none. An interrupt does not end the wait while it is not known
// whether the keeper starts one: two processes would be in each other's way.
func (r *running) startedByKeeper(ctx context.Context, held *process.Held, own process.Spec) (bool, error) {
	k := r.keeper
	if k == nil || k.known && !k.keeps {
		return false, nil
	}
	wait := keeperWait
	if k.keeps {
		wait = serviceWait
	}
	done := ctx.Done()
	if !k.known {
		done = nil
	}
	var p *process.Process
	for end := time.Now().Add(wait); p == nil && time.Now().Before(end) && k.id.AliveOn(r.host); p = r.newOf(k) {
		select {
		case <-done: // it starts the service without iikanji
			return true, joinErrors(context.Cause(ctx), held.Drop(context.WithoutCancel(ctx)))
		case <-time.After(20 * time.Millisecond):
		}
	}
	if k.known, k.keeps = true, p != nil; p == nil {
		return false, nil
	}
	if err := held.Drop(context.WithoutCancel(ctx)); err != nil {
		return false, err
	}
	r.mu.Lock()
	r.proc, r.child, r.started = p, nil, nil
	r.mu.Unlock()
	if found := r.origin.Spec; !slices.Equal(own.Env, found.Env) || !slices.Equal(own.Args, found.Args) {
		return true, fmt.Errorf("service %s: process %d (%s) has started it again, without the variables and arguments that a change sets", r.Name, k.id.PID, k.says)
	}
	return true, nil
}

// newOf is a process that the keeper has started since the service was ended, with the
// service's program and command line; nil for none.
func (r *running) newOf(k *keeper) *process.Process {
	for _, id := range process.ChildrenOn(r.host, k.id.PID) {
		if slices.Contains(k.siblings, id) {
			continue
		}
		p, err := process.ReadProcess(r.host, id.PID)
		if err == nil && p.Program == r.origin.Spec.Path && slices.Equal(p.Args, r.origin.Spec.Args) {
			return p
		}
	}
	return nil
}
