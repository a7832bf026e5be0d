package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/final"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalJudgeCmd struct {
	Plan       portalJudgePlanCmd    `cmd:"" help:"Choose who takes part in the final judging, and show its plan."`
	Run        portalJudgeRunCmd     `cmd:"" help:"Make the final judging: reboots, checks, runs, verdicts."`
	Show       portalJudgeShowCmd    `cmd:"" help:"Show steps, runs and verdicts so far."`
	Repeat     portalJudgeRepeatCmd  `cmd:"" help:"Take a step of a team back, so that it is made again."`
	Rejudge    portalJudgeRejudgeCmd `cmd:"" help:"Change what some results count; shows the ranks that move first."`
	Disqualify portalDisqualifyCmd   `cmd:"" help:"Propose, confirm or lift a disqualification."`
	Publish    portalJudgePublishCmd `cmd:"" help:"Make the results provisional: staff sees the final board."`
	Reveal     portalJudgeRevealCmd  `cmd:"" help:"Show the final results to all."`
}

// Help returns the long help of the command.
func (portalJudgeCmd) Help() string { return portalJudgeRunCmd{}.Help() }

// A judgeCaller is the portal of the driver.
type judgeCaller struct {
	*portalCaller
	round string
}

func (c judgeCaller) path(rest string) string {
	return "/rounds/" + url.PathEscape(c.round) + rest
}

func (c judgeCaller) Final(ctx context.Context) (f *api.FinalState, err error) {
	f = &api.FinalState{}
	return f, c.call(ctx, http.MethodGet, c.path("/final"), nil, f)
}

func (c judgeCaller) Step(ctx context.Context, s api.FinalStep) error {
	return c.call(ctx, http.MethodPost, c.path("/final/steps"), s, &struct{}{})
}

func (c judgeCaller) Run(ctx context.Context, team string, block int) (*api.Job, error) {
	j := &api.Job{}
	return j, c.call(ctx, http.MethodPost, c.path("/final/runs"), api.FinalPlanned{Team: team, Block: block}, j)
}

func (c judgeCaller) Hosts(ctx context.Context) (hosts []api.Host, err error) {
	return hosts, c.call(ctx, http.MethodGet, c.path("/hosts"), nil, &hosts)
}

func (c judgeCaller) Decide(ctx context.Context) (*api.FinalState, error) {
	f := &api.FinalState{}
	return f, c.call(ctx, http.MethodPost, c.path("/final/decide"), nil, f)
}

// printFinal prints the final judging.
func printFinal(e *env, f *api.FinalState, asJSON bool) error {
	if asJSON {
		return writeJSON(e.Stdout, f)
	}
	out := &output{w: e.Stdout}
	out.line("%s is %s. %s. %d teams, %d runs on %d workers, about %s.", report.Clean(f.Round), f.State, f.Rule, len(f.Teams), len(f.Plan), len(f.Workers), report.Duration(f.Takes))
	for _, t := range f.Teams {
		verdict := "open"
		switch {
		case t.Verdict.Passed:
			verdict = fmt.Sprintf("passed %.0f", t.Verdict.Score)
		case !t.Verdict.Open:
			verdict = "failed: " + t.Verdict.Reason
		}
		out.line("%s", report.Clean(fmt.Sprintf("  %s (%s)  %s", t.Name, t.Team, verdict)))
		for _, s := range t.Steps {
			passed := "passed"
			if !s.Passed {
				passed = "FAILED"
			}
			out.line("%s", report.Clean(fmt.Sprintf("    %-12s %s  %s", s.Name, passed, s.Evidence)))
		}
		for _, r := range t.Runs {
			out.line("%s", report.Clean(fmt.Sprintf("    run of block %d  %s %s %.0f  on %s  %s", r.Block+1, r.State, r.Outcome, r.Score, r.Worker, r.Text)))
		}
	}
	printMoves(out, f.Moves)
	return out.err
}

func printMoves(out *output, moves []api.Move) {
	for _, m := range moves {
		out.line("%s", report.Clean(fmt.Sprintf("  moves: %s from rank %d (%.0f) to %d (%.0f)", m.Team, m.From, m.Was, m.To, m.Is)))
	}
}

