package main

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

type portalClockCmd struct {
	Round  string        `arg:"" help:"Round, as in cup_final."`
	Act    string        `arg:"" help:"shift (before the start), pause, resume, extend, or extra (time for one team)." enum:"shift,pause,resume,extend,extra"`
	By     time.Duration `help:"With shift, extend and extra: by how much; --by=-10m makes it earlier." placeholder:"TIME"`
	Team   string        `help:"With extra: the team." placeholder:"ID"`
	Reason string        `help:"Why; everyone sees it." required:"" placeholder:"TEXT"`
	JSON   bool          `help:"Print the round as one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalClockCmd) Help() string {
	return `Changes the time table of a round, and tells everyone why. No act changes a time that is
past; a pause moves what is later.

Examples:
  iikanji portal clock cup_final pause --reason "the network is down"
  iikanji portal clock cup_final resume --reason "the network is back"
  iikanji portal clock cup_final extend --by 30m --reason "the network was down"
  iikanji portal clock cup_final extra --team TEAM --by 10m --reason "their machine was restarted"

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalClockCmd) Run(ctx context.Context, e *env) error {
	moves := c.Act == "shift" || c.Act == "extend" || c.Act == "extra"
	if moves != (c.By != 0) || (c.Act == "extra") != (c.Team != "") {
		return usageError("shift, extend and extra want --by, extra also --team; the others neither")
	}
	var r api.Round
	act := contest.Act{Kind: contest.ActKind(c.Act), By: c.By, Team: c.Team, Reason: c.Reason}
	if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/clock", act, &r); err != nil {
		return err
	}
	if err := printRound(e, &r, c.JSON); err != nil || c.JSON {
		return err
	}
	out := &output{w: e.Stdout}
	if end := r.Clock.End; !end.IsZero() {
		out.line("it ends at %s", end.Format(time.RFC3339))
	}
	return out.err
}

type portalStateCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	To    string `arg:"" help:"draft, registration, ready, running, ended, judging, provisional, final or archived." enum:"draft,registration,ready,running,ended,judging,provisional,final,archived"`
	JSON  bool   `help:"Print the round as one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalStateCmd) Help() string {
	return `Moves a round to another state: a draft, which only staff sees, to registration or ready; a
round that is ready starts and ends by its clock. Other moves are of the final judging.

Examples:
  iikanji portal state cup_final ready

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalStateCmd) Run(ctx context.Context, e *env) error {
	var r api.Round
	if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/state", map[string]string{"to": c.To}, &r); err != nil {
		return err
	}
	return printRound(e, &r, c.JSON)
}
