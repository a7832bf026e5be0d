package facts

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// ListenFacts are the listening TCP sockets of the processes of services, with
// their queues: the limit, which is the smaller of the program's backlog and
// net.core.somaxconn, and the number of connections waiting at this moment.
// Sockets whose limit is unknown have no fact.
func ListenFacts(h host.Host, services map[string][]int) ([]iikanji.Fact, error) {
	owner, err := hoststat.Owners(h, services)
	if err != nil {
		return nil, err
	}
	list, err := hoststat.Listening(h)
	if err != nil {
		return nil, err
	}
	var out []iikanji.Fact
	for _, l := range list {
		if name, ok := owner[l.Inode]; ok && l.Backlog >= 0 {
			out = append(out, fact.TopicListen.Fact(name, l.Local.String(), fact.Listener{Waiting: l.Waiting, Backlog: l.Backlog}, true))
		}
	}
	return out, nil
}
