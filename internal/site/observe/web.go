package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// errNoAccessLog is the error of a target without an access log to observe.
var errNoAccessLog = errors.New("looking at the log: the target has no web server with an access log")

// A webWatch cuts the access log of one web server to the load.
type webWatch struct {
	service iikanji.Service
	host    host.Host
	several bool // the target has other web servers with an access log
	front   bool // the load goes to this web server, as far as known
	path    string

	known []iikanji.Fact // of the configuration, asked for once
	asked error          // why known is incomplete
	conf  *nginx.Config  // nil when the configuration is not known
	flush *logFlush      // nil for an access log without a buffer

	before  int64 // length of the log before the run
	from    int64
	to      int64         // of a log that is read on its machine: its length when the load ended
	ahead   time.Duration // of its machine's clock
	growing *growingLog   // nil where it is not watched
	log     *lines.Input  // as long as it was when the load ended
	err     error         // the first of the access log's sensor
}

// webWatches are the web servers of a target that have an access log.
func webWatches(watched Watched) []*webWatch {
	t := watched.Target
	var out []*webWatch
	for _, s := range t.WithRole(iikanji.RoleWeb) {
		if path := s.LogPath("access"); path != "" {
			out = append(out, &webWatch{service: s, host: watched.host(s.Host), path: path, front: serves(s.Address, t.Bench.URL)})
		}
	}
	some := false
	for _, w := range out {
		w.several = len(out) > 1
		some = some || w.front
	}
	for _, w := range out {
		w.front = w.front || !some
	}
	return out
}

// serves reports whether an address that a server listens on is where a URL
// leads to. A server that listens on all interfaces serves each of them. A name may lead
// to any interface.
func serves(address, to string) bool {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" {
		return false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host, own, err := net.SplitHostPort(address)
	if err != nil || own != port {
		return false
	}
	ip, _ := netip.ParseAddr(host)
	_, named := netip.ParseAddr(u.Hostname())
	return host == "" || host == u.Hostname() || named != nil && u.Hostname() != "localhost" || ip.IsUnspecified() || loopback(host) && loopback(u.Hostname())
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// configure reads the configuration of the web server, once.
func (w *webWatch) configure(ctx context.Context, processIDs func(iikanji.Service) []int) {
	if w.known, w.asked = askNginx(ctx, w.host, w.service); len(w.known) == 0 {
		return
	}
	conf, err := fact.TopicNginx.Value(w.known[0])
	if err != nil {
		w.asked = errors.Join(w.asked, err)
		return
	}
	w.conf = conf
	w.flush = newLogFlush(conf, w.host, w.path, func() int {
		if pids := processIDs(w.service); len(pids) > 0 {
			return pids[0]
		}
		return 0
	})
}

// note keeps the first error of the sensor.
func (w *webWatch) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *webWatch) begin(ctx context.Context) {
	w.note(w.flush.flush(ctx))
}

// mark notes where the log ends when the load begins.
func (w *webWatch) mark() {
	var err error
	w.from, err = size(w.host, w.path)
	w.note(err)
}

// end opens the log, which fixes where it ends.
func (w *webWatch) end(ctx context.Context) {
	w.note(w.flush.flush(ctx))
	var err error
	if w.there() {
		w.to, err = size(w.host, w.path)
	} else {
		w.log, err = openLog(w.host, w.path)
	}
	w.note(err)
}

// there reports whether the log is read on its machine.
func (w *webWatch) there() bool { return host.WorkerOf(w.host) != nil }

// written is how many bytes the log grew by during the load.
func (w *webWatch) written() int64 {
	if w.there() {
		return w.to - w.from
	}
	if w.log == nil {
		return 0
	}
	return w.log.Size() - w.from
}

// An accessRead is the part of an access log that was written during the load,
// counted in every way that the observer needs.
type accessRead struct {
	routes   *iikanji.Profile // nil where the log could not be read
	urls     accesslog.Result // successful GETs, by URL
	agents   accesslog.Result // by User-Agent
	byStatus []statusRead
}

// A statusRead is the count, by route, of the answers with one status.
type statusRead struct {
	status string
	accesslog.Result
}

