package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/show/progress"
)

// An arenaBench runs `iikanji bench ARENA --url …` of the same binary, or `iikanji load`. What the
// run was worth is in its run.json; the exit status only says whether there is one.
type arenaBench struct {
	program  string
	work     string // the arena's own data, kept for the next run
	history  string
	callback string // where a run takes connections of the hosts; "" for none
	// generators are commands that start iikanji on further machines.
	generators []string
	growth     []float64
	run        *iikanji.Run
}

func (b *arenaBench) command(a *api.Assignment, dir string) (spec, error) {
	b.history = filepath.Join(dir, "history")
	// A clean environment: no credential of the worker reaches the child.
	return spec{Path: b.program, Args: b.args(a), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}}, nil
}

// args are the arguments of the arena's benchmarker.
func (b *arenaBench) args(a *api.Assignment) []string {
	p := a.Problem
	command := "bench"
	if p.Shards > 1 {
		command = "load" // the same with several generators
	}
	args := []string{command, p.Arena, "--url", a.Target, "--seed", strconv.FormatUint(a.Seed, 10), "--load", p.Load.String(),
		"--history", b.history, "--dir", b.work}
	if p.Shards > 1 {
		args = append(args, "--shards", strconv.Itoa(p.Shards))
		for _, line := range b.generators[:min(len(b.generators), p.Shards-1)] {
			args = append(args, "--on", line)
		}
	}
	for _, other := range a.Targets { // the site may give addresses of the team's other hosts as its own
		if at, err := addressOf(other); err == nil && other != a.Target {
			args = append(args, "--address", at.String())
		}
	}
	names := make([]string, 0, len(p.Set))
	for name := range p.Set {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		args = append(args, "--set", name+"="+strings.ReplaceAll(p.Set[name], contest.Callback, b.callback))
	}
	return args
}

func (b *arenaBench) progress([]byte) *api.Progress {
	s, err := progress.Read(b.history)
	if err != nil {
		return nil // not written yet
	}
	if len(s.Run.Growth) > 0 {
		b.growth = s.Run.Growth
	}
	if run, err := readRun(b.history); err == nil {
		b.run = run
	}
	return &api.Progress{At: s.Run.Elapsed, Phase: s.Run.Phase, Score: s.Run.Score, Growth: b.growth}
}

// readRun reads the only run of a history.
func readRun(history string) (*iikanji.Run, error) {
	files, err := filepath.Glob(filepath.Join(history, "runs", "*", "run.json"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%d runs in the history: %w", len(files), os.ErrNotExist)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	run := &iikanji.Run{}
	if err := json.Unmarshal(text, run); err != nil {
		return nil, fmt.Errorf("reading run.json: %w", err)
	}
	if run.Version > iikanji.RunVersion {
		return nil, fmt.Errorf("run.json has version %d", run.Version)
	}
	return run, nil
}

func (b *arenaBench) report(e ending) api.Report {
	run, err := readRun(b.history)
	if err != nil {
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: firstOf(e.failed, lastLine(e.stderr), err.Error())}
	}
	if s, err := progress.Read(b.history); err == nil && len(s.Run.Growth) > 0 {
		b.growth = s.Run.Growth
	}
	r := api.Report{Outcome: run.Outcome, Score: run.Score, Raw: run.Raw, Deducted: run.Deducted, Reasons: run.Reasons, Points: run.Points,
		Faults: run.Faults, Steps: run.Steps, Growth: b.growth, Load: run.Took}
	if run.Load.Void {
		r.Outcome = iikanji.Void
		r.Reasons = append(r.Reasons, run.Load.Why)
	}
	return r
}

// firstOf is the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
