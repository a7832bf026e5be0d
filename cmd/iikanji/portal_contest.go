package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalContestCmd struct {
	Check  portalContestCheckCmd  `cmd:"" help:"Check a contest file and show its calendar."`
	Diff   portalContestDiffCmd   `cmd:"" help:"Show what a second contest file changes."`
	New    portalContestNewCmd    `cmd:"" help:"Keep a contest in a portal."`
	Reopen portalContestReopenCmd `cmd:"" help:"Make a contest of practice of a round that is over."`
}

// Help returns the long help of the command.
func (portalContestCmd) Help() string { return portalContestCheckCmd{}.Help() }

type portalContestCheckCmd struct {
	File string `arg:"" help:"Contest file." type:"path"`
	JSON bool   `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (portalContestCheckCmd) Help() string {
	return `Reads a contest file, reports each mistake with its line, and shows what happens
when, in the contest's zone.

Examples:
  iikanji portal contest check cup.toml
  iikanji portal contest check cup.toml --json

Exit status: 0 no mistake, 1 failed to run or mistakes, 2 usage.`
}

// readContest reads a contest file.
func readContest(path string) (*contest.Contest, []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the contest: %w", err)
	}
	parsed, err := contest.Parse(path, text)
	return parsed, text, err
}

// checkShards refuses a problem whose load cannot be divided as it says: each of its runs would
// fail. What this program does not know is a matter of the workers.
func checkShards(c *contest.Contest) error {
	for i := range c.Problems {
		p := &c.Problems[i]
		a, known := arena.Find(p.Arena)
		switch {
		case !known || p.Shards < 2 || p.Shards <= a.Shards:
		case a.Shards == 0:
			return fmt.Errorf("problem %s: shards: the load of %s cannot be divided among several generators", p.ID, p.Arena)
		default:
			return fmt.Errorf("problem %s: shards: the load of %s can be divided among %d generators at most, not %d", p.ID, p.Arena, a.Shards, p.Shards)
		}
	}
	return nil
}

// Run runs the command.
func (c *portalContestCheckCmd) Run(_ context.Context, e *env) error {
	parsed, _, err := readContest(c.File)
	if err == nil {
		err = checkShards(parsed)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]any{"contest": parsed.ID, "zone": parsed.Zone, "calendar": parsed.Calendar()})
	}
	zone, err := time.LoadLocation(parsed.Zone)
	if err != nil {
		return fmt.Errorf("the contest's zone: %w", err)
	}
	out := &output{w: e.Stdout}
	out.line("%s: %s, no mistake. Times are of %s.", parsed.ID, report.Number(len(parsed.Rounds), "round"), parsed.Zone)
	for _, entry := range parsed.Calendar() {
		out.line("  %s  %-12s %s", entry.At.In(zone).Format("2006-01-02 15:04"), entry.Round, entry.What)
	}
	return out.err
}

type portalContestDiffCmd struct {
	From string `arg:"" help:"Contest file." type:"path"`
	To   string `arg:"" help:"The second one." type:"path"`
	JSON bool   `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (portalContestDiffCmd) Help() string {
	return `Shows the keys whose values differ in two contest files.

Examples:
  iikanji portal contest diff cup.toml cup2.toml

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalContestDiffCmd) Run(_ context.Context, e *env) error {
	_, from, err := readContest(c.From)
	if err != nil {
		return err
	}
	_, to, err := readContest(c.To)
	if err != nil {
		return err
	}
	differences, err := contest.Compare(from, to)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, differences)
	}
	out := &output{w: e.Stdout}
	if len(differences) == 0 {
		out.line("no difference")
	}
	for _, d := range differences {
		out.line("%s: %s → %s", d.Key, orNone(d.From), orNone(d.To))
	}
	return out.err
}

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}

type portalContestNewCmd struct {
	File string `arg:"" help:"Contest file." type:"path"`
	JSON bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalContestNewCmd) Help() string {
	return `Keeps a contest in a portal's database. The portal may run at the same time.

Examples:
  iikanji portal contest new cup.toml

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalContestNewCmd) Run(ctx context.Context, e *env) (err error) {
	_, text, err := readContest(c.File)
	if err != nil {
		return err
	}
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	parsed, err := core.AddContest(ctx, text, c.File)
	if err != nil {
		return err
	}
	var rounds []string
	for _, r := range parsed.Rounds {
		rounds = append(rounds, lead.RoundID(parsed.ID, r.ID))
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]any{"contest": parsed.ID, "rounds": rounds})
	}
	out := &output{w: e.Stdout}
	out.line("kept the contest %s; its rounds are %v", parsed.ID, rounds)
	return out.err
}

type portalTeamCmd struct {
	Name     string `arg:"" help:"Name of the team."`
	Contest  string `help:"Contest of the team." required:"" placeholder:"ID"`
	URL      string `name:"url" help:"Address of the team's host, as in http://10.20.0.3:80." placeholder:"URL"`
	Division string `help:"Division of the team." default:"general" placeholder:"ID"`
	JSON     bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalTeamCmd) Help() string {
	return `Makes a team with one account, prints the account's login (a link that works once; only
its last part where the portal was never up) and its token for commands. The host counts as proven: whoever runs this command
vouches for it.

Examples:
  iikanji portal team "team one" --contest cup --url http://127.0.0.1:8080

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalTeamCmd) Run(ctx context.Context, e *env) (err error) {
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	t, err := core.NewTeam(ctx, lead.NewTeam{Contest: c.Contest, Name: c.Name, Division: c.Division}, c.URL)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, t)
	}
	out := &output{w: e.Stdout}
	out.line("team   %s\nlogin  %s\ntoken  %s", t.Team, c.link("/login?token="+t.Login), t.Token)
	return out.err
}
