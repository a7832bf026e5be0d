package main

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalJudgeRepeatCmd struct {
	Round  string `arg:"" help:"Round, as in cup_final."`
	Team   string `arg:"" help:"Team."`
	Step   string `arg:"" help:"Step, as in reboot."`
	Reason string `help:"Why; it is in the audit log." required:"" placeholder:"TEXT"`
	portalCaller
}

// Help returns the long help of the command.
func (portalJudgeRepeatCmd) Help() string {
	return `Takes a step of a team back, and the steps after it: the next iikanji portal judge run
makes them again. What was found out before stays in the audit log.

Examples:
  iikanji portal judge repeat cup_final TEAM reboot --reason "the switch was off"

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalJudgeRepeatCmd) Run(ctx context.Context, e *env) error {
	if err := (judgeCaller{&c.portalCaller, c.Round}).Step(ctx, api.FinalStep{Team: c.Team, Name: c.Step, Repeat: true, Reason: c.Reason}); err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	out.line("taken back: %s of %s", report.Clean(c.Step), report.Clean(c.Team))
	return out.err
}

type portalJudgeRejudgeCmd struct {
	Round  string    `arg:"" help:"Round, as in cup_final."`
	As     string    `help:"What the runs count as: void, failed, or passed with --factor." required:"" enum:"void,failed,passed" placeholder:"WORD"`
	Factor float64   `help:"With --as passed: factor of the score." placeholder:"N"`
	Worker string    `help:"Runs of this worker." placeholder:"ID"`
	From   time.Time `help:"Results from this time on." placeholder:"TIME"`
	To     time.Time `help:"Results before this time." placeholder:"TIME"`
	Jobs   []string  `name:"job" help:"These runs." sep:"none" placeholder:"ID"`
	Reason string    `help:"Why; teams see it." required:"" placeholder:"TEXT"`
	Apply  bool      `help:"Apply it; without it nothing changes."`
	JSON   bool      `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalJudgeRejudgeCmd) Help() string {
	return `Changes what the results of some runs count. It shows every rank that moves, and does so
only with --apply. The results themselves stay as they are.

Examples:
  iikanji portal judge rejudge cup_final --as void --worker WORKER --reason "a broken network card"

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalJudgeRejudgeCmd) Run(ctx context.Context, e *env) error {
	r := api.Rejudge{Worker: c.Worker, From: c.From, To: c.To, Jobs: c.Jobs, Factor: c.Factor, Reason: c.Reason, Apply: c.Apply}
	r.As = map[string]iikanji.Outcome{"void": iikanji.Void, "failed": iikanji.Failed, "passed": iikanji.Passed}[c.As]
	var done api.Rejudged
	if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/rejudge", r, &done); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, done)
	}
	out := &output{w: e.Stdout}
	what := "would change"
	if done.Applied {
		what = "changed"
	}
	out.line("%d results %s, %d ranks move", len(done.Jobs), what, len(done.Moves))
	printMoves(out, done.Moves)
	return out.err
}

type portalDisqualifyCmd struct {
	Round    string        `arg:"" help:"Round, as in cup_final."`
	Act      string        `arg:"" help:"propose, confirm or lift." enum:"propose,confirm,lift"`
	ID       string        `arg:"" help:"Team of a proposal; else the disqualification's id."`
	Rule     string        `help:"With propose: number of the rule." placeholder:"N"`
	Public   string        `help:"With propose: what the team is told." placeholder:"TEXT"`
	Evidence string        `help:"With propose: for staff alone." placeholder:"TEXT"`
	Appeal   time.Duration `help:"With propose: how long an appeal is possible." default:"24h" placeholder:"DURATION"`
	Why      string        `help:"With lift: why." placeholder:"TEXT"`
	JSON     bool          `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalDisqualifyCmd) Help() string {
	return `A disqualification is proposed by one member of staff and in force when another one
confirms it; the team is told at that instant, with the end of the time for an appeal.
It can be lifted.

Examples:
  iikanji portal judge disqualify cup_final propose TEAM --rule 5.2 --public "load from other machines" --evidence "log of 15:02"

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalDisqualifyCmd) Run(ctx context.Context, e *env) error {
	d := api.Disqualify{Act: c.Act, ID: c.ID, Rule: c.Rule, Public: c.Public, Evidence: c.Evidence, Appeal: c.Appeal, Why: c.Why}
	if c.Act == "propose" {
		d.Team, d.ID = c.ID, ""
	}
	var done api.Disqualified
	if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/disqualify", d, &done); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, done)
	}
	state := "waits for another member of staff"
	switch {
	case done.InForce:
		state = "is in force"
	case !done.Lifted.IsZero():
		state = "is lifted"
	}
	out := &output{w: e.Stdout}
	out.line("disqualification %s of %s %s", done.ID, report.Clean(done.Team), state)
	return out.err
}

type portalJudgePublishCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	JSON  bool   `help:"Print the round as one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalJudgePublishCmd) Help() string {
	return `Makes the results of the final judging provisional: the board of staff ranks by the
verdicts. Each team of the plan needs one.

Examples:
  iikanji portal judge publish cup_final

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalJudgePublishCmd) Run(ctx context.Context, e *env) error {
	var r api.Round
	if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/state", map[string]any{"to": contest.Provisional}, &r); err != nil {
		return err
	}
	return printRound(e, &r, c.JSON)
}

// printRound writes the state of a round.
func printRound(e *env, r *api.Round, asJSON bool) error {
	if asJSON {
		return writeJSON(e.Stdout, r)
	}
	out := &output{w: e.Stdout}
	out.line("%s", report.Clean(r.ID+" is "+string(r.State)))
	return out.err
}

type portalJudgeRevealCmd struct {
	Round  string `arg:"" help:"Round, as in cup_final."`
	Reason string `help:"Why now; it is in the audit log." default:"the ceremony" placeholder:"TEXT"`
	JSON   bool   `help:"Print the round as one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalJudgeRevealCmd) Help() string {
	return `Shows the final results to all, and ends the freeze of the board.

Examples:
  iikanji portal judge reveal cup_final

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalJudgeRevealCmd) Run(ctx context.Context, e *env) error {
	var r api.Round
	if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/reveal", contest.Act{Reason: c.Reason}, &r); err != nil {
		return err
	}
	return printRound(e, &r, c.JSON)
}
