package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A State is the result of one check.
type State string

// The results of a check. A warning holds something back that iikanji could do.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failed  State = "failed"
	Skipped State = "skipped" // another check failed first, or it was not asked for
)

// A Check is one thing that was checked.
type Check struct {
	Service string        `json:"service,omitempty"` // "" for the site
	Name    string        `json:"name"`
	State   State         `json:"state"`
	Says    string        `json:"says"`
	Remedy  string        `json:"remedy,omitempty"`
	Took    time.Duration `json:"took_ns,omitempty"` // of a restart or a run
}

// Options are what is checked beyond reading.
type Options struct {
	File    *target.File
	Dir     string         // work folder
	Hosts   livesite.Hosts // machines of the file; nil where all services are on this one
	Restart bool           // restart each service once
	// Bench makes one run of the benchmarker; nil for none.
	Bench func(ctx context.Context, s *livesite.Subject) (*iikanji.Run, error)
	// Show is called with each check when it is done; nil for no one.
	Show func(Check)
}

// A round is one run of the checks.
type round struct {
	Options
	out []Check
	m   map[string]*process.Machine // by the machine's name; one that could not be read has none
	// unread are the machines that could not be read, with the reason.
	unread map[string]error
	s      *livesite.Subject // nil if the site could not be opened
}

// Run makes all checks. The error is that of ctx; what fails is in the checks.
func Run(ctx context.Context, o Options) ([]Check, error) {
	d := &round{Options: o}
	d.m, d.unread = o.Hosts.Machines(o.File)
	d.limits()
	d.folders()
	d.running()
	d.paths()
	if !d.failed() {
		d.open(ctx)
	}
	if d.s != nil {
		defer d.s.Close()
		d.configs(ctx)
		d.databases(ctx)
		d.logs(ctx)
		d.sources(ctx)
		d.health(ctx)
		d.ways()
	}
	d.benchmarker()
	if d.Restart {
		d.restarts(ctx)
	}
	if o.Bench != nil {
		d.bench(ctx)
	}
	if ctx.Err() != nil {
		return d.out, context.Cause(ctx)
	}
	return d.out, nil
}

func (d *round) add(c Check) {
	d.out = append(d.out, c)
	if d.Show != nil {
		d.Show(c)
	}
}

func (d *round) ok(service, name, format string, args ...any) {
	d.add(Check{Service: service, Name: name, State: OK, Says: fmt.Sprintf(format, args...)})
}

