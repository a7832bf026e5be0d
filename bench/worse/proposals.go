package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/propose"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// A proposal is a change that a team made and had to take back.
type proposal struct {
	arena    string
	name     string // for the table
	reported string // effect that the change had in the contest
	// given lists remedies that are applied before the trial, as they were in the
	// contest.
	given  []iikanji.Remedy
	remedy iikanji.Remedy
}

// proposals lists the changes that the judge is tested with.
var proposals = []proposal{
	{
		arena: "tickets", name: "pool of 200 where rows are locked",
		reported: "40,492 to 39,072 with 100, 77,029 to 73,395 with 200",
		remedy:   iikanji.Remedy{Kind: "appenv", Target: "app", Says: "200 connections to the database", Args: map[string]string{"pool": "200"}},
	},
	{
		arena: "isucondition", name: "index on the wrong column",
		reported: "replaced an hour later by the one on timestamp, which gave 20,127 to 37,019",
		given:    []iikanji.Remedy{conditionIndex("timestamp")},
		remedy:   conditionIndex("created_at"),
	},
	{
		arena: "isucondition", name: "gzip of answers",
		reported: "208,386 to 188,370 with static files compressed beforehand",
		remedy: iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Says: "compress all answers",
			Args: map[string]string{"act": "gzip", "types": "application/json text/css text/javascript application/javascript image/svg+xml"}},
	},
}

// conditionIndex is an index of conditions by chair and one more column, created
// in such a way that initialize does not remove it.
func conditionIndex(column string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "ddl", Target: "database", Says: "index of isu_condition by chair and " + column,
		Args: map[string]string{"act": "add index", "schema": "isucondition", "table": "isu_condition",
			"columns": "jia_isu_uuid, " + column, "into": "schema file"}}
}

// answerQuestion is the proposer's side of the protocol (docs/proposer.md). It
// reads the question, of which only the target's name matters here, and writes the
// changes to try.
func answerQuestion(in io.Reader, out io.Writer) error {
	var q struct {
		Version int
		Target  struct{ Name string }
	}
	if err := json.NewDecoder(in).Decode(&q); err != nil {
		return fmt.Errorf("reading the question: %w", err)
	}
	if q.Version != propose.Version {
		return fmt.Errorf("a question of version %d; this proposer supports version %d", q.Version, propose.Version)
	}
	type wanted struct {
		Kind   string            `json:"kind"`
		Target string            `json:"target"`
		Args   map[string]string `json:"args"`
		Says   string            `json:"says"`
	}
	doc := struct {
		Version int      `json:"version"`
		Changes []wanted `json:"changes"`
	}{propose.Version, []wanted{}}
	for _, p := range proposals {
		if r := p.remedy; p.arena == q.Target.Name {
			doc.Changes = append(doc.Changes, wanted{r.Kind, r.Target, r.Args, r.Says})
		}
	}
	return json.NewEncoder(out).Encode(&doc)
}

// ask starts this program as a proposer and sends it a question, in the same way
// as the tune command does with an external proposer.
func ask(site *change.Site) func(context.Context, *diagnose.Diagnosis, []iikanji.Fact, []search.Attempt) ([]search.Candidate, error) {
	return func(ctx context.Context, d *diagnose.Diagnosis, known []iikanji.Fact, _ []search.Attempt) ([]search.Candidate, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		answers, err := propose.Run(ctx, []string{self, "-role", roleProposer}, propose.Input{Target: site.Target, Findings: d.Findings, Facts: known, Kinds: change.Names()})
		if err != nil {
			return nil, err
		}
		var out []search.Candidate
		for _, a := range answers {
			out = append(out, search.Candidate{Remedy: a.Remedy, Code: a.Answers, Claim: "planted"})
		}
		return out, nil
	}
}
