package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/show/progress"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

type benchCmd struct {
	Target string `arg:"" optional:"" help:"Target to load, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	URL     string        `help:"Load a deployment that runs elsewhere (iikanji calls its initialize, and starts and stops nothing)." placeholder:"URL"`
	Load    time.Duration `help:"Length of the load phase (default: that of the contest, 60s)."`
	Seed    uint64        `help:"Seed of the offered work." default:"1"`
	NoLoad  bool          `help:"Initialize and check only."`
	Clock   float64       `help:"Speed of virtual time (default: that of the target)." placeholder:"X"`
	Pin     string        `help:"CPUs: auto, split, shared (off), or GENERATOR/STACK as in 0/1." default:"auto"`
	Dir     string        `help:"Work folder of the stack (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	History string        `help:"Folder for runs (default: history in the work folder)." type:"path" placeholder:"FOLDER"`
	Env     []string      `help:"Additional environment variable of the app." placeholder:"K=V" sep:"none"`

	appFlag

	Set     []string `help:"Setting of the arena; also --NAME VALUE." placeholder:"NAME=VALUE" sep:"none"`
	Address []string `help:"Additional address that the target may give as its own." placeholder:"HOST:PORT"`
	TLSAny  bool     `name:"insecure" help:"Accept any certificate of an https target."`

	Price bool `help:"Measure what each sensor costs, by alternating observed and bare runs."`
	Pairs int  `help:"With --price: pairs of runs for each sensor (default: 4)." default:"4" placeholder:"N"`

	Sensors []string `help:"With --price: only these of access, host, slow, perf and default." placeholder:"NAMES"`

	Repeat int `help:"Make this many runs, one after the other: how many pass, and how far their scores differ." default:"1" placeholder:"N"`

	Manual bool `help:"Wait for a score that you type: the benchmark is started by hand, elsewhere (sites with an iikanji.toml)."`

	Message string `short:"m" help:"What was changed since the last run: a note of the run, and the subject of its commit (sites with an iikanji.toml)." placeholder:"TEXT"`

	JSON bool `help:"Print the run as one JSON document."`
	hostsFlags
	clockFlag
}

// Help returns the long help of the command.
func (benchCmd) Help() string {
	return `Starts the target in a work folder of its own (an arena's MariaDB, nginx and app
are child processes of iikanji), loads it, checks every answer, and prints the
score with its reasons. Each run is saved in history/runs/NNNN, with samples of
the machine, one per second, in host.tsv.

With --repeat, the same work is offered again and again, and a table says how many of
the runs passed, what that says of the next one, and the spread of the scores. Void
runs do not count.

Examples:
  iikanji bench isucondition
  iikanji bench isucondition --load 20s --json
  iikanji bench isucondition --url http://127.0.0.1:8080
  iikanji bench isucondition --repeat 5 --load 20s
  iikanji bench isucondition --price --pairs 4 --load 20s
  iikanji bench isucondition --hosts 3
  iikanji bench . -m "keep-alive and the right index"

` + settingsHelp() + `Exit status: 0 passed, 1 failed to run (also: void, interrupted), 2 usage,
3 checks failed.`
}

// Run runs the command.
func (c *benchCmd) Run(ctx context.Context, e *env) (err error) {
	if c.Hosts != 0 {
		return c.onHosts(ctx, e)
	}
	a, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	r, err := c.prepare(e, a)
	if err != nil {
		return err
	}
	defer r.progress.Done()
	h, err := r.openHistory(ctx, acting{what: "bench", changes: r.resets(), clockFlag: c.clockFlag})
	if err != nil {
		return err
	}
	defer h.Close()
	defer tidy(e, h)
	r.file = progress.NewWriter(r.history, "bench", a.Name, e.Now)
	defer func() { endProgress(e, r.file, err) }()
	switch {
	case c.Price:
		return r.priceAll(ctx, h)
	case c.URL == "":
		return r.local(ctx, h)
	}
	return r.remote(ctx, h)
}

