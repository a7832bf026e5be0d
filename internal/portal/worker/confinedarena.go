package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
)

// arenaName is argv[0] of this binary when it runs an arena's benchmarker in a sandbox.
const arenaName = "iikanji-arena"

// Folders of an arena in the sandbox: nothing but its own /tmp can be written.
const (
	boxHistory = "/tmp/history"
	boxWork    = "/tmp/arena"
)

// A confinedArena runs the benchmarker of an arena in a sandbox. What it writes there is out of
// reach for the worker, so that a process beside it reports on descriptor 3.
type confinedArena struct{ arenaBench }

// An arenaLine is one line of such a report.
type arenaLine struct {
	Progress *api.Progress `json:"progress,omitempty"`
	Report   *api.Report   `json:"report,omitempty"` // the last line
}

func (b *confinedArena) command(a *api.Assignment, _ string) (spec, error) {
	b.history, b.work = boxHistory, boxWork
	return spec{Path: b.program, Name: arenaName, Args: b.args(a), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/tmp", "TMPDIR=/tmp"}, Report: true}, nil
}

func (b *confinedArena) progress(reported []byte) *api.Progress {
	l, _ := lastArenaLine(reported)
	return l.Progress
}

func (b *confinedArena) report(e ending) api.Report {
	if e.failed != "" {
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: e.failed}
	}
	l, ok := lastArenaLine(e.report)
	if !ok || l.Report == nil {
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: firstOf(lastLine(e.stderr), "the arena's benchmarker reported nothing")}
	}
	r := l.Report
	if r.Outcome != iikanji.Passed && r.Outcome != iikanji.Failed && r.Outcome != iikanji.Void {
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: firstOf(r.Error, "the arena's benchmarker reported no outcome")}
	}
	// What the worker alone decides is not taken from it: whether the run was made, its seed, its log.
	return api.Report{Outcome: r.Outcome, Score: r.Score, Raw: r.Raw, Deducted: r.Deducted, Reasons: r.Reasons, Points: r.Points, Faults: r.Faults, Steps: r.Steps, Growth: r.Growth, Load: r.Load}
}

// lastArenaLine is the last whole line of a report.
func lastArenaLine(text []byte) (l arenaLine, ok bool) {
	end := bytes.LastIndexByte(text, '\n')
	if end < 0 {
		return l, false
	}
	line := text[bytes.LastIndexByte(text[:end], '\n')+1 : end]
	if json.Unmarshal(line, &l) != nil {
		return arenaLine{}, false
	}
	return l, true
}

// maybeArena runs the benchmarker of an arena if the process was executed for it, and then does not
// return.
func maybeArena() {
	if len(os.Args) < 1 || os.Args[0] != arenaName {
		return
	}
	if err := arenaProcess(os.Args[1:], os.NewFile(3, "report")); err != nil {
		fmt.Fprintln(os.Stderr, "iikanji:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// reportEvery is how often the progress of an arena is reported.
const reportEvery = 500 * time.Millisecond

// arenaProcess runs iikanji with some arguments, and reports its progress and at last its result.
func arenaProcess(args []string, report *os.File) error {
	// The guard's SIGTERM reaches the benchmarker, too, which then writes what it has.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	unix.CloseOnExec(int(report.Fd())) // the report is this process's alone
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the benchmarker: %w", err)
	}
	stderr := newClip(4 << 10)
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, io.MultiWriter(stderr, os.Stderr)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the benchmarker: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	b := &arenaBench{history: boxHistory}
	out := json.NewEncoder(report)
	ticks := time.NewTicker(reportEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if p := b.progress(nil); p != nil {
				if err := out.Encode(arenaLine{Progress: p}); err != nil {
					return fmt.Errorf("reporting: %w", err)
				}
			}
		case <-ended: // its status says nothing that run.json does not
			r := b.report(ending{stderr: strings.TrimSpace(stderr.String())})
			if err := out.Encode(arenaLine{Report: &r}); err != nil {
				return fmt.Errorf("reporting: %w", err)
			}
			return nil
		}
	}
}