type portalJudgePlanCmd struct {
	Round  string `arg:"" help:"Round, as in cup_final."`
	Top    int    `help:"How many teams of the board take part (0: all)." default:"0" placeholder:"N"`
	Prizes bool   `help:"Also those that hold a prize."`
	Keep   bool   `help:"Keep the plan; without it nothing changes."`
	JSON   bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalJudgePlanCmd) Help() string {
	return `Shows who takes part in the final judging, the order of the runs and how long it takes.
Runs go in blocks: each has all teams once in random order, and a team's runs are on
different workers, so that a slow hour or a slow worker hits all alike.

Examples:
  iikanji portal judge plan cup_final --top 30 --prizes

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// Run runs the command.
func (c *portalJudgePlanCmd) Run(ctx context.Context, e *env) error {
	f := &api.FinalState{}
	if err := c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/final/plan", api.PlanFinal{Top: c.Top, Prizes: c.Prizes, Apply: c.Keep}, f); err != nil {
		return err
	}
	return printFinal(e, f, c.JSON)
}

type portalJudgeShowCmd struct {
	Round string `arg:"" help:"Round, as in cup_final."`
	JSON  bool   `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalJudgeShowCmd) Help() string {
	return `Shows the final judging so far: steps with their evidence, runs, verdicts by the rule,
and the ranks that these verdicts would move.

Examples:
  iikanji portal judge show cup_final

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalJudgeShowCmd) Run(ctx context.Context, e *env) error {
	f, err := judgeCaller{&c.portalCaller, c.Round}.Final(ctx)
	if err != nil {
		return err
	}
	return printFinal(e, f, c.JSON)
}

type portalJudgeRunCmd struct {
	Round   string        `arg:"" help:"Round, as in cup_final."`
	Hook    []string      `name:"reboot" help:"Program that reboots the machine in IIKANJI_TARGET; repeat it for each argument." sep:"none" placeholder:"WORD"`
	User    string        `name:"ssh-user" help:"User who may reboot the machines through SSH." placeholder:"NAME"`
	Key     string        `name:"ssh-key" help:"Private key of that user." type:"path" placeholder:"FILE"`
	Port    int           `name:"ssh-port" help:"Port of SSH." default:"22" placeholder:"PORT"`
	Command string        `name:"ssh-command" help:"What reboots a machine." default:"sudo -n systemctl reboot" placeholder:"COMMAND"`
	Persist []string      `help:"Program that reads what the runs wrote, and compares it after one more reboot; repeat it for each argument." sep:"none" placeholder:"WORD"`
	Poll    time.Duration `help:"Time between two looks at the portal." default:"2s" placeholder:"DURATION"`
	JSON    bool          `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalJudgeRunCmd) Help() string {
	return `Makes the final judging of a round that has ended: for each team hands off, check of
the machines, reboot (their boot id must change within back_in; one second try), check
again, the runs in blocks, one more reboot with a comparison of what the runs wrote, and
the verdict by the rule. Each step is kept with its evidence; a command that was stopped
goes on when it is started again. Void runs are repeated.

A machine is rebooted by --reboot or through SSH; its host key has to be the one it had
when it joined. The program of --persist gets IIKANJI_TARGETS and IIKANJI_PHASE: its
output before the reboot is its input after it, when its status says whether all is there.

Examples:
  iikanji portal judge plan cup_final --keep
  iikanji portal judge run cup_final --reboot ./reboot.sh
  iikanji portal judge show cup_final

Exit status: 0 done, 1 failed to run or refused, 2 usage.`
}

// rebooter is how machines are rebooted.
func (c *portalJudgeRunCmd) rebooter() (func(context.Context, api.Host) error, error) {
	switch {
	case len(c.Hook) > 0 && c.User == "":
		return final.RebootBy(c.Hook), nil
	case len(c.Hook) == 0 && c.User != "" && c.Key != "":
		text, err := os.ReadFile(c.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the key: %w", err)
		}
		key, err := ssh.ParsePrivateKey(text)
		if err != nil {
			return nil, fmt.Errorf("reading the key %s: %w", c.Key, err)
		}
		return final.RebootBySSH(c.User, key, c.Port, c.Command), nil
	}
	return nil, usageError("say how machines are rebooted: --reboot PROGRAM, or --ssh-user and --ssh-key")
}

// Run runs the command.
func (c *portalJudgeRunCmd) Run(ctx context.Context, e *env) error {
	portal := judgeCaller{&c.portalCaller, c.Round}
	f, err := portal.Final(ctx)
	if err != nil {
		return err
	}
	d := &final.Driver{Portal: portal, Poll: max(c.Poll, 10*time.Millisecond), Log: slog.New(slog.NewTextHandler(e.Stderr, nil)), Now: e.Now}
	if f.Final.Reboot {
		if d.Reboot, err = c.rebooter(); err != nil {
			return err
		}
	}
	if len(c.Persist) > 0 {
		d.Persist = final.PersistBy(c.Persist)
	}
	if f.State == contest.Ended {
		if err := c.move(ctx, contest.Judging); err != nil {
			return err
		}
	}
	if f, err = d.Run(ctx); err != nil {
		return err
	}
	return printFinal(e, f, c.JSON)
}

// move changes the round's state.
func (c *portalJudgeRunCmd) move(ctx context.Context, to contest.State) error {
	return c.call(ctx, http.MethodPost, "/rounds/"+url.PathEscape(c.Round)+"/state", map[string]any{"to": to}, &api.Round{})
}
