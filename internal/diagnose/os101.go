package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// nearLimit is the share of its descriptors from which on a process is about
// to run out of them.
const nearLimit = 0.8

// wantFiles is the limit that is proposed at the least: a process that serves
// tens of thousands of connections has enough of it, and it costs nothing.
const wantFiles = 65536

// os101 reports services that ran out of descriptors, or nearly. What nginx
// ran out of is WEB108.
func os101(v *view) []iikanji.Finding {
	rows, _ := v.ofKind("descriptors-exhausted", "")
	names := v.services()
	for _, r := range rows {
		if !slices.Contains(names, r.service) {
			names = append(names, r.service)
		}
	}
	slices.Sort(names)
	var out []iikanji.Finding
	for _, name := range names {
		f := iikanji.Finding{Code: "OS101", Where: name}
		hit := 0.0
		for _, r := range rows {
			if r.service == name {
				hit += float64(r.Count)
				f.Evidence = append(f.Evidence, r.evidence())
			}
		}
		limit, known := v.fact(name, iikanji.TopicLimit, "nofile")
		near := false
		if h := v.host(name); h != nil && h.FDLimit > 0 {
			near = float64(h.FDs) >= nearLimit*float64(h.FDLimit)
			limit, known = float64(h.FDLimit), true
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("%s had %d descriptors open, %d are allowed", name, h.FDs, h.FDLimit)})
		} else if known {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "limits", Text: fmt.Sprintf("%s may have %.0f descriptors", name, limit)})
		}
		if hit == 0 && !near || name == "nginx" && hit > 0 {
			continue
		}
		f.Gain = iikanji.Range{Lo: round(hit * refused.Lo), Hi: round(max(hit, 1) * refused.Hi)}
		f.Claim = fmt.Sprintf("%s is about to run out of descriptors: %.0f are allowed", name, limit)
		if hit > 0 {
			f.Claim = fmt.Sprintf("%s ran out of descriptors %s times", name, people(hit))
		}
		want := fmt.Sprintf("%.0f", min(max(wantFiles, 4*limit), 1<<20))
		f.Remedies = []iikanji.Remedy{{Kind: "sysctl", Target: name, Says: "let it have " + want + " descriptors", Args: map[string]string{"act": "limits", "nofile": want}}}
		if name == "nginx" {
			f.Remedies = []iikanji.Remedy{{Kind: "nginxconf", Target: name, Says: "let each worker have " + want + " descriptors", Args: map[string]string{"act": "workers", "nofile": want}}}
		}
		out = append(out, f)
	}
	return out
}

// leastOverflows is how many connections must have found a full queue: the
// counter is of the whole network namespace, and a stray one may be anybody's.
const leastOverflows = 5

// os102 reports connections that the kernel dropped because the queue of a
// listening socket was full. A client tries again after a second. The counter
// does not say whose queue: only where one of ours is seen full are the drops
// ours, and else nothing is gained for sure.
func os102(v *view) []iikanji.Finding {
	f := iikanji.Finding{Code: "OS102", Where: "host"}
	drops := 0.0
	if m := v.machine(); m != nil && m.ListenOverflows >= leastOverflows {
		drops = float64(m.ListenOverflows)
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("TcpExt ListenOverflows grew by %d, ListenDrops by %d", m.ListenOverflows, m.ListenDrops)})
	}
	rows, ours := v.ofKind("backlog-full", "")
	for _, r := range rows {
		f.Evidence = append(f.Evidence, r.evidence())
	}
	if drops+ours == 0 {
		return nil
	}
	who, queues := v.fullListener()
	f.Evidence = append(f.Evidence, queues...)
	f.Claim = fmt.Sprintf("%s connections were dropped because the queue of whom they wanted was full", people(drops+ours))
	switch {
	case who != "":
		f.Where, ours = who, ours+drops
	case ours == 0:
		f.Claim = fmt.Sprintf("%s connections to this host found a full queue; whose is not known, none of ours was full at the end of the load", people(drops))
	}
	f.Gain = iikanji.Range{Lo: round(ours * refused.Lo), Hi: round(ours * refused.Hi)}
	f.Remedies = []iikanji.Remedy{{Kind: "sysctl", Target: "host", Says: "longer queues: somaxconn and tcp_max_syn_backlog; the program must ask for them too (backlog= in nginx's listen)",
		Args: map[string]string{"act": "sysctl", "net.core.somaxconn": "4096", "net.ipv4.tcp_max_syn_backlog": "4096"}}}
	return []iikanji.Finding{f}
}

// fullListener is the service whose queue was full at the end of the load, ""
// for none, and what is known of all queues.
func (v *view) fullListener() (who string, queues []iikanji.Evidence) {
	listeners := known[iikanji.Listener](v, iikanji.TopicListen)
	for _, fact := range v.in.Facts {
		if fact.Topic == iikanji.TopicListen {
			l := listeners[fact.Target+" "+fact.Key]
			queues = append(queues, iikanji.Evidence{Source: "listen", Text: fmt.Sprintf("%s at %s: %d may wait, %d did at the end of the load", fact.Target, fact.Key, l.Backlog, l.Waiting)})
			if l.Backlog > 0 && l.Waiting >= l.Backlog {
				who = fact.Target
			}
		}
		if fact.Topic == iikanji.TopicSysctl && fact.Key == "net.core.somaxconn" {
			queues = append(queues, iikanji.Evidence{Source: "sysctl", Text: fact.Key + " = " + fact.Value})
		}
	}
	return who, queues
}

// os105 reports connections that could not be made because all local ports
// were in use, most of them in TIME_WAIT.
func os105(v *view) []iikanji.Finding {
	rows, n := v.ofKind("ports-exhausted", "")
	if n == 0 {
		return nil
	}
	f := iikanji.Finding{Code: "OS105", Where: rows[0].service,
		Claim: fmt.Sprintf("%s connections could not be made: no local port was free", people(n)),
		Gain:  iikanji.Range{Lo: round(n * refused.Lo), Hi: round(n * refused.Hi)},
		Remedies: []iikanji.Remedy{{Kind: "nginxconf", Target: "nginx", Says: "keep connections to the app open", Args: map[string]string{"act": "upstream keepalive", "keepalive": "64"}},
			{Kind: "sysctl", Target: "host", Says: "use all ports, and those in TIME_WAIT again", Args: map[string]string{"act": "sysctl", "net.ipv4.ip_local_port_range": "1024 65535", "net.ipv4.tcp_tw_reuse": "1"}}}}
	for _, r := range rows {
		f.Evidence = append(f.Evidence, r.evidence())
	}
	for _, fact := range v.in.Facts {
		if fact.Topic == iikanji.TopicSysctl && (fact.Key == "net.ipv4.ip_local_port_range" || strings.HasSuffix(fact.Key, "tcp_tw_reuse")) {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "sysctl", Text: fact.Key + " = " + fact.Value})
		}
	}
	return []iikanji.Finding{f}
}