// onHosts loads the arena once on machines of its own.
func (c *benchCmd) onHosts(ctx context.Context, e *env) error {
	if c.URL != "" || c.Clock != 0 || len(c.Env) > 0 || len(c.Set) > 0 || len(c.Address) > 0 || c.Price || c.Manual || c.History != "" {
		return usageError("--hosts excludes --url, --clock, --env, --set, --address, --price, --manual and --history")
	}
	return c.onPark(ctx, e, c.Target, c.Dir, func(dir string) error {
		one := *c
		one.Target, one.Dir, one.hostsFlags, one.Pin = dir, filepath.Join(dir, "work"), c.made("bench", c.Target), "auto"
		return one.Run(ctx, e)
	})
}

// openHistory opens the history of the runs. A folder that the stack would refuse is
// refused before the history is created in it.
func (r *benchRun) openHistory(ctx context.Context, act acting) (*history.History, error) {
	if r.arena != nil && r.URL == "" {
		if err := stack.CheckFolder(r.Dir, r.arena); err != nil {
			return nil, err
		}
	}
	h, hold, err := openToAct(ctx, r.e, r.target, r.Dir, r.history, act)
	var busy *turn.BusyError
	if errors.As(err, &busy) {
		return nil, err
	}
	if err != nil {
		return nil, hinted(err, "choose a folder for the stack with --dir, and one for the runs with --history")
	}
	r.hold = hold
	if err := settle(r.e, h); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// A benchRun is one invocation of the command, with its defaults filled in.
type benchRun struct {
	*benchCmd
	e        *env
	target   *namedTarget
	arena    *arena.Arena // nil for a site
	settings arena.Values
	pin      pinning
	history  string
	progress *report.Progress
	growth   growth
	file     *progress.Writer // for other processes; nil where the command writes none
	boot     time.Duration
	hold     *turn.Hold // nil before the history is open
	work     *benchWork // nil for an arena
	patient  bool       // it cannot go on without the score of each run
	unlogged bool       // the access log is off, so that no load is seen in it
	before   func()     // called before each run of a search; nil for nothing
}

func (c *benchCmd) prepare(e *env, a *namedTarget) (*benchRun, error) {
	r := &benchRun{benchCmd: c, e: e, target: a, arena: a.arena}
	if a.arena == nil {
		if err := r.forSite(); err != nil {
			return nil, err
		}
	} else if c.Manual {
		return nil, usageError("--manual is for sites with an iikanji.toml: an arena has a benchmarker of its own")
	}
	allowed, err := bench.AllowedCPUs()
	if err != nil {
		return nil, err
	}
	if r.settings, err = arena.Resolve(a.settings(), c.Set); err != nil {
		return nil, usageError("--set: %w", err)
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, usageError("--url %q: want http://HOST[:PORT] or https://HOST[:PORT]", c.URL)
		}
		c.URL = u.Scheme + "://" + u.Host
		if c.Pin == "auto" { // the CPUs of a stack that runs elsewhere are not known
			c.Pin = "off"
		}
	}
	if r.pin, err = parsePin(c.Pin, allowed); err != nil {
		return nil, err
	}
	if err := stack.CheckEnv(c.Env); err != nil {
		return nil, usageError("--env: %w", err)
	}
	if err := c.checkRepeat(); err != nil {
		return nil, err
	}
	if c.Load < 0 || c.Load > time.Hour {
		return nil, usageError("--load %v: want up to 1h", c.Load)
	}
	if c.Dir == "" {
		if c.Dir, err = a.defaultDir(); err != nil {
			return nil, err
		}
	}
	if r.history = c.History; r.history == "" {
		r.history = filepath.Join(c.Dir, "history")
	}
	r.progress = report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	return r, nil
}

// local brings the target up, runs its scenario and takes the stack down again.
func (r *benchRun) local(ctx context.Context, h *history.History) error {
	return r.withSubject(ctx, func(ctx context.Context, s field.Subject) error {
		return r.benchAll(ctx, r.field(h, s, r.loaderOf(s, h)))
	})
}

// withSubject brings the target up, calls use with it and takes it down again.
// The death of a service also ends the context of use.
func (r *benchRun) withSubject(ctx context.Context, use func(context.Context, field.Subject) error) error {
	began := r.e.Now()
	return useTarget(ctx, r.target, r.stackOptions(), false, func(ctx context.Context, s field.Subject) error {
		r.ready(began, s)
		return use(ctx, s)
	})
}

