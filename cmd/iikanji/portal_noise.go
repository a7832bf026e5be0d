package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalNoiseCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	Team  string `help:"Team whose site stays as it is: the organiser's reference, of a division without a rank." required:"" placeholder:"ID"`
	Runs  int    `help:"How many runs." default:"8" placeholder:"N"`
	Keep  bool   `help:"Keep it: boards then mark neighbours that a single run does not tell apart."`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalNoiseCmd) Help() string {
	return `Makes runs of a site that nobody changes, one after the other, and says how far their
scores differ: what a single run does not tell. With --keep the board marks neighbours
whose difference is smaller (≈), and the page of a run says so of its predecessors.

Examples:
  iikanji portal noise cup_final --team TEAM --runs 8 --keep

Exit status: 0 done, 1 failed to run, 2 usage, 3 too few runs passed.`
}

// A noiseReport is what the runs showed.
type noiseReport struct {
	Scores []float64 `json:"scores"`
	api.Noise
	Kept bool `json:"kept"`
}

// Run runs the command.
func (c *portalNoiseCmd) Run(ctx context.Context, e *env) error {
	if c.Runs < api.LeastNoiseRuns || c.Runs > 100 {
		return usageError("--runs %d: want %d to 100", c.Runs, api.LeastNoiseRuns)
	}
	r := &noiseReport{}
	for n := range c.Runs {
		score, err := c.once(ctx, n)
		if err != nil {
			return err
		}
		if score > 0 {
			r.Scores = append(r.Scores, score)
		}
		fmt.Fprintf(e.Stderr, "run %d of %d: %.0f\n", n+1, c.Runs, score)
	}
	if len(r.Scores) < api.LeastNoiseRuns {
		fmt.Fprintf(e.Stderr, "%s passed with a score: too few\n", report.Number(len(r.Scores), "run"))
		return &exitError{Status: exitChecks}
	}
	r.SD, r.Runs = deviation(r.Scores), len(r.Scores)
	if c.Keep {
		var kept api.Round
		if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/noise", r.Noise, &kept); err != nil {
			return err
		}
		r.Kept = true
	}
	if c.JSON {
		return writeJSON(e.Stdout, r)
	}
	out := &output{w: e.Stdout}
	out.line("%s passed; standard deviation of ln(score): %.4f", report.Number(r.Runs, "run"), r.SD)
	out.line("a difference of two single runs below %.1f %% may be chance", 100*(math.Exp(r.Least())-1))
	return out.err
}

// once makes one run and returns its score; 0 if it did not pass.
func (c *portalNoiseCmd) once(ctx context.Context, n int) (float64, error) {
	var j api.Job
	err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/jobs", api.Enqueue{Team: c.Team, Note: fmt.Sprintf("noise %d of %d", n+1, c.Runs)}, &j)
	for err == nil && j.State.Open() {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Second):
		}
		err = c.call(ctx, http.MethodGet, "/jobs/"+url.PathEscape(j.ID), nil, &j)
	}
	if err != nil {
		return 0, err
	}
	if j.State != api.Done {
		return 0, errors.New("run " + j.ID + " is " + string(j.State) + ": " + report.Clean(j.Text))
	}
	if j.Result == nil || j.Result.Outcome != iikanji.Passed {
		return 0, nil
	}
	return j.Result.Score, nil
}

// deviation is the standard deviation of the logarithms of a sample.
func deviation(scores []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, s := range scores {
		mean += math.Log(s) / float64(len(scores))
	}
	for _, s := range scores {
		sum += (math.Log(s) - mean) * (math.Log(s) - mean)
	}
	return math.Sqrt(sum / float64(len(scores)-1))
}
