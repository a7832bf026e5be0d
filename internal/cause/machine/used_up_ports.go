package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

var usedUpPorts = cause.Declare(cause.PerRun, findUsedUpPorts,
	cause.Cause{Code: "OS105", Title: "local ports used up", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "connections of the proxy or the app in TIME_WAIT occupy the ports",
		Remedies: []cause.Way{cause.Plan("nginxconf", "upstream keepalive", iikanji.RoleWeb), cause.Person}})

// findUsedUpPorts reports connections that could not be made because all local ports were
// in use, most of them in TIME_WAIT. Ports belong to the host, so there is one
// finding, at the service with the most failures.
func findUsedUpPorts(v *cause.View) []iikanji.Finding {
	rows, n := v.OfKind("ports-exhausted", "")
	if n == 0 {
		return nil
	}
	f := iikanji.Finding{Code: "OS105", Where: mostOften(rows),
		Claim: fmt.Sprintf("%s connections failed: no local port was free", cause.Number(n)),
		Gain:  iikanji.Range{Lo: cause.Round(n * cause.RefusedSeconds.Lo), Hi: cause.Round(n * cause.RefusedSeconds.Hi)}}
	for _, s := range dialing(v, rows) {
		f.Remedies = append(f.Remedies, iikanji.Remedy{Kind: "nginxconf", Target: s.Name, Says: "keep connections to the app open",
			Args: map[string]string{"act": "upstream keepalive", "keepalive": "64"}})
	}
	f.Remedies = append(f.Remedies, iikanji.ByPerson("host",
		"use all ports, and reuse those in TIME_WAIT: net.ipv4.ip_local_port_range = 1024 65535 and net.ipv4.tcp_tw_reuse = 1"))
	for _, r := range rows {
		f.Evidence = append(f.Evidence, r.Evidence())
	}
	for setting, text := range fact.TopicSysctl.In(v.Input.Facts) {
		if setting.Key == "net.ipv4.ip_local_port_range" || strings.HasSuffix(setting.Key, "tcp_tw_reuse") {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "sysctl", Text: setting.Key + " = " + text})
		}
	}
	return []iikanji.Finding{f}
}

// mostOften is the service with most of some log lines, the first of those with
// equally many.
func mostOften(rows []cause.Logged) string {
	counts, best := map[string]int64{}, rows[0].Service
	for _, r := range rows {
		counts[r.Service] += r.Count
	}
	for _, r := range rows {
		if counts[r.Service] > counts[best] {
			best = r.Service
		}
	}
	return best
}

// dialing are the nginx services with some of the log lines, or all nginx
// services if there are none: connections to upstreams are the usual cause.
func dialing(v *cause.View, rows []cause.Logged) []iikanji.Service {
	all := v.Input.Target.WithEngine(iikanji.EngineNginx)
	var some []iikanji.Service
	for _, s := range all {
		if slices.ContainsFunc(rows, func(r cause.Logged) bool { return r.Service == s.Name }) {
			some = append(some, s)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}