func (r *benchRun) stackOptions() stack.Options {
	return stack.Options{Dir: r.Dir, StackCPUs: r.pin.stack, Env: r.Env, Progress: func(line string) { r.progress.Say("%s", line) }}
}

// ready records how long the stack took to come up, and prints its URL.
func (r *benchRun) ready(began time.Time, s field.Subject) {
	took := r.e.Now().Sub(began)
	if r.arena != nil { // a site was up before
		r.boot = took
	}
	r.progress.Say("ready in %s: %s", report.Duration(took), s.URL())
}

// scenarioOf returns the loader of the target's benchmarker with the command's options.
func (r *benchRun) scenarioOf(s *arenasite.Subject) *field.Scenario {
	return r.placed(s.Scenario(arena.Options{Set: r.settings, Clock: r.Clock, Addresses: r.Address}))
}

// placed fills in the options that the command line sets for every loader.
func (r *benchRun) placed(l *field.Scenario) *field.Scenario {
	l.Seed, l.CPUs, l.AnyCertificate, l.Place = r.Seed, r.pin.generator, r.TLSAny, r.pin.placement()
	if r.URL != "" {
		l.Place.Stack = "" // the site runs elsewhere
	}
	return l
}

// field returns the field of the command's runs; s is nil for a site that runs elsewhere.
func (r *benchRun) field(h *history.History, s field.Subject, l field.Loader) *field.Field {
	f := &field.Field{Loader: l, History: h, Now: r.e.Now, Boot: r.boot, Progress: r.show, Machine: machine(), Say: func(line string) { r.progress.Say("%s", line) }}
	if s != nil {
		f.Subject, f.Dir = s, r.Dir
	}
	if r.target.file != nil {
		f.Who = r.e.who(context.Background(), r.target)
	}
	return f
}

// remote loads a site that runs elsewhere.
func (r *benchRun) remote(ctx context.Context, h *history.History) error {
	data, err := r.ownData(ctx)
	if err != nil {
		return err
	}
	o := arena.Options{Data: data, Set: r.settings, Clock: r.Clock, Addresses: r.Address}
	f := r.field(h, nil, r.placed(arenasite.ScenarioOf(r.arena, r.URL, o)))
	f.Unseen = onThisMachine(r.URL)
	return r.benchAll(ctx, f)
}

// onThisMachine reports whether a URL has an address of this machine.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	if ip == nil {
		return false // a name may be of a proxy elsewhere
	}
	own, err := net.InterfaceAddrs()
	return ip.IsLoopback() || err == nil && slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// ownData generates the benchmarker's copy of the arena's data, once per version.
// A local stack generates it when it comes up; a site elsewhere has no such copy here.
func (r *benchRun) ownData(ctx context.Context) (string, error) {
	if r.arena.Generate == nil {
		return "", nil
	}
	dir := filepath.Join(r.Dir, "bench-data", r.arena.GeneratedVersion)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("making the benchmarker's data: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return "", fmt.Errorf("making the benchmarker's data: %w", err)
	}
	defer os.RemoveAll(tmp)
	r.progress.Say("generating the benchmarker's copy of the data")
	if err := writeArena(ctx, r.arena, tmp); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(tmp, "data"), dir); err != nil {
		if _, there := os.Stat(dir); there == nil { // another process has made the same
			return dir, nil
		}
		return "", fmt.Errorf("making the benchmarker's data: %w", err)
	}
	return dir, nil
}

// The samples of the host are saved in the folder of the run.
const (
	hostFile  = "host.tsv"
	hostEvery = time.Second
)

// benchAll makes the runs that were asked for.
func (r *benchRun) benchAll(ctx context.Context, f *field.Field) error {
	if r.Repeat > 1 {
		return r.repeat(ctx, f)
	}
	run, err := r.bench(ctx, f)
	if err != nil {
		return err
	}
	return verdictOf(run)
}

