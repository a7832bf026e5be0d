package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/portal/worker"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalRehearseCmd struct {
	Teams   int           `help:"How many teams play." default:"50" placeholder:"N"`
	Workers int           `help:"How many workers run their benchmark, a command that needs no site." default:"5" placeholder:"N"`
	Viewers int           `help:"How many spectators watch the board live." default:"2000" placeholder:"N"`
	For     time.Duration `help:"How long." default:"10m" placeholder:"TIME"`
	Length  time.Duration `name:"run" help:"Length of a run." default:"2s" placeholder:"TIME"`
	Backup  string        `help:"Restore this backup first and play beside its contests, on a copy that reaches none of its people and machines." type:"path" placeholder:"FILE"`
	JSON    bool          `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (portalRehearseCmd) Help() string {
	return `Plays a contest with virtual teams, workers and spectators against a portal of its own, in
a scratch folder of this machine: whether this machine carries yours. Teams enqueue one
run after the other and look at the board each second; spectators read its stream. Shows
what was answered, and the CPU time and memory of all of it: the virtual people are in the
same process, so that the portal itself needs less.

Examples:
  iikanji portal rehearse
  iikanji portal rehearse --teams 100 --workers 14 --viewers 5000 --for 30m
  iikanji portal rehearse --backup cup.backup --teams 5 --workers 1 --viewers 50 --for 30s

