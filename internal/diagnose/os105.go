package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// os105 reports connections that could not be made because all local ports
// were in use, most of them in TIME_WAIT. Ports are the host's: the finding is
// one, at the service that could not connect most often.
func os105(v *view) []iikanji.Finding {
	rows, n := v.ofKind("ports-exhausted", "")
	if n == 0 {
		return nil
	}
	f := iikanji.Finding{Code: "OS105", Where: mostOften(rows),
		Claim: fmt.Sprintf("%s connections could not be made: no local port was free", people(n)),
		Gain:  iikanji.Range{Lo: round(n * refused.Lo), Hi: round(n * refused.Hi)}}
	for _, s := range v.dialing(rows) {
		f.Remedies = append(f.Remedies, iikanji.Remedy{Kind: "nginxconf", Target: s.Name, Says: "keep connections to the app open",
			Args: map[string]string{"act": "upstream keepalive", "keepalive": "64"}})
	}
	f.Remedies = append(f.Remedies, iikanji.Remedy{Kind: "sysctl", Target: "host", Says: "use all ports, and those in TIME_WAIT again",
		Args: map[string]string{"act": "sysctl", "net.ipv4.ip_local_port_range": "1024 65535", "net.ipv4.tcp_tw_reuse": "1"}})
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

// mostOften is the service that wrote most of some lines, the first of them
// where several wrote as many.
func mostOften(rows []logged) string {
	counts, best := map[string]int64{}, rows[0].service
	for _, r := range rows {
		counts[r.service] += r.Count
	}
	for _, r := range rows {
		if counts[r.service] > counts[best] {
			best = r.service
		}
	}
	return best
}

// dialing are the nginx services that wrote some lines, or all of them where
// none did: then the connections that took the ports are theirs as a rule.
func (v *view) dialing(rows []logged) []iikanji.Service {
	all := v.in.Target.WithEngine(iikanji.EngineNginx)
	var some []iikanji.Service
	for _, s := range all {
		if slices.ContainsFunc(rows, func(r logged) bool { return r.service == s.Name }) {
			some = append(some, s)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}