func (d *round) bad(state State, service, name, remedy, format string, args ...any) {
	d.add(Check{Service: service, Name: name, State: state, Says: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (d *round) failed() bool {
	for _, c := range d.out {
		if c.State == Failed {
			return true
		}
	}
	return false
}

// remedyOf is the first hint of an error, or another remedy.
func remedyOf(err error, other string) string {
	var h interface{ Hints() []string }
	if errors.As(err, &h) {
		if hints := h.Hints(); len(hints) > 0 {
			return hints[0]
		}
	}
	return other
}

// ways tells by which way each service can be restarted.
func (d *round) ways() {
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if s.InFiles() {
			continue
		}
		says, err := d.s.Way(s.Name)
		if err != nil {
			d.bad(Warning, s.Name, "way to restart", remedyOf(err, "set restart, or commands for stop and start, of this service"), "%v", err)
			continue
		}
		d.ok(s.Name, "way to restart", "%s", says)
	}
}

// restarts restarts each service.
func (d *round) restarts(ctx context.Context) {
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if s.InFiles() {
			continue
		}
		if d.s == nil {
			d.bad(Skipped, s.Name, "restart", "mend the failures above first", "the site could not be opened")
			continue
		}
		began := time.Now()
		err := d.s.Restart(ctx, s.Name)
		took := time.Since(began)
		if err != nil {
			d.bad(Failed, s.Name, "restart", remedyOf(err, "set restart, or commands for stop and start, of this service"), "by %s: %v", s.Method(), err)
			continue
		}
		d.add(Check{Service: s.Name, Name: "restart", State: OK, Took: took, Says: fmt.Sprintf("by %s; it answered after %v", s.Method(), took.Round(time.Millisecond))})
	}
}

// benchmarker checks what is known of the benchmarker without a run.
func (d *round) benchmarker() {
	b := &d.File.Bench
	switch {
	case b.How == target.BenchPortal && !d.hasAccessLog():
		d.bad(Warning, "", "benchmarker", "write access below [service.logs] of the web server", "a portal starts its runs, and no access log can show begin and end of a load")
	case b.How == target.BenchPortal:
		d.ok("", "benchmarker", "a portal starts its runs, %v each; a person gives the scores", b.RunLength())
	case b.Command == "":
		d.bad(Warning, "", "benchmarker", "fill in command below [bench]; until then use iikanji bench --manual", "there is no command")
	case b.Reset.How == target.ResetCommand && b.Reset.Command == "":
		d.bad(Failed, "", "benchmarker", "fill in command below [bench.reset]", "reset has no command")
	case !strings.Contains(b.Command, "IIKANJI_SECONDS"):
		d.ok("", "benchmarker", "%s, %v a run; if it has an option for the length, ${IIKANJI_SECONDS} in it makes the runs of a search short", b.Command, b.RunLength())
	default:
		d.ok("", "benchmarker", "%s, %v a run, and shorter ones", b.Command, b.RunLength())
	}
}

// hasAccessLog reports whether a web server of the site has an access log.
func (d *round) hasAccessLog() bool {
	return slices.ContainsFunc(d.File.Services, func(s target.Service) bool { return s.Role == iikanji.RoleWeb && s.Logs.Access != "" })
}

// bench runs the benchmarker once.
func (d *round) bench(ctx context.Context) {
	if d.File.Bench.How == target.BenchPortal {
		d.bad(Skipped, "", "run of the benchmarker", "iikanji bench . asks to press", "a person starts it")
		return
	}
	if d.s == nil || d.File.Bench.Command == "" {
		d.bad(Skipped, "", "run of the benchmarker", "mend the failures above first", "it could not be run")
		return
	}
	began := time.Now()
	run, err := d.Bench(ctx, d.s)
	took := time.Since(began)
	switch {
	case err != nil:
		d.bad(Failed, "", "run of the benchmarker", remedyOf(err, "run the command by hand in the folder of the file"), "%v", err)
	case run.Outcome != iikanji.Passed:
		why := "it did not pass"
		if len(run.Reasons) > 0 {
			why = run.Reasons[0]
		}
		d.bad(Failed, "", "run of the benchmarker", "run the command by hand; score, pass and exit below [bench] say what a good run is", "%s", why)
	default:
		d.add(Check{Name: "run of the benchmarker", State: OK, Took: took, Says: fmt.Sprintf("score %g, %v of load, %v in all", run.Score, run.Took.Round(100*time.Millisecond), took.Round(100*time.Millisecond))})
		for _, w := range run.Warnings {
			d.bad(Warning, "", "run of the benchmarker", "", "%s", w)
		}
	}
}

// health asks each service whether it answers.
func (d *round) health(ctx context.Context) {
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if s.InFiles() {
			d.files(ctx, s)
			continue
		}
		if err := d.s.Ask(ctx, s); err != nil {
			d.bad(Failed, s.Name, "health", "set health of this service to what answers when it is ready", "%v", err)
			continue
		}
		h := s.Check()
		what := cmp.Or(h.URL, h.TCP, h.Unix)
		switch {
		case h.SQL:
			what = "SELECT 1"
		case h.NoTest:
			d.ok(s.Name, "health", "its process runs; nothing else is asked")
			continue
		}
		d.ok(s.Name, "health", "%s answers", what)
	}
	if d.File.ProgramOnly() && d.File.URL == "" {
		return
	}
	if err := d.knownName(ctx); err != nil {
		d.bad(Warning, "", "name of the site", "write it into /etc/hosts, or another address into bench.command", "%v: a benchmarker that gets IIKANJI_URL cannot reach it", err)
	}
	if err := d.s.AskSite(ctx); err != nil {
		d.bad(Failed, "", "url", remedyOf(err, "set url to the address at which clients reach the site"), "%v", err)
	} else {
		d.ok("", "url", "%s answers", d.File.URL)
	}
}

// knownName returns an error for a name of the site that leads to no address here.
func (d *round) knownName(ctx context.Context) error {
	u, err := url.Parse(d.File.URL)
	if err != nil || d.File.Bench.Command == "" {
		return nil
	}
	return discover.LookUp(ctx, u.Hostname())
}

// limits says first what iikanji does not do for the site: silence would look like
// a site without causes.
func (d *round) limits() {
	for _, l := range d.File.Limits() {
		says := l.Says
		if l.Seen != "" {
			says = l.Seen + " was seen: " + says
		}
		d.bad(Warning, l.Service, "not supported", l.Instead, "%s", says)
	}
	d.withoutDatabase()
}

// withoutDatabase names the database servers of this machine where the site has none: an
// idle site had no connection to its own when iikanji init looked.
func (d *round) withoutDatabase() {
	has := func(role iikanji.Role) bool {
		return slices.ContainsFunc(d.File.Services, func(s target.Service) bool { return s.Role == role })
	}
	m := d.m[""]
	if m == nil || has(iikanji.RoleDatabase) || !has(iikanji.RoleApp) {
		return
	}
	for _, s := range discover.DatabaseServers(m) {
		says := fmt.Sprintf("no service is a database, and %s runs at %s: if the site uses it, what the site waits for there is not seen", s.Engine, s.At)
		remedy := "send the site a request and run iikanji init --force, or add a [[service]] with role = \"database\""
		if s.Engine == target.EnginePostgreSQL {
			limit := target.PostgreSQL("", s.First, "", "")
			says, remedy = says+"; "+limit.Says, limit.Instead
		}
		d.bad(Warning, "", "database", remedy, "%s", says)
	}
}
