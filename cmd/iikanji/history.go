package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/export"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

type historyCmd struct {
	List   historyListCmd   `cmd:"" default:"withargs" help:"List the changes with their evidence, or the runs."`
	Show   historyShowCmd   `cmd:"" help:"Show one run with everything that was saved of it."`
	Diff   historyDiffCmd   `cmd:"" help:"Compare two runs: score, routes, statements, host, configuration."`
	Note   historyNoteCmd   `cmd:"" help:"Add a note to a run."`
	Replay historyReplayCmd `cmd:"" help:"Bring the site into the state that it had in a run."`
	Commit historyCommitCmd `cmd:"" help:"Commit the history with git."`
}

type historyListCmd struct {
	Target string `arg:"" help:"Target whose history to show, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	ID     int    `arg:"" optional:"" help:"Show this change: its diff, its verdict, its runs and its stages."`

	Runs   bool          `help:"Show the runs instead of the changes."`
	Search bool          `help:"Show the result of the latest search, as tune prints it at its end."`
	Format report.Format `help:"table, tsv, csv, markdown or json." enum:"table,tsv,csv,markdown,json" default:"table"`
	JSON   bool          `help:"The same as --format json."`

	Literals bool `help:"Show literals of statements, and what may be a secret; by default they are redacted."`
	placeFlags
}

// Help returns the long help of the command.
func (historyCmd) Help() string {
	return `Reads the history of a target: what was measured and what was changed. Without
show, diff, note, replay or commit it lists the changes, as iikanji history list.

Examples:
  iikanji history isucondition
  iikanji history isucondition 3
  iikanji history show isucondition 7
  iikanji history diff isucondition 7 3

Exit status: 0 done, 1 failed to run (also: there is no history), 2 usage.`
}

// Help returns the long help of the command.
func (historyListCmd) Help() string {
	return `Lists every change that was planned, with iikanji apply or iikanji tune: what it
does, its stage, its effect on the score with the interval, the verdict and the
reason. With a number, it shows all of that change. The command starts nothing,
and another iikanji may be using the same history.

The effect is on the score, in percent, with its repeated confidence interval;
"-" if no interleaved runs were compared.

Examples:
  iikanji history isucondition
  iikanji history isucondition 3
  iikanji history isucondition --runs --format markdown
  iikanji history isucondition --search

Exit status: 0 done, 1 failed to run (also: there is no history), 2 usage.`
}

// Run runs the command.
func (c *historyListCmd) Run(_ context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if c.JSON {
		c.Format = report.JSON
	}
	if c.ID < 0 || c.ID > 0 && c.Runs {
		return usageError("want a change's number, or --runs, or neither")
	}
	if c.Search && (c.ID > 0 || c.Runs || c.Format != report.Text && c.Format != report.JSON) {
		return usageError("--search is shown as text or as --json, without --runs and without a number")
	}
	if c.ID > 0 && c.Format != report.Text && c.Format != report.JSON {
		return usageError("one change is shown as text or as --json")
	}
	_, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	h, err := history.View(hist)
	if err != nil {
		return err
	}
	defer h.Close()
	for _, w := range h.Warnings() {
		fmt.Fprintln(e.Stderr, "warning:", report.Clean(w))
	}
	switch {
	case c.Search:
		return c.search(e, a, h)
	case c.Runs:
		return c.runs(e, h)
	case c.ID > 0:
		return c.one(e, h)
	}
	return c.changes(e, h)
}

// A changeRecord is a change with its verdict and its stages.
type changeRecord struct {
	*iikanji.Change
	Verdict *iikanji.Verdict `json:"verdict,omitempty"`
	Diff    string           `json:"diff,omitempty"`
	Reason  string           `json:"reason,omitempty"` // for its stage or its verdict
	Moves   []stageEntry     `json:"moves,omitempty"`
}

// A stageEntry is a stage that a change reached.
type stageEntry struct {
	At    time.Time     `json:"at"`
	Stage iikanji.Stage `json:"stage"`
	Why   string        `json:"why,omitempty"`
}

// recordOf reads the verdict and the stages of a change.
func recordOf(h *history.History, c *iikanji.Change) (*changeRecord, error) {
	p := &changeRecord{Change: c}
	var err error
	if p.Verdict, err = h.LoadVerdict(c.ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range h.Events() {
		switch {
		case e.Change != c.ID:
		case e.What == history.ChangeMade:
			p.Moves = append(p.Moves, stageEntry{e.At, iikanji.Planned, ""})
		case e.What == history.Staged:
			p.Moves = append(p.Moves, stageEntry{e.At, e.Stage, e.Text})
			p.Reason = cmp.Or(e.Text, p.Reason)
		}
	}
	if p.Verdict != nil && p.Verdict.Why != "" && c.Stage != iikanji.Stuck { // the reason why it is stuck is more important
		p.Reason = p.Verdict.Why
	}
	return p, nil
}

// changes lists all changes.
func (c *historyListCmd) changes(e *env, h *history.History) error {
	all, err := h.Changes()
	if err != nil {
		return err
	}
	records := make([]*changeRecord, len(all))
	for i, x := range all {
		if records[i], err = c.record(h, x); err != nil {
			return err
		}
	}
	if c.Format == report.JSON {
		return writeJSON(e.Stdout, struct {
			Changes []*changeRecord `json:"changes"`
		}{records})
	}
	if len(records) == 0 && c.Format == report.Text {
		_, err := fmt.Fprintf(e.Stdout, "no change has been planned in %s\n", h.Dir())
		return err
	}
	if c.Format == report.Text {
		return c.lines(e, records)
	}
	t := report.Table{Columns: []report.Column{{Name: "id"}, {Name: "kind", Left: true}, {Name: "stage", Left: true}, {Name: "effect", Left: true},
		{Name: "verdict", Left: true}, {Name: "rule", Left: true}, {Name: "says", Left: true}, {Name: "reason", Left: true}}}
	for _, p := range records {
		t.Rows = append(t.Rows, append(p.cells(), p.Says, p.Reason))
	}
	return t.Write(e.Stdout, c.Format, e.Cols)
}

// record reads the record of a change, redacted.
func (c *historyListCmd) record(h *history.History, x *iikanji.Change) (*changeRecord, error) {
	p, err := recordOf(h, x)
	if err == nil {
		c.redact(p)
	}
	return p, err
}

// redact removes secrets and literals from a record. --literals keeps them.
func (c *historyListCmd) redact(p *changeRecord) {
	if !c.Literals {
		redact.Document(p)
	}
}

// cells returns the cells of the change's first columns.
func (p *changeRecord) cells() []string {
	cells := []string{strconv.Itoa(int(p.ID)), p.Kind, p.Stage.String(), export.Effect(p.Verdict), "-", "-"}
	if v := p.Verdict; v != nil {
		cells[4], cells[5] = v.Call.String(), v.Reason.String()
	}
	return cells
}

// lines writes a row for each change and, on lines below it, what it does and the
// reason for its stage: 80 columns are too few for both in the row.
func (c *historyListCmd) lines(e *env, records []*changeRecord) error {
	t := report.Table{Columns: []report.Column{{Name: "id"}, {Name: "kind", Left: true}, {Name: "stage", Left: true},
		{Name: "effect", Left: true}, {Name: "verdict", Left: true}, {Name: "rule", Left: true}}}
	for _, p := range records {
		t.Rows = append(t.Rows, p.cells())
	}
	var rows strings.Builder
	if err := t.Write(&rows, report.Text, e.Cols); err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	for i, row := range strings.Split(strings.TrimSuffix(rows.String(), "\n"), "\n") {
		out.line("%s", row)
		if i == 0 {
			continue
		}
		p, wide := records[i-1], max(e.Cols, 40)-6
		out.line("    %s", report.Shorten(report.Clean(p.Says), wide))
		if p.Reason != "" {
			out.line("    (%s)", report.Shorten(report.Clean(p.Reason), wide-2))
		}
	}
	return out.err
}

// one shows all of one change.
func (c *historyListCmd) one(e *env, h *history.History) error {
	x, err := h.LoadChange(iikanji.ChangeID(c.ID))
	if err != nil {
		return err
	}
	p, err := recordOf(h, x)
	if err != nil {
		return err
	}
	if p.Diff, err = h.Diff(x.ID); err != nil {
		p.Diff = change.Diff(x) // built from the same data
	}
	c.redact(p)
	if c.Format == report.JSON {
		return writeJSON(e.Stdout, p)
	}
	out := &output{w: e.Stdout, color: e.Color}
	out.line("change %d: %s", p.ID, report.Clean(p.Says))
	about := fmt.Sprintf("  %s on %s, %s; risk: %s", p.Kind, report.Clean(p.Target), p.Stage, riskSays[p.Risk])
	if p.Answers != "" {
		about += "; for finding " + report.Clean(string(p.Answers))
	}
	if len(p.Weakens) > 0 {
		about += "; weakens: " + inWords(p.Weakens)
	}
	out.line("%s\n", about)
	out.diff(p.Diff)
	if p.Verdict != nil {
		if err := p.writeVerdict(out, h); err != nil {
			return err
		}
	}
	out.line("\nwhat happened:")
	for _, m := range p.Moves {
		out.line("%s", strings.TrimRight(fmt.Sprintf("  %s  %-9s  %s", m.At.Local().Format(time.DateTime), m.Stage, report.Clean(m.Why)), " "))
	}
	return out.err
}

// writeVerdict writes the evidence: the verdict and each pair of runs.
func (p *changeRecord) writeVerdict(out *output, h *history.History) error {
	v := p.Verdict
	out.line("\nverdict: %s (%s), effect on the score %s", v.Call, v.Reason, export.Effect(v))
	if v.Why != "" {
		out.line("  %s", report.Clean(v.Why))
	}
	for _, w := range v.Work {
		out.line("  %s per request %s", report.Clean(w.Name), export.Percent(w.Effect))
	}
	for _, f := range v.NewFaults {
		out.line("  new fault, %d×: %s", f.Count, report.Clean(f.Message))
	}
	for _, w := range v.Warnings {
		out.line("  doubt: %s", report.Clean(w))
	}
	if len(v.Base) == 0 {
		return out.err
	}
	scores, err := scoresOf(h)
	if err != nil {
		return err
	}
	out.line("  pairs of runs, without and with it:")
	for i, base := range v.Base {
		line := fmt.Sprintf("    run %d %s", base, scores[base])
		if i < len(v.Tried) {
			line += fmt.Sprintf("   run %d %s", v.Tried[i], scores[v.Tried[i]])
		}
		out.line("%s", line)
	}
	return out.err
}

// scoresOf returns the scores of all runs, as text.
func scoresOf(h *history.History) (map[iikanji.RunID]string, error) {
	list, err := h.RunList()
	if err != nil {
		return nil, err
	}
	scores := map[iikanji.RunID]string{}
	for _, r := range list {
		scores[r.ID] = scoreOf(r)
	}
	return scores, nil
}

// scoreOf returns a run's score, or the reason why it has no valid one.
func scoreOf(r history.RunEntry) string {
	switch {
	case !r.Saved:
		return "not saved"
	case r.Outcome == iikanji.Passed:
		return report.Count(int64(r.Score))
	}
	return r.Outcome.String()
}

// runs lists all runs, each with the changes whose evidence it is part of.
func (c *historyListCmd) runs(e *env, h *history.History) error {
	list, err := h.RunList()
	if err != nil {
		return err
	}
	sides, err := sidesOf(h)
	if err != nil {
		return err
	}
	if c.Format == report.JSON {
		type entry struct {
			ID      iikanji.RunID   `json:"id"`
			Began   time.Time       `json:"began"`
			Saved   bool            `json:"saved"`
			Outcome iikanji.Outcome `json:"outcome"`
			Score   float64         `json:"score"`
			Sides   []string        `json:"sides,omitempty"`
		}
		entries := []entry{}
		for _, r := range list {
			entries = append(entries, entry{r.ID, r.Began, r.Saved, r.Outcome, r.Score, sides[r.ID]})
		}
		return writeJSON(e.Stdout, struct {
			Runs []entry `json:"runs"`
		}{entries})
	}
	if len(list) == 0 && c.Format == report.Text {
		_, err := fmt.Fprintf(e.Stdout, "no run has been made in %s\n", h.Dir())
		return err
	}
	t := report.Table{Columns: []report.Column{{Name: "run"}, {Name: "began", Left: true}, {Name: "outcome", Left: true}, {Name: "score"},
		{Name: "change", Left: true, Shrink: true}}}
	for _, r := range list {
		outcome := "not saved"
		if r.Saved {
			outcome = r.Outcome.String()
		}
		score := "-"
		if r.Saved && r.Outcome == iikanji.Passed {
			score = report.Count(int64(r.Score))
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(int(r.ID)), r.Began.Local().Format(time.DateTime), outcome, score, strings.Join(sides[r.ID], ", ")})
	}
	return t.Write(e.Stdout, c.Format, e.Cols)
}

// sidesOf returns for each run the changes whose evidence it is part of, and
// whether it ran with or without each change.
func sidesOf(h *history.History) (map[iikanji.RunID][]string, error) {
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	sides := map[iikanji.RunID][]string{}
	add := func(runs []iikanji.RunID, text string) {
		for _, r := range runs {
			if !slices.Contains(sides[r], text) {
				sides[r] = append(sides[r], text)
			}
		}
	}
	for _, c := range all {
		v, err := h.LoadVerdict(c.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		add(v.Base, fmt.Sprintf("without %d", c.ID))
		add(v.Tried, fmt.Sprintf("with %d", c.ID))
	}
	return sides, nil
}
