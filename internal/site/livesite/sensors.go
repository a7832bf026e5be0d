package livesite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/discover"
)

// SensorKind is the kind of a change that turns a log on for an observation. It
// is reverted at the end, and by iikanji recover.
const SensorKind = "sensor"

// timedFormat is the name of the log format of the timed access log.
const timedFormat = "iikanji_timed"

// timedKeys are the fields of the timed access log, in LTSV. By the cookies of the
// run's clients, pages are proven to be the same for all users. They are secrets: only
// the owner of the log may read it, and it is removed after the observation.
const timedKeys = `time:$time_iso8601\thost:$remote_addr\tmethod:$request_method\turi:$request_uri\tstatus:$status\tsize:$body_bytes_sent` +
	`\treqtime:$request_time\tapptime:$upstream_response_time\tua:$http_user_agent` +
	`\tcookie:$http_cookie`

// A Sensor is a change that adds a timed access log beside a web server's own
// logs.
type Sensor struct {
	Service string
	Change  *iikanji.Change
	Log     string // file that is written to
	// Database marks the slow log of a database. The others are access logs.
	Database bool
}

// sensors plans the logs that the site's services lack: timed access logs, and slow
// logs of every statement. A log that cannot be turned on is an error beside the
// others.
func (s *Subject) sensors(ctx context.Context) ([]Sensor, error) {
	out, refused := s.timedLogs(ctx)
	for _, name := range s.names {
		r := s.running()[name]
		if !r.Engine.MySQLFamily() {
			continue
		}
		one, err := s.slowSensor(ctx, r)
		if err != nil {
			refused = joinErrors(fmt.Errorf("planning a slow log of service %s: %w", name, err), refused)
		}
		if one != nil {
			out = append(out, *one)
		}
	}
	return out, refused
}

// timedLogs plans the timed access logs that the site's web servers lack.
func (s *Subject) timedLogs(ctx context.Context) ([]Sensor, error) {
	var out []Sensor
	for _, name := range s.names {
		r := s.running()[name]
		if r.Role != iikanji.RoleWeb || r.Engine != iikanji.EngineNginx || r.Config == "" {
			continue
		}
		one, err := s.timedLog(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("planning a timed access log of service %s: %w", name, err)
		}
		if one != nil {
			out = append(out, *one)
		}
	}
	return out, nil
}

// timedLog plans the timed log of one nginx.
func (s *Subject) timedLog(ctx context.Context, r *running) (*Sensor, error) {
	conf, err := nginx.Load(r.Config, r.host)
	if err != nil {
		return nil, err
	}
	if isTimed(conf, r.Logs.Access) {
		return nil, nil
	}
	log := s.logFile(r)
	http := conf.Find("http")
	if len(http) != 1 || http[0].Block == nil {
		return nil, fmt.Errorf("%s has %d http blocks, want 1", r.Config, len(http))
	}
	own, err := s.ownLog(ctx, r, conf)
	if err != nil {
		return nil, err
	}
	addLogs(conf, http[0], log, own)
	var edits []change.Edit
	for _, f := range conf.Changed() {
		path, err := r.host.RealPath(f.Path) // a link is edited at its end
		if err != nil {
			return nil, err
		}
		if err := s.site.MayWrite(r.Host, path); err != nil {
			return nil, fmt.Errorf("%w: add its folder to folders below [policy]", err)
		}
		edits = append(edits, change.Edit{Path: path, Old: []byte(f.Text), New: []byte(f.Root.String())})
	}
	if len(edits) == 0 {
		return nil, nil
	}
	err = s.site.InScratchFile(s.site.Services[r.Name], filepath.Dir(r.Config), ".conf", []byte(conf.Flat()), func(path string) error {
		return s.CheckConfig(ctx, r.Name, path)
	})
	if err != nil {
		return nil, errors.Join(err, r.host.Remove(log)) // the test of a configuration makes its logs
	}
	c := &iikanji.Change{Kind: SensorKind, Target: r.Name, Says: "write a timed access log beside the site's own, for the observation", Risk: iikanji.RiskReload}
	change.FromEdits(c, iikanji.Reload, change.OnHost(r.Host, edits...)...)
	return &Sensor{Service: r.Name, Change: c, Log: log}, nil
}

