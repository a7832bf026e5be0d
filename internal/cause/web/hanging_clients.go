package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// idleDefault is nginx's default of keepalive_timeout.
	idleDefault = 75 * time.Second
	// idleEarly and idleLate bound the time of an exchange that ended because nginx
	// closed the idle connection: the answer itself takes some of it, and nginx's
	// timers fire late under load.
	idleEarly, idleLate = 0.98, 1.1
	// sentShare is the longest time in which nginx had sent all answers of a route, as
	// a share of keepalive_timeout, if its log has times.
	sentShare = 0.5
	// leastHeld is the least share of the load's connection time that hung.
	leastHeld = 0.02
	// securedIdle is the keepalive_timeout that is proposed for clients that come by TLS: with
	// 0, each of their requests would cost a handshake.
	securedIdle = "1s"
)

var hangingClients = cause.Declare(cause.PerNginx, findHangingClients,
	cause.Cause{Code: "WEB112", Title: "clients hang on kept connections", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "clients ask for keep-alive and wait until the server closes the connection",
		Remedies: []cause.Way{cause.Plan("nginxconf", "set", iikanji.RoleWeb)}})

// findHangingClients reports clients that ask for keep-alive and then wait until nginx closes
// the connection. The load generator's slowest exchanges took as long as
// keepalive_timeout, or were given up, although nginx's log has every answer sent
// soon. Such a client does not understand the end of an answer: one without a
// length, or without a body.
func findHangingClients(v *cause.View) []iikanji.Finding {
	http, ok := nginxHTTP(v)
	run := v.Input.Run
	if !ok || run == nil || run.Took <= 0 {
		return nil
	}
	servers := serving(v, http)
	if len(servers) == 0 {
		servers = http.Blocks("server")
	}
	old, secured := clientsOf(servers)
	idle, where := idleTime(servers)
	if idle == 0 || !old {
		return nil
	}
	var held time.Duration
	hung, worst := int64(0), iikanji.StepStat{}
	for _, s := range run.Steps {
		n, lost := hangs(s, idle)
		if n == 0 || !sentSoon(v, s.Step, idle) {
			continue
		}
		held, hung = held+lost, hung+n
		if s.Max > worst.Max || worst.Step == "" {
			worst = s
		}
	}
	all := run.Took.Seconds() * float64(max(1, run.Load.PeakConns))
	if hung == 0 || held.Seconds() < leastHeld*all {
		return nil
	}
	f := iikanji.Finding{Code: "WEB112", Where: v.Self.Name,
		Claim: fmt.Sprintf("%s requests ended only when nginx closed the idle connection after %s, or were given up: the clients ask for keep-alive and wait for the end of the connection", cause.Number(float64(hung)), idle),
		Evidence: []iikanji.Evidence{{Source: "generator", Text: fmt.Sprintf("%s: half of %d answers within %s, the slowest after %s, %d timeouts", worst.Step, worst.Count, cause.Brief(worst.P50), cause.Brief(worst.Max), worst.Timeouts)},
			{Source: "nginx -T", Text: where}},
		Gain: cause.Between(run.Took.Seconds()*min(1, held.Seconds()/all), 0.5, 1),
		Remedies: v.NginxConf("close each connection after its answer (keepalive_timeout 0)",
			map[string]string{"act": "set", "directive": "keepalive_timeout", "value": "0"})}
	if secured {
		f.Remedies = v.NginxConf("close idle connections soon (keepalive_timeout "+securedIdle+"); with 0, each request would cost a handshake of TLS",
			map[string]string{"act": "set", "directive": "keepalive_timeout", "value": securedIdle})
	}
	if !v.Worth(f.Gain) {
		return nil
	}
	return []iikanji.Finding{f}
}

// hangs are how many exchanges of a step hung, and for how long in all. An exchange
// that was given up is counted with the time of an idle connection at most.
func hangs(s iikanji.StepStat, idle time.Duration) (n int64, lost time.Duration) {
	if s.Max >= time.Duration(idleEarly*float64(idle)) && s.Max <= time.Duration(idleLate*float64(idle)) && s.P50 < idle/2 {
		excess := s.Total - time.Duration(s.Count)*s.P50
		n = min(s.Count, max(1, int64(excess/idle)))
	}
	n += s.Timeouts
	return n, time.Duration(n) * idle
}

// sentSoon reports whether nginx had sent every answer of a step soon. Without
// times in its log, it is enough that no request of the route was given up while the
// app computed.
func sentSoon(v *cause.View, step string, idle time.Duration) bool {
	for _, r := range v.Access() {
		if !cause.SameRoute(step, r.Key) {
			continue
		}
		_, gone := fact.TopicHTTPStatus.Of(v.Input.Facts, v.Self.Name, "499 "+r.Key)
		return r.Max <= time.Duration(sentShare*float64(idle)) && !gone
	}
	return false
}

// clientsOf reports whether clients can reach servers by HTTP/1.1, and whether they can by TLS.
// In HTTP/2 a frame marks the end of each answer, so no client waits for it.
func clientsOf(servers []nginx.Scope) (old, secured bool) {
	for _, s := range servers {
		listens := s.Own("listen")
		old = old || len(listens) == 0
		for _, d := range listens {
			tls := d.Has("ssl")
			secured = secured || tls
			old = old || !d.Has("http2") && !(tls && s.Value("http2") == "on")
		}
	}
	return old, secured
}

// idleTime is keepalive_timeout of the server that takes the load, and where it is
// set.
func idleTime(servers []nginx.Scope) (time.Duration, string) {
	for _, s := range servers {
		found := s.Effective("keepalive_timeout")
		if len(found) == 0 {
			continue
		}
		text := found[0].Arg(0)
		if strings.Trim(text, "0123456789") == "" {
			text += "s"
		}
		if d, err := time.ParseDuration(text); err == nil {
			return d, place(found[0]) + ": keepalive_timeout " + found[0].Arg(0)
		}
		return 0, "" // a unit that is not read here, as 1d
	}
	return idleDefault, "no keepalive_timeout: nginx keeps idle connections for 75 s by default"
}
