package app

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var debugLogging = cause.Declare(cause.PerRun, findDebugLogging,
	cause.Cause{Code: "APP102", Title: "debug logging", Of: iikanji.OfCPU, Relieves: cause.CPU | cause.Disk,
		Line:     "the app writes a log that is not read",
		Remedies: []cause.Way{cause.Plan("appenv", "", iikanji.RoleApp), cause.Patch}})

// findDebugLogging reports an app that writes a line for each request or action. Warnings
// and errors do not count, however many there are.
func findDebugLogging(v *cause.View) []iikanji.Finding {
	requests := v.Requests()
	type output struct {
		lines, bytes float64
		rows         []cause.Logged
	}
	outputs := map[string]*output{}
	var names []string
	for _, r := range v.Logged() {
		switch r.Log.Level {
		case "", "debug", "info", "notice":
		default:
			continue
		}
		if !r.Output || r.Log.Kind != "" && r.Log.Kind != "request" {
			continue
		}
		o := outputs[r.Service]
		if o == nil {
			o = &output{}
			outputs[r.Service] = o
			names = append(names, r.Service)
		}
		o.lines, o.bytes, o.rows = o.lines+float64(r.Count), o.bytes+float64(r.Log.Bytes), append(o.rows, r)
	}
	slices.Sort(names)
	var out []iikanji.Finding
	for _, name := range names {
		o := outputs[name]
		f := iikanji.Finding{Code: "APP102", Where: name, Gain: iikanji.Range{Lo: cause.Round(o.lines * printed.Lo), Hi: cause.Round(o.lines * printed.Hi)},
			Claim: fmt.Sprintf("%s logs requests or debug output: %s lines, %s in the run", v.Input.Called(name), cause.Number(o.lines), iikanji.Bytes(o.bytes)),
			Remedies: []iikanji.Remedy{{Kind: "appenv", Target: name, Says: "turn the debug and request log off (observability)", Args: map[string]string{"log": "off"}},
				{Kind: "patch", Target: name, Says: "remove the logging middleware, or raise the log level to warn"}}}
		if requests == 0 || o.lines < leastLines*requests || !v.Worth(f.Gain) {
			continue
		}
		for _, r := range o.rows[:min(len(o.rows), 4)] {
			f.Evidence = append(f.Evidence, r.Evidence())
		}
		out = append(out, f)
	}
	return out
}

// printed is the cost of a line of an app's log in seconds: formatting it, and
// writing it with a system call of its own under a lock.
var printed = iikanji.Range{Lo: 5e-6, Hi: 40e-6}

// leastLines is the number of lines per request from which on a log counts as
// one of requests.
const leastLines = 0.2
