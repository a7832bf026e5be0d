package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/portalbench"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/target"
)

type scoreCmd struct {
	Score string `arg:"" optional:"" help:"The score that the portal shows, as in 44034 or 44,034."`

	Fail  string `help:"The run failed; with the portal's reason." placeholder:"TEXT"`
	Paste bool   `help:"Read the portal's messages from standard input, and the score if it is not given."`
	Of    int    `name:"run" help:"Run that the score is of (default: the one that waits for its score)." placeholder:"N"`
	JSON  bool   `help:"Print the run as one JSON document."`
	turnFlags
}

// Help returns the long help of the command.
func (scoreCmd) Help() string {
	return `Gives the score of a run that a person started in a portal, at once or hours
later. Given again with --run it corrects the score; both stay in the history. A
bench that waits for the score takes it.

Examples:
  iikanji score 44034
  iikanji score 45,034 --run 15
  iikanji score --fail "critical error: GET /api/trend timed out" --run 15
  iikanji score --paste --run 15 < messages.txt

Exit status: 0 given, 1 failed to run (also: no run waits for a score), 2 usage.`
}

// maxPaste is how much of standard input is read, in bytes.
const maxPaste = 1 << 20

// Run runs the command.
func (c *scoreCmd) Run(ctx context.Context, e *env) error {
	t, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	if t.file == nil {
		return usageError("scores are given to sites with an iikanji.toml: an arena's benchmarker writes its own")
	}
	g := portalbench.Given{At: e.Now(), Who: e.who(ctx, t), By: "command"}
	if err := c.read(e, &t.file.Bench, &g); err != nil {
		return err
	}
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	id, err := c.chosen(hist)
	if err != nil {
		return err
	}
	if err := portalbench.Give(hist, id, g); err != nil {
		return err
	}
	return c.settle(ctx, e, t, dir, hist, id)
}

// read fills in what was given.
func (c *scoreCmd) read(e *env, b *target.Bench, g *portalbench.Given) error {
	scored := c.Score != ""
	if scored {
		var ok bool
		if g.Score, ok = portalbench.ParseScore(c.Score); !ok {
			return usageError("%q is not a score, as in 44034", c.Score)
		}
	}
	if scored && c.Fail != "" {
		return usageError("a run has a score or a failure, not both")
	}
	g.Fail = strings.TrimSpace(c.Fail)
	if c.Paste {
		text, err := io.ReadAll(io.LimitReader(e.Stdin, maxPaste))
		if err != nil {
			return fmt.Errorf("reading the messages: %w", err)
		}
		found, has, messages := portalbench.Paste(b, string(text))
		g.Messages = messages
		if g.Said, err = loader.Messages(b, string(text)); err != nil {
			return err
		}
		if !scored && g.Fail == "" && has {
			g.Score, scored = found, true
		}
	}
	switch {
	case !scored && g.Fail == "" && c.Paste:
		return usageError("the text has no score: give it beside --paste")
	case !scored && g.Fail == "":
		return usageError("want a score, --fail TEXT or --paste")
	}
	return nil
}

// chosen is the run that the score is of.
func (c *scoreCmd) chosen(hist string) (iikanji.RunID, error) {
	h, err := history.View(hist)
	if err != nil {
		return 0, err
	}
	if c.Of != 0 {
		run, err := h.LoadRun(iikanji.RunID(c.Of))
		if errors.Is(err, fs.ErrNotExist) {
			return 0, hinted(fmt.Errorf("there is no run %d", c.Of), "iikanji history --runs lists them")
		}
		if err != nil {
			return 0, err
		}
		if !portalbench.ByPortal(run) {
			return 0, fmt.Errorf("run %d has the score of its benchmarker: a person cannot give it", c.Of)
		}
		return run.ID, nil
	}
	waiting, err := portalbench.Waiting(h)
	if err != nil {
		return 0, err
	}
	switch len(waiting) {
	case 0:
		return 0, hinted(errors.New("no run waits for its score"), "--run N corrects that of run N", "iikanji work watch keeps loads that no command announced")
	case 1:
		return waiting[0].ID, nil
	}
	var names []string
	for _, r := range waiting {
		names = append(names, fmt.Sprintf("run %d (%s)", r.ID, r.Began.Local().Format("15:04:05")))
	}
	return 0, hinted(fmt.Errorf("%s wait for their scores: which one is it of?", strings.Join(names, " and ")), "--run N tells which one")
}

// settle writes the score into its run, unless a command works that will do so.
func (c *scoreCmd) settle(ctx context.Context, e *env, t *namedTarget, dir, hist string, id iikanji.RunID) error {
	h, err := openHistory(ctx, e, t, dir, hist, acting{})
	var busy *turn.BusyError
	switch {
	case errors.As(err, &busy):
		_, err = fmt.Fprintf(e.Stdout, "given to run %d; %s takes it\n", id, report.Clean(busy.State.Work.What))
		return err
	case err != nil: // the score is kept beside the run
		_, err = fmt.Fprintf(e.Stdout, "given to run %d; the next command takes it: %s\n", id, report.Clean(err.Error()))
		return err
	}
	defer h.Close()
	if _, err := portalbench.Settle(h); err != nil {
		return err
	}
	run, err := h.LoadRun(id)
	if err != nil {
		return err
	}
	e.tell(ctx, t, runNotice(run, e.who(ctx, t)))
	if c.JSON {
		return writeJSON(e.Stdout, run)
	}
	out := &output{w: e.Stdout}
	out.line("run %d: %s", id, report.Clean(settledText(run)))
	for _, said := range saidOf(run, t.placed(dir).Target(), nil) {
		out.wrapped(report.Clean(said), e.Cols)
	}
	return out.err
}

// scoreText is a score with thousands separators.
func scoreText(score float64) string {
	text := strconv.FormatFloat(score, 'f', -1, 64)
	whole, rest, _ := strings.Cut(text, ".")
	if rest != "" || len(whole) <= 3 || !unicode.IsDigit(rune(whole[0])) {
		return text
	}
	return report.Count(int64(score))
}