Exit status: 0 every request was answered, 1 failed to run, 2 usage, 3 an answer of 500
or more, or none.`
}

// A rehearsal is what a rehearsal counted.
type rehearsal struct {
	Teams   int           `json:"teams"`
	Workers int           `json:"workers"`
	Viewers int           `json:"viewers"`
	Took    time.Duration `json:"took_ns"`
	Runs    int           `json:"runs"` // that ended with a result
	// Requests are of virtual people; Bad had no answer, or one of 500 or more, or one that
	// was not expected.
	Requests int64         `json:"requests"`
	Bad      int64         `json:"bad"`
	FirstBad string        `json:"first_bad,omitempty"`
	P50      time.Duration `json:"p50_ns"` // of pages and calls
	P99      time.Duration `json:"p99_ns"`
	Max      time.Duration `json:"max_ns"`
	Frames   int64         `json:"frames"` // that spectators got
	Watching int           `json:"watching"`
	Cores    float64       `json:"cores"` // on average
	PeakMiB  int           `json:"peak_mib"`
	Restored *restored     `json:"restored,omitempty"` // with --backup
}

// Run runs the command.
func (c *portalRehearseCmd) Run(ctx context.Context, e *env) error {
	if c.Teams < 1 || c.Teams > 2000 || c.Workers < 1 || c.Workers > 200 || c.Viewers < 0 || c.Viewers > 20_000 || c.For < time.Second || c.For > 24*time.Hour || c.Length < time.Second || c.Length > time.Hour {
		return usageError("want 1 to 2000 --teams, 1 to 200 --workers, 0 to 20000 --viewers, --for and --run from 1s")
	}
	dir, err := os.MkdirTemp("", "iikanji-rehearse-")
	if err != nil {
		return fmt.Errorf("making a scratch folder: %w", err)
	}
	defer os.RemoveAll(dir)
	r, err := c.play(ctx, e, dir)
	if err != nil {
		return err
	}
	return printChecked(e, c.JSON, r, r.Bad > 0)
}

// printChecked prints a result, as JSON or for people, and ends with the status of failed checks
// if it is bad.
func printChecked(e *env, asJSON bool, r interface{ print(e *env) error }, bad bool) error {
	var err error
	if asJSON {
		err = writeJSON(e.Stdout, r)
	} else {
		err = r.print(e)
	}
	if err == nil && bad {
		return &exitError{Status: exitChecks}
	}
	return err
}

// print writes what was counted.
func (r *rehearsal) print(e *env) error {
	if r.Restored != nil {
		if err := r.Restored.print(e); err != nil {
			return err
		}
	}
	out := &output{w: e.Stdout}
	out.line("%s, %s and %s for %s: %s with a result", report.Number(r.Teams, "team"), report.Number(r.Workers, "worker"), report.Number(r.Viewers, "spectator"), report.Duration(r.Took.Round(time.Second)), report.Number(r.Runs, "run"))
	if r.Bad == 0 {
		out.line("%s: no answer of 500 or more", report.Number(r.Requests, "request"))
	} else {
		out.line("%s: %d without a good answer, the first: %s", report.Number(r.Requests, "request"), r.Bad, report.Clean(r.FirstBad))
	}
	out.line("pages and calls: median %s, 99 %% within %s, longest %s", report.Duration(r.P50), report.Duration(r.P99), report.Duration(r.Max))
	out.line("%d spectators were watching at the end, %d frames in all", r.Watching, r.Frames)
	out.line("portal, workers and virtual people together: %.2f cores on average, %d MiB at most", r.Cores, r.PeakMiB)
	return out.err
}

// rehearsalText is the contest. The benchmark waits, and its score is of the seed.
const rehearsalText = `name = "Rehearsal"
local = true
[[rounds]]
id = "day"
kind = "open"
problem = "p"
[problem.p]
command = ["sh", "-c", "sleep %g; echo \"{\\\"end\\\":true,\\\"pass\\\":true,\\\"score\\\":$((IIKANJI_SEED %% 100000 + 1))}\" >&3"]
report = "lines"
load = "%s"
timeout = "%s"
`

const rehearsalRound = "rehearsal_day"

// play starts the portal, its workers and the virtual people, and counts until the time is over.
func (c *portalRehearseCmd) play(ctx context.Context, e *env, dir string) (r *rehearsal, err error) {
	log := slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	up := &portalUpCmd{Listen: "127.0.0.1:0", portalDir: portalDir{Dir: filepath.Join(dir, "portal"), DB: filepath.Join(dir, "portal.db")}}
	if err := up.open(); err != nil {
		return nil, err
	}
	var back *restored
	if c.Backup != "" {
		if back, err = c.copyOf(ctx, e, up); err != nil {
			return nil, err
		}
	}
	l, err := up.listen()
	if err != nil {
		return nil, err
	}
	defer l.Close()
	p, err := up.start(ctx, e, log, up.url(l))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	v := &virtual{url: up.url(l), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}, Timeout: time.Minute}, watching: &http.Client{Transport: &http.Transport{}}}
	tokens, err := c.enrol(ctx, p)
	if err != nil {
		return nil, err
	}
	serving, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() {
		if err := p.serve(serving, l); err != nil {
			log.Error("the portal ended", "error", err)
		}
	})
	for n := range c.Workers {
		if err := c.hire(serving, &all, p, log, filepath.Join(dir, fmt.Sprint("w", n)), v.url); err != nil {
			return nil, err
		}
	}
	began, used := time.Now(), cpuTime()
	playing, over := context.WithTimeout(serving, c.For)
	defer over()
	var people sync.WaitGroup
	for _, token := range tokens {
		people.Go(func() { v.team(playing, token) })
	}
	for range c.Viewers {
		people.Go(func() { v.watch(playing) })
	}
	if back != nil {
		v.look(playing, p.tokens.admin)
	}
	<-playing.Done()
	r = v.count()
	people.Wait()
	r.Restored = back
	r.Teams, r.Workers, r.Viewers, r.Took = c.Teams, c.Workers, c.Viewers, time.Since(began)
	r.Cores = (cpuTime() - used).Seconds() / r.Took.Seconds()
	r.PeakMiB = peakMiB()
	jobs, err := p.core.Jobs(ctx, rehearsalRound, "")
	for _, j := range jobs {
		if j.State == api.Done {
			r.Runs++
		}
	}
	return r, err
}

// copyOf restores a backup for the rehearsal. Its people are told nothing, its runs that were open
// end, and its machines are forgotten: no worker of the rehearsal may load a team's site.
func (c *portalRehearseCmd) copyOf(ctx context.Context, e *env, up *portalUpCmd) (back *restored, err error) {
	f, err := os.Open(c.Backup)
	if err != nil {
		return nil, fmt.Errorf("reading the backup: %w", err)
	}
	defer f.Close()
	if back, err = up.restore(ctx, e, f); err != nil {
		return nil, err
	}
	core, end, err := up.core(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	return back, core.Write(ctx, "rehearse", func(tx *store.Tx) error {
		for _, q := range []string{"DELETE FROM deliveries", "DELETE FROM subscriptions", "DELETE FROM contacts", "DELETE FROM hosts", "DELETE FROM host_state", "DELETE FROM open_jobs",
			"UPDATE jobs SET state = 'cancelled' WHERE state IN ('queued', 'offered', 'running')"} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		return nil
	})
}

// look opens the pages of all rounds, with the token of staff.
func (v *virtual) look(ctx context.Context, token string) {
	var rounds []api.Round
	v.call(ctx, token, http.MethodGet, "/api/v1/rounds", nil, &rounds)
	for _, r := range rounds {
		for _, path := range []string{"/r/%s", "/tv/%s", "/staff/%s", "/api/v1/rounds/%s/board"} {
			v.call(ctx, token, http.MethodGet, fmt.Sprintf(path, r.ID), nil, nil)
		}
	}
}

// enrol makes the contest and its teams, and returns their tokens.
func (c *portalRehearseCmd) enrol(ctx context.Context, p *portalProcess) (tokens []string, err error) {
	text := fmt.Sprintf(rehearsalText, c.Length.Seconds(), c.Length, c.Length+time.Minute)
	if _, err := p.core.AddContest(ctx, []byte(text), "rehearsal.toml"); err != nil {
		return nil, err
	}
	for n := range c.Teams {
		made, err := p.core.NewTeam(ctx, lead.NewTeam{Contest: "rehearsal", Name: fmt.Sprintf("team %d", n+1)}, fmt.Sprintf("http://127.0.0.1:%d", n+1))
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, made.Token)
	}
	return tokens, nil
}

// hire starts a worker.
func (c *portalRehearseCmd) hire(ctx context.Context, all *sync.WaitGroup, p *portalProcess, log *slog.Logger, dir, url string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making a worker's folder: %w", err)
	}
	w, err := worker.New(worker.Options{URL: url, Token: p.tokens.worker, Name: filepath.Base(dir), Dir: dir, Program: program, Version: versionText(), Log: log, Unconfined: true})
	if err != nil {
		return err
	}
	all.Go(func() {
		if err := w.Run(ctx, ctx); err != nil {
			log.Error("a worker ended", "error", err)
		}
	})
	return nil
}

// A virtual has virtual people of one portal.
type virtual struct {
	url      string
	client   *http.Client
	watching *http.Client

	mu       sync.Mutex
	took     tally.Sketch
	bad      int64
	firstBad string
	frames   int64
	watchers int
}

// count is what was counted so far.
func (v *virtual) count() *rehearsal {
	v.mu.Lock()
	defer v.mu.Unlock()
	return &rehearsal{Requests: v.took.Count(), Bad: v.bad, FirstBad: v.firstBad, P50: v.took.Quantile(0.5), P99: v.took.Quantile(0.99), Max: v.took.Max(), Frames: v.frames, Watching: v.watchers}
}

// call makes one request. Answers other than 200 and of a refusal count as bad, also none.
func (v *virtual) call(ctx context.Context, token, method, path string, in, out any) bool {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return false
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, v.url+path, body)
	if err != nil {
		return false
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
	}
	sent := time.Now()
	answer, err := v.client.Do(r)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(answer.Body)
		answer.Body.Close()
	}
	took := time.Since(sent)
	if ctx.Err() != nil {
		return false // the end of the rehearsal
	}
	v.mu.Lock()
	v.took.Add(took)
	v.mu.Unlock()
	switch {
	case err != nil:
		v.failed(err.Error())
		return false
	case answer.StatusCode >= 400 && answer.StatusCode != http.StatusConflict:
		v.failed(fmt.Sprintf("%s %s: %s", method, path, answer.Status))
		return false
	}
	return answer.StatusCode == http.StatusOK && (out == nil || json.Unmarshal(text, out) == nil)
}

// team plays: it enqueues a run, looks at the board while it waits, and begins anew. A team has at
// most ten runs a minute, as the portal allows.
func (v *virtual) team(ctx context.Context, token string) {
	for ctx.Err() == nil {
		var j api.Job
		began := time.Now()
		made := v.call(ctx, token, http.MethodPost, "/api/v1/rounds/"+rehearsalRound+"/jobs", api.Enqueue{Note: "rehearsal"}, &j)
		for made && ctx.Err() == nil && j.State.Open() {
			scenario.Sleep(ctx, time.Second)
			v.call(ctx, "", http.MethodGet, "/r/"+rehearsalRound, nil, nil)
			v.call(ctx, token, http.MethodGet, "/api/v1/jobs/"+j.ID, nil, &j)
		}
		scenario.Sleep(ctx, 7*time.Second-time.Since(began))
	}
}

// watch is one spectator, who comes back a moment after the stream has ended.
func (v *virtual) watch(ctx context.Context) {
	for ctx.Err() == nil {
		v.read(ctx)
		scenario.Sleep(ctx, time.Second)
	}
}

// failed counts what had no good answer.
func (v *virtual) failed(problem string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bad++; v.firstBad == "" {
		v.firstBad = problem
	}
}

// read reads one stream to its end.
func (v *virtual) read(ctx context.Context) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+"/api/v1/rounds/"+rehearsalRound+"/stream", nil)
	if err != nil {
		return
	}
	answer, err := v.watching.Do(r)
	switch {
	case ctx.Err() != nil: // the end of the rehearsal
		if err == nil {
			answer.Body.Close()
		}
		return
	case err != nil:
		v.failed("the stream: " + err.Error())
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		v.failed("the stream: " + answer.Status)
		return
	}
	v.mu.Lock()
	v.watchers++
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.watchers--
	}()
	buf := make([]byte, 4<<10)
	for {
		n, err := answer.Body.Read(buf)
		if frames := bytes.Count(buf[:n], []byte("\ndata: ")); frames > 0 {
			v.mu.Lock()
			v.frames += int64(frames)
			v.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// cpuTime is the CPU time of this process and of the programs that it waited for.
func cpuTime() (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var ru syscall.Rusage
		if syscall.Getrusage(who, &ru) == nil { // it cannot fail with these
			all += time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
		}
	}
	return all
}

// peakMiB is the most memory that this process had.
func peakMiB() int {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return int(ru.Maxrss >> 10)
}
