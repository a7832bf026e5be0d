package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalGhostCmd struct {
	Add    portalGhostAddCmd    `cmd:"" help:"Add a ghost to a round."`
	List   portalGhostListCmd   `cmd:"" help:"List the ghosts of a round."`
	Remove portalGhostRemoveCmd `cmd:"" help:"Remove a ghost."`
}

// Help returns the long help of the command.
func (portalGhostCmd) Help() string { return portalGhostAddCmd{}.Help() }

type portalGhostAddCmd struct {
	Round  string `arg:"" help:"Round, as in cup_final."`
	Name   string `arg:"" help:"Name of the ghost."`
	CSV    string `name:"csv" help:"File with lines of minute, score and perhaps a label." type:"path" placeholder:"FILE" xor:"of"`
	Runs   string `help:"History of iikanji, as of tune or ladder: its runs." type:"path" placeholder:"FOLDER" xor:"of"`
	From   string `help:"Earlier round, with --team." placeholder:"ROUND" xor:"of"`
	Team   string `help:"Team of the earlier round." placeholder:"ID"`
	Source string `help:"Where it comes from, for people." placeholder:"TEXT"`
	Public bool   `help:"Everyone sees it: its owner agreed. Without it staff alone does."`
	JSON   bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalGhostAddCmd) Help() string {
	return `Adds a ghost to a round: a past course of scores, which begins with the round, goes with
its clock, is dashed in the charts and has no rank. It is made of a file, of the runs of
a history of iikanji, or of a team's runs of an earlier round whose results are public.

Examples:
  iikanji portal ghost add cup_final "last year" --csv winner.csv --public
  iikanji portal ghost add cup_final tune --runs ./history
  iikanji portal ghost add cup_final "the semifinal" --from cup_semifinal --team TEAM
  iikanji portal ghost list cup_final
  iikanji portal ghost remove cup_final GHOST

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalGhostAddCmd) Run(ctx context.Context, e *env) error {
	g := api.NewGhost{Name: c.Name, Source: c.Source, Public: c.Public, From: c.From, Team: c.Team}
	var err error
	switch {
	case c.CSV != "":
		g.Points, err = ghostOfFile(c.CSV)
	case c.Runs != "":
		g.Points, err = ghostOfRuns(c.Runs)
	case c.From == "" || c.Team == "":
		return usageError("name what the ghost is made of: --csv, --runs, or --from with --team")
	}
	if err != nil {
		return err
	}
	var made board.GhostLine
	if err := c.call(ctx, http.MethodPost, ghostsPath(c.Round), g, &made); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, made)
	}
	out := &output{w: e.Stdout}
	out.line("%s", report.Clean(fmt.Sprintf("ghost %s  %s", made.ID, made.Name)))
	return out.err
}

func ghostsPath(round string) string { return "/rounds/" + url.PathEscape(round) + "/ghosts" }

// mostCSV is the largest file of a ghost, in bytes: 2000 lines with labels.
const mostCSV = 1 << 20

// ghostOfFile reads the points of a file.
func ghostOfFile(path string) ([]board.GhostPoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the ghost: %w", err)
	}
	if info.Size() > mostCSV {
		return nil, fmt.Errorf("reading the ghost: %s is larger than %d bytes", filepath.Base(path), mostCSV)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the ghost: %w", err)
	}
	points, err := board.ParseGhost(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	return points, nil
}

// ghostOfRuns reads the runs of a history: the first one is at minute 0.
func ghostOfRuns(dir string) ([]board.GhostPoint, error) {
	h, err := history.View(dir)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	ids, err := h.Runs()
	if err != nil {
		return nil, err
	}
	var out []board.GhostPoint
	var first *iikanji.Run
	for _, id := range ids {
		run, err := h.LoadRun(id)
		if err != nil {
			return nil, err
		}
		if run.Watched || run.Outcome != iikanji.Passed && run.Outcome != iikanji.Failed {
			continue // no run of the benchmarker, or one that says nothing
		}
		if first == nil {
			first = run
		}
		p := board.GhostPoint{Minute: max(0, run.Began.Sub(first.Began).Minutes()), Label: fmt.Sprintf("run %d", run.ID)}
		if run.Outcome == iikanji.Passed {
			p.Score = run.Score
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, errors.New("the history has no run that passed or failed")
	}
	return out, board.CheckGhost(out)
}

type portalGhostListCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalGhostListCmd) Help() string {
	return `Lists the ghosts of a round with their score at this minute of play.

Examples:
  iikanji portal ghost list cup_final --json

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalGhostListCmd) Run(ctx context.Context, e *env) error {
	all := []board.GhostLine{}
	if err := c.call(ctx, http.MethodGet, ghostsPath(c.Round), nil, &all); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, all)
	}
	out := &output{w: e.Stdout}
	for _, g := range all {
		who := "staff"
		if g.Public {
			who = "everyone"
		}
		out.line("%s", report.Clean(fmt.Sprintf("%s  %s  %.0f  for %s  %s", g.ID, g.Name, g.Score, who, g.Source)))
	}
	return out.err
}

type portalGhostRemoveCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	Ghost string `arg:"" help:"The ghost's id."`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalGhostRemoveCmd) Help() string {
	return `Removes a ghost of a round.

Examples:
  iikanji portal ghost remove cup_final GHOST

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalGhostRemoveCmd) Run(ctx context.Context, e *env) error {
	var none struct{}
	if err := c.call(ctx, http.MethodDelete, ghostsPath(c.Round)+"/"+url.PathEscape(c.Ghost), nil, &none); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]string{"removed": c.Ghost})
	}
	out := &output{w: e.Stdout}
	out.line("removed %s", report.Clean(c.Ghost))
	return out.err
}

type portalAwardCmd struct {
	Round  string `arg:"" help:"Round, as in cup_final."`
	Prize  string `arg:"" help:"Prize of the contest file, of the kind manual."`
	Team   string `arg:"" optional:"" help:"Team that gets it; without one it is taken back."`
	Reason string `help:"Why; everyone sees it." required:"" placeholder:"TEXT"`
	JSON   bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalAwardCmd) Help() string {
	return `Gives a prize that staff decides on to a team. The latest award of a prize is in force.
While the board is frozen, everyone but staff sees the one of the freeze.

Examples:
  iikanji portal award cup_final jury TEAM --reason "the best write-up"

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalAwardCmd) Run(ctx context.Context, e *env) error {
	var r api.Round
	err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/awards", api.Award{Prize: c.Prize, Team: c.Team, Reason: c.Reason}, &r)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, r.Prizes)
	}
	out := &output{w: e.Stdout}
	if c.Team == "" {
		out.line("%s", report.Clean(c.Prize+" is taken back"))
		return out.err
	}
	out.line("%s", report.Clean(c.Prize+" is given to "+c.Team))
	return out.err
}