// read reads the lines that were written during the load, once.
func (w *webWatch) read(ctx context.Context, ticks *tally.Window, routes []accesslog.Pattern) (*accessRead, error) {
	out := &accessRead{}
	switch {
	case w.there() && w.err != nil:
		return out, w.err
	case w.there():
	case w.log == nil:
		return out, w.err
	default:
		if err := w.log.SeekTo(w.from); err != nil {
			return out, err
		}
	}
	if w.several && w.written() == 0 && w.err == nil { // the others served everything
		out.routes = &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Access, Target: w.service.Name}
		return out, nil
	}
	results, err := w.count(ctx, ticks, routes)
	if err != nil {
		return out, err
	}
	if err := results[0].Err; err != nil {
		return out, err
	}
	out.routes, out.urls, out.agents = results[0].Profile, results[1], results[2]
	out.routes.Target = w.service.Name
	for i, status := range brokenDown {
		out.byStatus = append(out.byStatus, statusRead{status, results[3+i]})
	}
	return out, nil
}

// count counts the lines in every way, on the machine of the log.
func (w *webWatch) count(ctx context.Context, ticks *tally.Window, routes []accesslog.Pattern) ([]accesslog.Result, error) {
	if w.there() {
		order := orderOf(w.path, w.from, w.to, ticks, w.growing, w.ahead)
		for _, p := range routes {
			order.Routes = append(order.Routes, p.Text())
		}
		read, err := accessTask().On(ctx, w.host, order)
		var results []accesslog.Result
		for _, r := range read {
			results = append(results, r.result(w.ahead))
		}
		return results, err
	}
	ways, err := accessWays(ticks, routes)
	if err != nil {
		return nil, err
	}
	return accesslog.ReadAll(ctx, []*lines.Input{w.log}, ways)
}

// notRefused is the condition on answers that are no refusal of the client.
const notRefused = "status!=403,status!=429,status!=444,status!=503"

// accessWays are the ways in which an access log is counted: by route,
// successful GETs by URL, by User-Agent, and by route each status that is broken down.
func accessWays(ticks *tally.Window, routes []accesslog.Pattern) ([]accesslog.Options, error) {
	out := []accesslog.Options{{Whole: true, PerSecond: true, Ticks: ticks, Routes: routes}, {Whole: true, By: accesslog.ByURL}}
	answered, err := accesslog.ParseWhere(notRefused, time.UTC)
	if err != nil {
		return nil, err
	}
	out = append(out, accesslog.Options{Whole: true, By: accesslog.ByAgent, Where: answered})
	for i, text := range append([]string{"200,method=GET"}, brokenDown...) {
		where, err := accesslog.ParseWhere("status="+text, time.UTC)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			out[1].Where = where
			continue
		}
		out = append(out, accesslog.Options{Whole: true, Where: where, Routes: routes})
	}
	return out, nil
}

func (w *webWatch) close() error {
	if w.log == nil {
		return nil
	}
	return w.log.Close()
}

// readAccess reads the access logs of all web servers and proves them. The
// requests that were sent are compared with the lines of the web servers that
// the load goes to, together.
func (o *Observer) readAccess(ctx context.Context, run *iikanji.Run) (reads []*accessRead, sensors []Sensor) {
	if len(o.webs) == 0 {
		return nil, []Sensor{proveAccess(nil, run, errNoAccessLog)}
	}
	var front []iikanji.Row
	for _, w := range o.webs {
		read, err := w.read(ctx, o.window(w.growing), o.w.Routes)
		w.note(err)
		if reads = append(reads, read); read.routes != nil && w.front {
			front = append(front, read.routes.Rows...)
		}
	}
	for i, w := range o.webs {
		sensors = append(sensors, w.prove(reads[i].routes, front, run).ofService(w.service.Name, w.several))
	}
	return reads, sensors
}

// prove is the sensor of one web server; front are the rows of all web servers
// that the load goes to.
func (w *webWatch) prove(p *iikanji.Profile, front []iikanji.Row, run *iikanji.Run) Sensor {
	if p == nil || !w.several {
		return proveAccess(p, run, w.err)
	}
	s := Sensor{Source: iikanji.Access, Name: "access log"}
	if w.front {
		held := *p
		held.Rows = front
		s = proveAccess(&held, run, w.err)
		s.Proofs = s.Proofs[1:]
	}
	in := parsed(&p.Intake)
	if written := w.written(); p.Intake.Lines == 0 {
		in = Proof{"no entry was read", fmt.Sprintf("the entries in the %d bytes that it wrote", written), written == 0}
	}
	s.Proofs = append([]Proof{in}, s.Proofs...)
	return s.settle(w.err)
}
