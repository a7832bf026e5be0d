package app

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// waitShare is the least share of the time of all requests in the apps that neither
	// statements nor the apps' CPU explain, and waitCores the least number of requests
	// that wait so at one time, on average.
	waitShare = 0.4
	waitCores = 1.0
	// busyShare is the least share where a database used up the CPU, and busySlower how
	// much longer than the statements the apps' own work may take there for each second
	// of CPU.
	busyShare  = 0.7
	busySlower = 2.0
	// waitShown is how many routes the evidence names.
	waitShown = 4
)

var waitingInApp = cause.Declare(cause.PerRun, findWaitingInApp,
	cause.Cause{Code: "APP221", Title: "waiting inside of the app", Of: iikanji.OfCPU, Inside: true, Relieves: cause.AnyLimit,
		Line:     "requests take much longer than their statements and the CPU time of the app",
		Remedies: []cause.Way{cause.Patch}})

// findWaitingInApp reports requests that wait inside of the apps: their time, less that of all
// statements and of the apps' CPU. Where the apps use up the CPU, requests wait for it, and
// where a pool is the limit, for a connection (APP103). Where a database uses up the CPU,
// the apps' work takes longer, too: as much longer as the statements do, and twice that to
// be sure. What is left cannot be compared with seconds of CPU, and has no gain.
func findWaitingInApp(v *cause.View) []iikanji.Finding {
	busy := busyDatabase(v)
	if v.Input.Run == nil || v.Binding.Resource == "cpu" && busy == 0 || v.Binding.Resource == "pool" || v.Binding.Resource == "generator" || v.Blind(iikanji.Slow) || v.Partly() {
		return nil
	}
	all, cpu := 0.0, 0.0
	for _, r := range v.Access() {
		all += r.Web.Upstream.Seconds()
	}
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		cpu += cpuOf(v, s.Name)
	}
	least, share := waitShare, 0.5
	waits := all - v.Seconds - cpu
	if busy > 0 {
		least, share = busyShare, 0
		waits = all - v.Seconds - cpu*max(1, busySlower*busy)
	}
	wall := v.Input.Run.Took.Seconds()
	if all == 0 || wall == 0 || !statementsSeen(v) || waits < least*all || waits < waitCores*wall {
		return nil
	}
	f := iikanji.Finding{Code: "APP221", Where: "requests", Gain: cause.Between(waits, 0, share),
		Claim: fmt.Sprintf("requests took %.0f s in the apps, of which statements took %.0f s and the apps' CPU %.0f s: the rest, %.0f %%, is waiting inside of the apps",
			all, v.Seconds, cpu, 100*(all-v.Seconds-cpu)/all),
		Remedies: whatWaits(v)}
	for _, r := range waitingRoutes(v) {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: r})
	}
	return []iikanji.Finding{f}
}

// whatWaits are the remedies for the apps that answer requests.
func whatWaits(v *cause.View) []iikanji.Remedy {
	var out []iikanji.Remedy
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		if s.Address == "" && s.Socket == "" && len(v.Input.Target.WithRole(iikanji.RoleApp)) > 1 { // a background job
			continue
		}
		says := "find out what the requests wait for: a free process or thread, a lock, a pool, another server, a file lock, a sleep"
		if s.Engine == iikanji.EngineGo {
			says = "find out what the requests wait for: a lock, a pool, another server, a file lock, a sleep; a block and a mutex profile show it"
		}
		out = append(out, iikanji.Remedy{Kind: "patch", Target: s.Name, Says: says})
	}
	return out
}

// busyDatabase is the time of the statements for each second of the databases' CPU where a
// database used up the CPU, 0 elsewhere.
func busyDatabase(v *cause.View) float64 {
	if s, ok := v.Input.Target.Service(v.Binding.Who); v.Binding.Resource != "cpu" || !ok || s.Role != iikanji.RoleDatabase {
		return 0
	}
	cpu := 0.0
	for _, s := range v.Input.Target.WithRole(iikanji.RoleDatabase) {
		cpu += cpuOf(v, s.Name)
	}
	if cpu == 0 {
		return 0
	}
	return max(1, v.Seconds/cpu)
}

// waitingRoutes describes the routes whose requests took the longest time beyond the
// statements that they are known to send.
func waitingRoutes(v *cause.View) []string {
	type route struct {
		key        string
		took, sent float64
	}
	var all []route
	sent := sentBy(v)
	for _, r := range v.Access() {
		all = append(all, route{key: r.Key, took: r.Web.Upstream.Seconds(), sent: sent[r.Key]})
	}
	slices.SortStableFunc(all, func(a, b route) int { return cmp.Compare(b.took-b.sent, a.took-a.sent) })
	var out []string
	for _, r := range all[:min(len(all), waitShown)] {
		out = append(out, fmt.Sprintf("%s: %.1f s, its statements %.1f s", r.key, r.took, r.sent))
	}
	return out
}

// sentBy is the time of the statements that each route is known to send, in seconds.
func sentBy(v *cause.View) map[string]float64 {
	out := map[string]float64{}
	for _, d := range v.Digests {
		for _, s := range d.Senders {
			out[s.Route] += s.Share * d.Totals.Seconds
		}
	}
	return out
}