// isTimed reports whether every access_log that writes a file has a format with
// the time of requests.
func isTimed(conf *nginx.Config, log string) bool {
	formats, found := map[string]bool{}, false
	conf.Walk(conf.Root(), nil, func(p nginx.Place) {
		if p.Name() == "log_format" {
			formats[p.Arg(0)] = strings.Contains(strings.Join(p.Args(), " "), "$request_time")
		}
	})
	timed := true
	conf.Walk(conf.Root(), nil, func(p nginx.Place) {
		if p.Name() == "access_log" && p.Within("stream") {
			return
		}
		if p.Name() == "access_log" && filepath.Base(p.Arg(0)) == filepath.Base(log) {
			found = true
			timed = timed && formats[p.Arg(1)]
		}
	})
	return found && timed
}

// logFile is where the timed log is written: beside the site's own log, where
// nginx may write.
func (s *Subject) logFile(r *running) string {
	dir := filepath.Dir(r.Logs.Access)
	if r.Logs.Access == "" {
		if dir = filepath.Dir(r.Logs.Error); r.Logs.Error == "" {
			dir = "/var/log/nginx"
		}
	}
	return filepath.Join(dir, "iikanji-"+r.Name+"-access.log")
}

// ownLog is the access log that nginx writes without being told to, which ends
// with the first access_log directive; "" if one is configured in http.
func (s *Subject) ownLog(ctx context.Context, r *running, conf *nginx.Config) (string, error) {
	if len(conf.Find("access_log", "http")) > 0 {
		return "", nil
	}
	p := r.process()
	if p == nil {
		return "", &NotRunningError{Service: r.Name, By: "its process, which has ended"}
	}
	_, access := discover.Compiled(ctx, r.host, p)
	return access, nil
}

// addLogs adds the timed log at each place where access logs are configured. A
// block with an access_log of its own inherits none.
func addLogs(conf *nginx.Config, http nginx.Place, log, own string) {
	timed := func() *nginx.Directive { return nginx.New("access_log", log, timedFormat) }
	done := map[*nginx.Block]bool{}
	var firsts []nginx.Place // of each block
	conf.Walk(http.Block, nil, func(p nginx.Place) {
		if p.Name() == "access_log" && !done[p.In] {
			done[p.In] = true
			firsts = append(firsts, p)
		}
	})
	for _, p := range firsts {
		if only(p.In, "off") {
			p.SetArgs(log, timedFormat) // nothing of the site's own is lost: there was no log
			continue
		}
		at := 0
		for i, d := range p.In.Items {
			if d == p.Directive {
				at = i
			}
		}
		p.In.Insert(at+1, timed())
	}
	format := nginx.New("log_format", timedFormat, timedKeys)
	format.Words[2].Raw = "'" + timedKeys + "'" // nginx expands the variables in single quotes too
	if !done[http.Block] && !inIncludes(conf, http.Block, done) {
		http.Insert(0, timed())
		if own != "" {
			http.Insert(0, nginx.New("access_log", own))
		}
	}
	http.Insert(0, format)
}

// only reports whether all access_log directives of a block have this argument.
func only(b *nginx.Block, arg string) bool {
	for _, d := range b.Items {
		if d.Name() == "access_log" && d.Arg(0) != arg {
			return false
		}
	}
	return true
}

// inIncludes reports whether a file that is included directly in a block has an
// access_log at its top.
func inIncludes(conf *nginx.Config, b *nginx.Block, done map[*nginx.Block]bool) bool {
	for _, d := range b.Items {
		files, ok := conf.Included(d)
		if !ok {
			continue
		}
		for _, f := range files {
			if done[f.Root] || inIncludes(conf, f.Root, done) {
				return true
			}
		}
	}
	return false
}

// Journal sets the history in which changes of logs are written down. Without
// it, SensorsOn does nothing.
func (s *Subject) Journal(h *history.History) { s.history = h }

