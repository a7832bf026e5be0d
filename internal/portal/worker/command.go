package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A commandBench runs any benchmarker. It may report lines of JSON on the descriptor that
// IIKANJI_REPORT_FD names; else its score is found in its output.
type commandBench struct {
	growth   []float64 // the scores of its lines so far
	callback string    // where it takes connections of the hosts; "" for none
}

func (b *commandBench) command(a *api.Assignment, dir string) (spec, error) {
	env := []string{"IIKANJI_TARGET=" + a.Target, "IIKANJI_URL=" + a.Target, "IIKANJI_TARGETS=" + strings.Join(a.Targets, " "),
		"IIKANJI_SEED=" + strconv.FormatUint(a.Seed, 10), fmt.Sprintf("IIKANJI_SECONDS=%g", a.Problem.Load.Seconds()), "IIKANJI_JOB=" + a.Job, "IIKANJI_REPORT_FD=3"}
	if b.callback != "" {
		env = append(env, "IIKANJI_CALLBACK="+b.callback)
	}
	return commandSpec(a, dir, env)
}

// commandSpec starts a problem's command, without a shell, in a clean environment.
func commandSpec(a *api.Assignment, dir string, env []string) (spec, error) {
	if len(a.Problem.Command) == 0 {
		return spec{}, fmt.Errorf("problem %s has no command", a.Problem.ID)
	}
	path, err := exec.LookPath(a.Problem.Command[0])
	if err != nil {
		return spec{}, fmt.Errorf("the benchmarker: %w", err)
	}
	env = append(env, "PATH="+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+dir)
	return spec{Path: path, Args: a.Problem.Command[1:], Env: env, Report: true}, nil
}

func (b *commandBench) progress(reported []byte) *api.Progress {
	var p *api.Progress
	for line := range bytes.Lines(reported) {
		l := reportLine{}
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &l) != nil || l.End || math.IsNaN(l.T) || l.T < 0 || l.T > maxGrowth {
			continue
		}
		b.growth = appendGrowth(b.growth, l)
		p = &api.Progress{At: time.Duration(l.T * float64(time.Second)), Phase: plain.CutBytes(plain.Line(l.Phase), 100), Score: l.Score, Growth: b.growth, Message: l.Message}
	}
	return p
}

func (b *commandBench) report(e ending) api.Report {
	if e.failed != "" {
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: e.failed}
	}
	r, any, err := readLines(e.report)
	switch {
	case any && err == nil:
		return r
	case any:
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: err.Error()}
	}
	return fromOutput(e)
}

// fromOutput finds the score in an output, as [bench] of an iikanji.toml does.
func fromOutput(e ending) api.Report {
	found := loader.Read(&target.Bench{Tool: target.Tool("auto")}, loader.Output{Out: []byte(e.log), Err: []byte(e.stderr)})
	r := api.Report{Outcome: iikanji.Passed, Score: found.Score, Raw: found.Score, Reasons: found.Failed}
	for _, message := range found.Faults {
		r.Faults = append(r.Faults, iikanji.Fault{Kind: iikanji.FaultCheck, Message: message, Count: 1})
	}
	switch {
	case e.exit != 0:
		r.Outcome, r.Reasons = iikanji.Failed, append(r.Reasons, fmt.Sprintf("the benchmarker ended with status %d: %s", e.exit, lastLine(e.stderr)))
	case len(found.Failed) > 0:
		r.Outcome = iikanji.Failed
	case !found.Scored:
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: "no score in the output of the benchmarker"}
	}
	return r
}

// lastLine is the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
