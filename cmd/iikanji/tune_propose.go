package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/propose"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// proposeFunc is the type of tune.Tuner.Propose.
type proposeFunc = func(ctx context.Context, d *diagnose.Diagnosis, known []iikanji.Fact, tried []search.Attempt) ([]search.Candidate, error)

// proposer returns the function that runs the program of --proposer; nil without
// one. The value is split at spaces into program and arguments, without a shell.
func (c *tuneCmd) proposer(w *liveTarget) (proposeFunc, error) {
	command := strings.Fields(c.Proposer)
	if len(command) == 0 {
		return nil, nil
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, usageError("--proposer: %v", err)
	}
	return func(ctx context.Context, d *diagnose.Diagnosis, known []iikanji.Fact, tried []search.Attempt) ([]search.Candidate, error) {
		in := propose.Input{Target: w.Site().Target, Places: placesOf(w.Site()), Score: d.Run.Score, Findings: d.Findings, Facts: known, Kinds: change.Names()}
		for _, a := range tried {
			if a.Skipped == "" {
				in.Trials = append(in.Trials, propose.Trial{Change: iikanji.Change{ID: a.Verdict.Change, Kind: a.Candidate.Remedy.Kind, Target: a.Candidate.Remedy.Target, Says: a.Says, Answers: a.Candidate.Code}, Verdict: a.Verdict})
			}
		}
		proposals, err := propose.Run(ctx, command, in)
		if err != nil {
			return nil, fmt.Errorf("running the proposer: %w", err)
		}
		var out []search.Candidate
		for _, p := range proposals {
			out = append(out, search.Candidate{Remedy: p.Remedy, Code: p.Answers, Claim: "proposed by " + command[0]})
		}
		return out, nil
	}, nil
}

func placesOf(s *change.Site) map[string]propose.Places {
	places := map[string]propose.Places{}
	for name, svc := range s.Services {
		places[name] = propose.Places{Source: svc.Source, Public: svc.Public, Loads: svc.Loads}
	}
	return places
}
