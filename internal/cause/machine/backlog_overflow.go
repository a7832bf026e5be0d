package machine

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// leastOverflows is the least number of overflows in a finding: the counter
// covers the whole network namespace, so a few may belong to other programs.
const leastOverflows = 5

var backlogOverflow = cause.Declare(cause.PerHost, findBacklogOverflow,
	cause.Cause{Code: "OS102", Title: "backlog overflow", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "the kernel dropped connections that were waiting to be accepted",
		Remedies: []cause.Way{cause.Person}})

// findBacklogOverflow reports connections that the kernel dropped because the accept queue of
// a listening socket was full; the client retries after a second. The counter
// does not identify the socket: the drops count for the site only if one of its
// queues was seen full. Otherwise the gain is 0.
func findBacklogOverflow(v *cause.View) []iikanji.Finding {
	f := iikanji.Finding{Code: "OS102", Where: "host"}
	drops := 0.0
	if m := v.Machine(); m != nil && m.ListenOverflows >= leastOverflows {
		drops = float64(m.ListenOverflows)
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("TcpExt ListenOverflows grew by %d, ListenDrops by %d", m.ListenOverflows, m.ListenDrops)})
	}
	rows, ours := v.OfKind("backlog-full", "")
	for _, r := range rows {
		f.Evidence = append(f.Evidence, r.Evidence())
	}
	if drops+ours == 0 {
		return nil
	}
	who, queues := fullListener(v)
	f.Evidence = append(f.Evidence, queues...)
	f.Claim = fmt.Sprintf("%s connections were dropped because the accept queue of the listener was full", cause.Number(drops+ours))
	switch {
	case who != "":
		f.Where, ours = who, ours+drops
	case ours == 0:
		f.Claim = fmt.Sprintf("%s connections to this host met a full accept queue; the listener is unknown: no queue of the site was full at the end of the load", cause.Number(drops))
	}
	f.Gain = iikanji.Range{Lo: cause.Round(ours * cause.RefusedSeconds.Lo), Hi: cause.Round(ours * cause.RefusedSeconds.Hi)}
	f.Remedies = []iikanji.Remedy{iikanji.ByPerson("host", "use longer queues: net.core.somaxconn and net.ipv4.tcp_max_syn_backlog = 4096; the program must also request them (backlog= in nginx's listen)")}
	return []iikanji.Finding{f}
}

// fullListener is the service whose accept queue was full at the end of the
// load, "" for none, and the state of all queues.
func fullListener(v *cause.View) (who string, queues []iikanji.Evidence) {
	for _, f := range v.Input.Facts { // in their order, of both topics
		if l, err := fact.TopicListen.Value(f); err == nil {
			queues = append(queues, iikanji.Evidence{Source: "listen", Text: fmt.Sprintf("%s at %s: room for %d connections, %d waited at the end of the load", f.Target, f.Key, l.Backlog, l.Waiting)})
			if l.Backlog > 0 && l.Waiting >= l.Backlog {
				who = f.Target
			}
		}
		if text, err := fact.TopicSysctl.Value(f); err == nil && f.Key == "net.core.somaxconn" {
			queues = append(queues, iikanji.Evidence{Source: "sysctl", Text: f.Key + " = " + text})
		}
	}
	return who, queues
}
