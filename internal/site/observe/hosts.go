package observe

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// thisMachine is the Target of the profile and the facts of the host whose name
// is empty.
const thisMachine = "local"

// host is a host of the target by its name.
func (w Watched) host(name string) host.Host {
	if w.Hosts == nil {
		return host.Local{}
	}
	if h := w.Hosts(name); h != nil || name != "" {
		return h
	}
	return host.Local{}
}

// hosts are this machine, which the load generator runs on, and the other hosts
// of the target's services, in the target's order.
func (w Watched) hosts() []host.Host {
	names := []string{""}
	for _, s := range w.Target.Services {
		if w.Hosts != nil && !slices.Contains(names, s.Host) {
			names = append(names, s.Host)
		}
	}
	for _, h := range w.Target.Hosts { // without a service: there is room
		if w.Hosts != nil && !slices.Contains(names, h.Name) && w.Hosts(h.Name) != nil {
			names = append(names, h.Name)
		}
	}
	var out []host.Host
	for _, name := range names {
		out = append(out, w.host(name))
	}
	return out
}

// groupsOn are the root processes of the services of a host at this moment.
func (w Watched) groupsOn(h host.Host) map[string][]int {
	if w.Groups == nil {
		return map[string][]int{}
	}
	out := maps.Clone(w.Groups())
	maps.DeleteFunc(out, func(name string, _ []int) bool {
		s, _ := w.Target.Service(name)
		return w.Hosts != nil && s.Host != h.Name()
	})
	return out
}

// placed are facts with the host of the service that they are about.
func (w Watched) placed(known []iikanji.Fact) []iikanji.Fact {
	for i := range known {
		if s, ok := w.Target.Service(known[i].Target); ok {
			known[i].Host = s.Host
		}
	}
	return known
}

// A hostWatch samples one host during the load.
type hostWatch struct {
	h        host.Host
	recorder *hoststat.Recorder // nil before the load
	samples  []hoststat.Sample
	err      error // the first
}

// name is the Target of the host's profile and facts.
func (w *hostWatch) name() string {
	if name := w.h.Name(); name != "" {
		return name
	}
	return thisMachine
}

func (w *hostWatch) begin(watched Watched) {
	w.recorder, w.err = hoststat.Record(w.h, watched.Now, sampleEvery, func() []hoststat.Service { return watched.servicesOn(w.h) })
}

func (w *hostWatch) end() {
	if w.recorder == nil {
		return
	}
	var err error
	if w.samples, err = w.recorder.Stop(); w.err == nil {
		w.err = err
	}
}

// servicesOn are the processes of a host that its resources are charged to. The
// load generator is this process; where it has started the services, each
// process belongs to the nearest root above it.
func (w Watched) servicesOn(h host.Host) []hoststat.Service {
	groups := w.groupsOn(h)
	if w.GroupsOn != nil {
		groups = w.GroupsOn(h.Name())
	}
	if h.Name() == "" {
		groups[Generator] = []int{os.Getpid()}
	}
	var out []hoststat.Service
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, hoststat.Service{Name: name, PIDs: groups[name]})
	}
	return out
}

// size is how long a log is now.
func size(h host.Host, path string) (int64, error) {
	info, err := h.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("looking at the log: %w", err)
	}
	return info.Size(), nil
}

// openLog opens a log of a host as long as it is now.
func openLog(h host.Host, path string) (*lines.Input, error) {
	f, err := h.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return lines.File(path, f)
}