// bench makes one run, saves it and prints it.
func (r *benchRun) bench(ctx context.Context, f *field.Field) (*iikanji.Run, error) {
	r.work = r.beginWork(ctx, f)
	w := r.work
	m, err := f.Run(ctx, field.Spec{Load: field.Load{Time: r.Load, CheckOnly: r.NoLoad}, State: w.fingerprint(), HostEvery: hostEvery, KeepSamples: true, Counts: w != nil})
	if err != nil {
		return nil, err
	}
	run, dir := m.Run, m.Dir
	m.Complete()
	w.loaded(ctx, run)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		run.Outcome, run.Score = iikanji.Failed, 0
		run.Reasons = append([]string{cause.Error()}, run.Reasons...)
	}
	saved := errors.Join(f.History.SaveRun(run), f.History.SaveFile(run.ID, hostFile, hoststat.TSV(m.Samples())))
	if saved != nil {
		dir = "" // the run is printed all the same, for example when the disk is full
	}
	if saved == nil {
		w.saved(r, run)
	}
	r.progress.Done()
	err = errors.Join(saved, r.print(run, dir), w.end(ctx, r, run))
	if err == nil && r.target.file != nil {
		r.e.tell(ctx, r.target, runNotice(run, r.e.who(ctx, r.target), w.told()...))
		r.warnOfDisks(ctx)
	}
	if err := errors.Join(err, w.pushed(r)); err != nil {
		return nil, err
	}
	return run, nil
}

// show draws the progress, on a terminal with a chart of the points of each second.
func (r *benchRun) show(p bench.Progress) {
	r.file.Update(r.growth.record(p))
	if p.Note != "" {
		r.progress.Say("%s", p.Note)
	}
	if p.Unseen {
		r.progress.Status("%s", unseenText(p))
		return
	}
	if p.Phase != string(scenario.Load) {
		r.progress.Status("%s: %s, %s", p.Phase, report.Duration(p.Elapsed.Round(100*time.Millisecond)), report.Number(p.Requests, "request"))
		return
	}
	lines := []string{fmt.Sprintf("load: %s left, score %s, %s, %s, %s", p.Left.Round(time.Second),
		report.Count(int64(p.Score)), report.Number(p.Requests, "request"), report.Number(p.Errors, "error"), report.Number(p.Timeouts, "timeout"))}
	if chart := r.growth.chart(r.e.width()); chart != "" {
		lines = append(lines, chart)
	}
	r.progress.Draw(lines...)
}

// unseenText is the progress of a run whose load another program makes: its score is known
// at its end.
func unseenText(p bench.Progress) string {
	text := fmt.Sprintf("%s: %s", p.Phase, report.Duration(p.Elapsed.Round(100*time.Millisecond)))
	if p.Left > 0 {
		text += fmt.Sprintf(", %s left", p.Left.Round(time.Second))
	}
	return text
}

// print writes the run; dir is its folder, "" if it could not be saved.
func (r *benchRun) print(run *iikanji.Run, dir string) error {
	if r.Repeat > 1 {
		return r.printShort(run)
	}
	if r.JSON {
		return writeJSON(r.e.Stdout, r.work.with(run))
	}
	if err := report.RunText(r.e.Stdout, run, r.e.Cols); err != nil || dir == "" {
		return err
	}
	logs := ""
	if r.boot > 0 && run.Outcome == iikanji.Failed {
		logs = fmt.Sprintf("the servers' logs are in %s\n", filepath.Join(r.Dir, "log"))
	}
	_, err := fmt.Fprintf(r.e.Stdout, "\nkept in %s\n%s", dir, logs)
	return err
}

// verdictOf turns an outcome into an exit status. It adds no message: print wrote
// the reasons.
func verdictOf(run *iikanji.Run) error {
	switch run.Outcome {
	case iikanji.Passed, iikanji.Pending:
		return nil
	case iikanji.Failed:
		for _, f := range run.Faults {
			if f.Fatal && f.Check == "internal" { // a bug of iikanji: nothing of the target was checked
				return &exitError{Status: exitFailed}
			}
		}
		return &exitError{Status: exitChecks}
	}
	return &exitError{Status: exitFailed}
}
