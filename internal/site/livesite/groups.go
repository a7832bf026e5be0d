package livesite

import (
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// An elsewhere is a service on a machine that is not its home: an instance, or a spare, which
// the site does not use.
type elsewhere struct {
	*target.Service // with that machine as its host

	mu     sync.Mutex
	proc   *process.Process // nil: it does not run, or is not found
	looked time.Time        // when it was last seen, or looked for
}

// lookAgain is how long a service elsewhere is taken to be as it was: a question to its machine
// each second, for each service, costs the machine more than its samples, and one that does not
// run costs a reading of all processes.
const lookAgain = 20 * time.Second

// findElsewhere lists the instances and spares of the site's services.
func (s *Subject) findElsewhere() {
	for i := range s.File().Services {
		home := &s.File().Services[i]
		for _, name := range slices.Concat(home.Instances, home.Spare) {
			there := *home
			there.Host = s.File().HostRef(name)
			if s.hosts[there.Host] != nil && there.Unit != "" { // the same unit is all that is known of it
				s.elsewhere = append(s.elsewhere, &elsewhere{Service: &there})
			}
		}
	}
}

// pid is the process of a service elsewhere; 0 for none.
func (s *Subject) pid(e *elsewhere) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := s.hosts[e.Host]
	lately := !e.looked.IsZero() && time.Since(e.looked) < lookAgain
	switch {
	case e.proc == nil && lately:
		return 0
	case e.proc != nil && (lately && host.WorkerOf(h) != nil || e.proc.Alive(h)):
		if !lately {
			e.looked = time.Now()
		}
		return e.proc.PID
	}
	e.proc, e.looked = nil, time.Now()
	m, err := process.ReadMachine(h)
	if err != nil {
		return 0
	}
	if e.proc, err = Find(m, e.Service); err != nil {
		e.proc = nil
		return 0
	}
	return e.proc.PID
}

// awaits reports whether the end of a service's process is waited for on another machine, so
// that the machine need not be asked whether the process runs.
func (s *Subject) awaits(r *running) bool { return s.died != nil && r.far() }

// GroupsOn are the root processes of all services on one machine, also of instances and of
// spares, by the service's name.
func (s *Subject) GroupsOn(name string) map[string][]int {
	groups := map[string][]int{}
	for _, r := range s.running() {
		if p := r.process(); r.Host == name && p != nil && (s.awaits(r) || p.Alive(r.host)) {
			groups[r.Name] = []int{p.PID}
		}
	}
	for _, e := range s.elsewhere {
		if e.Host != name || groups[e.Name] != nil {
			continue
		}
		if pid := s.pid(e); pid > 0 {
			groups[e.Name] = []int{pid}
		}
	}
	return groups
}
