package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// capped is the used share of its permitted cores from which on a program is
	// limited by them.
	capped = 0.8
	// leastIdle is the least number of cores that were idle meanwhile.
	leastIdle = 0.3
	// oneThread is the share of a program's CPU time in one thread from which on
	// the others are helpers (in Node.js: garbage collector, file system).
	oneThread = 0.75
)

var unusedCores = cause.Declare(cause.PerRun, findUnusedCores,
	cause.Cause{Code: "APP106", Title: "cannot use more cores", Of: iikanji.OfCPU, Relieves: cause.CPU,
		Line:     "a program uses all cores that it may use, while other cores are idle",
		Remedies: []cause.Way{cause.Plan("appenv", "", iikanji.RoleApp), cause.Person}})

// findUnusedCores reports a program that used all cores that it may use while other
// cores were idle.
func findUnusedCores(v *cause.View) []iikanji.Finding {
	if v.Input.Run == nil {
		return nil
	}
	var out []iikanji.Finding
	for _, name := range v.Services() {
		m := v.MachineOf(name)
		if m == nil || m.Wall <= 0 {
			continue
		}
		wall, cores := m.Wall.Seconds(), float64(m.Cores)
		if s, _ := v.Input.Target.Service(name); s.Host == "" { // the stack of this machine may be pinned
			cores = coresOf(v.Input.Run.Place.Stack, m.Cores)
		}
		idle := min(m.Idle.Seconds()/wall, cores)
		may, why := mayUse(v, name)
		h := v.Host(name)
		used := (h.User + h.System).Seconds() / wall
		if may == 0 || may+leastIdle > cores || used < capped*may || idle < leastIdle {
			continue
		}
		more := min(idle, cores-may, used)
		out = append(out, iikanji.Finding{Code: "APP106", Where: name,
			Claim: fmt.Sprintf("%s may use %.3g of %.3g cores and used %.2f, while %.2f were idle", name, may, cores, used, idle),
			Evidence: []iikanji.Evidence{{Source: "process", Text: why},
				{Source: "host", Text: fmt.Sprintf("%s: %.1f s user, %.1f s system in %.0f s; all cores idle for %.1f s", name, h.User.Seconds(), h.System.Seconds(), wall, m.Idle.Seconds())}},
			Gain: cause.Between(more*wall, 0.2, 0.8),
			Remedies: []iikanji.Remedy{{Kind: "appenv", Target: name, Says: fmt.Sprintf("let it use %.0f cores", cores), Args: map[string]string{"env.GOMAXPROCS": fmt.Sprintf("%.0f", cores)}},
				iikanji.ByPerson(name, "run one process for each core (runtimes that have one thread)")}})
	}
	return out
}

// mayUse is how many cores a program may use, and the reason; 0 when unknown.
func mayUse(v *cause.View, name string) (n float64, why string) {
	if c, ok := fact.TopicProcess.Of(v.Input.Facts, name, "cores"); ok && c > 0 {
		n, why = c, fmt.Sprintf("the kernel limits it to %.3g cores", c)
	}
	if g, ok := fact.TopicProcess.Of(v.Input.Facts, name, "gomaxprocs"); ok && g >= 1 && (n == 0 || g < n) {
		n, why = g, fmt.Sprintf("GOMAXPROCS=%.0f in its environment", g)
	}
	if h := v.Host(name); h != nil && h.Threads == 1 && h.Processes == 1 {
		n, why = 1, "it is one process with one thread"
	} else if thread, ok := worksAlone(v, name); ok && (n == 0 || n > 1) {
		n, why = 1, fmt.Sprintf("one of its %d threads does its work and used %.2f cores", h.Threads, thread)
	}
	return n, why
}

// worksAlone reports whether one thread of an app did nearly all of its work
// and filled a core, as the main thread of an interpreter does, and how many
// cores that thread used. Databases have a thread for each connection and web
// servers have several workers: one busy thread is not a limit there.
func worksAlone(v *cause.View, name string) (cores float64, alone bool) {
	h, m := v.Host(name), v.MachineOf(name)
	role := v.Input.Role(name)
	if h == nil || m == nil || m.Wall <= 0 || role == iikanji.RoleDatabase || role == iikanji.RoleWeb {
		return 0, false
	}
	cores = h.Busiest.Seconds() / m.Wall.Seconds()
	return cores, cores >= capped && h.Busiest.Seconds() >= oneThread*(h.User+h.System).Seconds()
}

// coresOf is the number of cores in a list as in "0-2,5"; all cores for "all"
// and for anything that is not a list.
func coresOf(list string, all int) float64 {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		a, b, isRange := strings.Cut(part, "-")
		from, err1 := strconv.Atoi(a)
		to, err2 := from, error(nil)
		if isRange {
			to, err2 = strconv.Atoi(b)
		}
		if err1 != nil || err2 != nil || to < from {
			return float64(all)
		}
		n += to - from + 1
	}
	return float64(min(n, all))
}
