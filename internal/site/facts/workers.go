package facts

import (
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// WorkerFacts are how the app server of a service runs whose root process is pid. The
// error of a process that is not an app server is an appserver.NotServerError.
func WorkerFacts(h host.Host, service string, pid int, config string) ([]iikanji.Fact, error) {
	is, err := appserver.Read(h, pid, config, "")
	if err != nil {
		return nil, err
	}
	w := fact.Workers{Server: string(is.Server), Processes: is.Serves, Threads: max(1, is.Threads.Now),
		ProcessesBy: string(is.Workers.Place), ThreadsBy: string(is.Threads.Place), Private: iikanji.Bytes(is.Private)}
	free, total, err := appserver.Available(h)
	if err != nil {
		return nil, err
	}
	w.Available, w.Memory = iikanji.Bytes(free), iikanji.Bytes(total)
	addStates(h, &w, is.Dir)
	return []iikanji.Fact{fact.TopicWorkers.Fact(service, w.Server, w, true)}, nil
}

// addStates adds what the source in the working folder keeps in memory.
func addStates(h host.Host, w *fact.Workers, dir string) {
	var states []appserver.State
	err := error(nil)
	if w.Unread = filepath.Clean(dir) == "/"; !w.Unread {
		states, err = appserver.States(h, dir)
	}
	w.Unread = w.Unread || err != nil
	for _, s := range states {
		place := fmt.Sprintf("%s:%d (%s)", s.File, s.Line, s.Name)
		switch s.Kind {
		case appserver.Sessions:
			w.Sessions = append(w.Sessions, place)
		case appserver.Connection:
			w.Connections = append(w.Connections, place)
		default:
			w.Values = append(w.Values, place)
		}
	}
}
