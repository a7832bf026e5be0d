package main

import (
	"context"
	"errors"

	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

type portalContestReopenCmd struct {
	Contest string `arg:"" help:"Past contest."`
	Round   string `arg:"" help:"Round of it, as in final."`
	As      string `help:"Id of the new contest (default: CONTEST-practice)." placeholder:"ID"`
	Members int    `help:"Most members of a team that people make themselves; 0: staff makes teams." default:"1" placeholder:"N"`
	Ghosts  int    `help:"How many of the best teams become ghosts." default:"0" placeholder:"N"`
	Public  bool   `help:"Everyone sees the ghosts: their teams agreed. Without it staff alone does."`
	JSON    bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalContestReopenCmd) Help() string {
	return `Makes a contest of practice of a round that is over: the same problem, hints, budgets
and targets, without an end, a freeze, a final judging and prizes, ranked by the best run.
The past contest stays as it is. A round whose results are not final, or whose board is
frozen, is refused.

Examples:
  iikanji portal contest reopen cup final
  iikanji portal contest reopen cup final --as cup-2 --members 3 --ghosts 3 --public

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalContestReopenCmd) Run(ctx context.Context, e *env) (err error) {
	if c.As == "" {
		c.As = c.Contest + "-practice"
	}
	if !contest.ValidID(c.As) {
		return usageError("--as %q: want up to 32 of a-z, 0-9 and -", c.As)
	}
	if c.Members < 0 || c.Members > 100 || c.Ghosts < 0 || c.Ghosts > 20 {
		return usageError("want --members 0 to 100 and --ghosts 0 to 20")
	}
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	made, err := core.Reopen(ctx, "", lead.Reopen{Reopening: contest.Reopening{ID: c.As, Round: c.Round, Members: c.Members}, Contest: c.Contest, Ghosts: c.Ghosts, Public: c.Public})
	if err != nil {
		return err
	}
	round := lead.RoundID(made.ID, c.Round)
	if c.JSON {
		return writeJSON(e.Stdout, map[string]any{"contest": made.ID, "rounds": []string{round}})
	}
	out := &output{w: e.Stdout}
	out.line("kept the contest %s; its round %s is open", made.ID, round)
	if c.Members > 0 {
		out.line("people sign up at /contests/%s/join", made.ID)
	} else {
		out.line("make teams with iikanji portal team NAME --contest %s", made.ID)
	}
	return out.err
}
