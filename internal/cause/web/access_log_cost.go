package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// logLine is the cost of one line of an unbuffered log in seconds: formatting
// it, and writing it with a system call of its own.
var logLine = iikanji.Range{Lo: 3e-6, Hi: 15e-6}

var accessLogCost = cause.Declare(cause.PerNginx, findAccessLogCost,
	cause.Cause{Code: "WEB110", Title: "access log cost", Of: iikanji.OfCPU, Relieves: cause.CPU | cause.Disk,
		Line:     "writing the log takes a measurable share",
		Remedies: []cause.Way{cause.Plan("nginxconf", "access log", iikanji.RoleWeb)}})

// findAccessLogCost reports access logs that nginx writes line by line, among those in
// effect for the requests of the run.
func findAccessLogCost(v *cause.View) []iikanji.Finding {
	http, ok := nginxHTTP(v)
	if !ok {
		return nil
	}
	lines, at := 0.0, nginx.DefaultAccessLog()
	most := 0.0
	for _, r := range v.Access() {
		for _, d := range loggedBy(v, http, r.Key) {
			if lines += float64(r.Count); float64(r.Count) > most {
				most, at = float64(r.Count), d
			}
		}
	}
	f := iikanji.Finding{Code: "WEB110", Where: v.Self.Name, Gain: iikanji.Range{Lo: cause.Round(lines * logLine.Lo), Hi: cause.Round(lines * logLine.Hi)}}
	if lines == 0 || !v.Worth(f.Gain) {
		return nil
	}
	f.Claim = fmt.Sprintf("the access log is written line by line, %s times in the run", cause.Number(lines))
	text := "no access_log: nginx writes one by default"
	if at.File != "" {
		text = place(at) + ": access_log " + strings.Join(at.Args(), " ")
	}
	f.Evidence = []iikanji.Evidence{{Source: "nginx -T", Text: text}}
	if n, ok := fact.TopicVolume.Of(v.Input.Facts, v.Self.Name, "access"); ok {
		text := fmt.Sprintf("%s in the run", iikanji.Bytes(n))
		if v.Input.Run != nil && v.Input.Run.Took > 0 {
			text += fmt.Sprintf(", %.0f lines a second", lines/v.Input.Run.Took.Seconds())
		}
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: text})
	}
	f.Remedies = v.NginxConf("turn it off if it is not read (observability)", map[string]string{"act": "access log", "log": "off"})
	if at.File != "" && !strings.Contains(at.Arg(0), "$") { // nginx cannot buffer logs with variables in their names
		f.Remedies = append(v.NginxConf("write lines in blocks: buffer=64k flush=1s", map[string]string{"act": "access log", "log": "buffered"}), f.Remedies...)
	}
	return []iikanji.Finding{f}
}

// loggedBy are the unbuffered logs in effect for a route. A request is logged by the
// location that answers it.
func loggedBy(v *cause.View, http nginx.Scope, route string) []*nginx.Directive {
	at := http
	all := serving(v, http)
	if len(all) == 0 { // no server passes requests on
		all = http.Blocks("server")
	}
	for _, s := range all {
		at = s
		if a, err := answeredBy(v, s, route); err == nil && len(a.Chain) > len(s.Chain) {
			at = a.Scope
			break
		}
	}
	logs := at.Effective("access_log")
	if len(logs) == 0 {
		return []*nginx.Directive{nginx.DefaultAccessLog()}
	}
	return slices.DeleteFunc(slices.Clone(logs), func(d *nginx.Directive) bool {
		return d.Arg(0) == "off" || d.Arg(0) == "/dev/null" || strings.HasPrefix(d.Arg(0), "syslog:") || nginx.IsBuffered(d)
	})
}