// SensorsOn turns on the logs that the site lacks, as changes of the history. The
// returned function undoes that. Leftovers of a run that was killed are undone
// first. A log that cannot be turned on is a message, not an error: the site can
// be observed without it.
func (s *Subject) SensorsOn(ctx context.Context) (off func() error, err error) {
	if s.history == nil {
		return func() error { return nil }, nil
	}
	x := &change.Executor{Hands: s.site, Journal: s.history, Policy: s.site.Target.Policy}
	if _, err := RevertSensors(ctx, s.history, x); err != nil {
		return nil, err
	}
	all, err := s.sensors(ctx)
	if err != nil {
		s.options.Progress(err.Error())
	}
	for _, one := range all {
		failed := s.history.AddChange(one.Change, change.Diff(one.Change))
		if failed == nil && !one.Database {
			failed = s.createPrivate(one.Service, one.Log)
		}
		if failed == nil {
			failed = x.Apply(ctx, one.Change.ID)
		}
		if failed != nil && one.Database && ctx.Err() == nil { // the account may lack the privilege; Apply has undone its part
			s.options.Progress(failed.Error())
			continue
		}
		if failed != nil {
			_, undo := RevertSensors(context.WithoutCancel(ctx), s.history, x)
			return nil, errors.Join(failed, undo, RemoveSensorLog(x.Hands, one.Change)) // also of a change that Apply has undone
		}
		if one.Database {
			s.options.Progress("every statement of later connections is logged to " + one.Log)
			continue
		}
		s.mu.Lock()
		s.logs[one.Service] = one.Log
		s.mu.Unlock()
		s.options.Progress("a timed access log is written to " + one.Log)
	}
	return func() error {
		s.mu.Lock()
		clear(s.logs)
		s.mu.Unlock()
		if _, err := RevertSensors(context.WithoutCancel(ctx), s.history, x); err != nil {
			return &StillOnError{err}
		}
		return nil
	}, nil
}

// A StillOnError is that logs of an observation could not be turned off.
type StillOnError struct{ Err error }

func (e *StillOnError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *StillOnError) Unwrap() error { return e.Err }

// Hints says what turns them off.
func (e *StillOnError) Hints() []string {
	return []string{"logs of the observation are still on: start what has ended, then iikanji recover turns them off"}
}

// createPrivate makes the file of a timed access log, which only its owner may read,
// before nginx opens it. The owner is the account of nginx's master.
func (s *Subject) createPrivate(service, path string) error {
	r := s.running()[service]
	err := r.host.Remove(path) // of a run that was killed; it may be open to others
	if err == nil {
		err = r.host.Create(path, nil, 0o600)
	}
	me, refused := r.host.Account()
	if p := r.process(); err == nil && refused == nil && p != nil && p.UID != me.UID {
		err = r.host.Chown(path, host.Owner{UID: p.UID, GID: me.GID})
	}
	if err = errors.Join(err, refused); err != nil {
		return fmt.Errorf("making the timed access log: %w", err)
	}
	return nil
}

// SensorsInForce counts the changes of logs that were not undone.
func SensorsInForce(h *history.History) (n int, err error) {
	changes, err := h.Changes()
	for _, c := range changes {
		if c.Kind == SensorKind && c.Stage.May(iikanji.Reverting) && c.Stage != iikanji.Stuck {
			n++
		}
	}
	return n, err
}

// RevertSensors undoes the changes of logs that are in force, and returns them. One
// that cannot be undone does not keep the others from it.
func RevertSensors(ctx context.Context, h *history.History, x *change.Executor) (done []iikanji.ChangeID, err error) {
	changes, err := h.Changes()
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(changes) {
		if c.Kind != SensorKind || !c.Stage.May(iikanji.Reverting) {
			continue
		}
		undo := x.Revert(ctx, c.ID, "the observation is over")
		if undo == nil {
			done = append(done, c.ID)
			undo = RemoveSensorLog(x.Hands, c)
		}
		err = errors.Join(err, undo)
	}
	return done, err
}

// RemoveSensorLog removes the file of a sensor, on its machine, after its change was
// reverted.
func RemoveSensorLog(hands change.Hands, c *iikanji.Change) error {
	on, err := hostOf(hands, c)
	if err != nil {
		return fmt.Errorf("removing the log of the observation: %w", err)
	}
	for _, op := range c.Do {
		if path, ok := slowFileOf(op); ok {
			if err := on.Remove(path); err != nil {
				return fmt.Errorf("removing the slow log of the observation: %w", err)
			}
			continue
		}
		for line := range strings.Lines(op.Body) {
			words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), ";"))
			if len(words) != 3 || words[0] != "access_log" || words[2] != timedFormat || !strings.HasPrefix(filepath.Base(words[1]), "iikanji-") {
				continue
			}
			if err := on.Remove(words[1]); err != nil {
				return fmt.Errorf("removing the timed access log: %w", err)
			}
		}
	}
	return nil
}

// hostOf is the machine of a sensor's log.
func hostOf(hands change.Hands, c *iikanji.Change) (host.Host, error) {
	site, ok := hands.(*change.Site)
	if !ok {
		return host.Local{}, nil
	}
	name := site.Services[c.Target].Host
	for _, op := range c.Do {
		if op.Host != "" {
			name = op.Host
		}
	}
	return site.On(name)
}
