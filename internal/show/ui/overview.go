package ui

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
)

func runID(n int) iikanji.RunID { return iikanji.RunID(n) }

// runPath is the address of a run.
func runPath(id iikanji.RunID) string { return "/runs/" + strconv.Itoa(int(id)) }

// overview is the data of the first page.
type overview struct {
	*summary.Summary
	Figures []*document.Figure
	Effects *document.Figure
}

// showOverview shows the headline, the score chart and the trials.
func (s *Server) showOverview(r *http.Request) (*view, error) {
	_, sum, err := s.store.load()
	if err != nil {
		return s.withoutHistory(err)
	}
	return &view{name: "overview", title: "Overview", here: "/", tables: []*Table{trialsTable(sum)},
		data: overview{sum, document.ScoreFigures(sum, runPath), document.TrialsFigure(sum)}}, nil
}

// withoutHistory shows a first page where no run was made yet.
func (s *Server) withoutHistory(err error) (*view, error) {
	var hinted interface{ Hints() []string }
	if !errors.As(err, &hinted) {
		return nil, err
	}
	return &view{name: "empty", title: "Overview", here: "/", data: hinted.Hints()}, nil
}

// trialsTable lists the trials of all searches.
func trialsTable(sum *summary.Summary) *Table {
	t := &Table{Name: "trials", Caption: "Trials, in the order of the search", Columns: []Column{rightColumn("trial", "trial"), leftColumn("what", "what"), leftColumn("result", "result"),
		rightColumn("effect", "effect on the score (interval)"), rightColumn("runs", "runs"), leftColumn("why", "why")}}
	for i := range sum.Trials {
		x := &sum.Trials[i]
		why := x.Verdict.Why
		if !x.Tried() {
			why = x.Skipped
		}
		what := text(x.Says)
		if n := len(x.Changes); n > 0 {
			what.Href = "/changes/" + strconv.Itoa(int(x.Changes[n-1]))
		}
		effect := missing()
		if x.Verdict.Effect.Level > 0 {
			effect = number(x.Verdict.Effect.Mid, document.Effect(x.Verdict.Effect))
		}
		t.Rows = append(t.Rows, []Cell{whole(x.N), what, classed(document.ResultMark(x.Result)+" "+document.ResultWord(x.Result), resultClass(x.Result)), effect, whole(x.Runs), text(why)})
	}
	return t
}

// showRuns lists all runs.
func (s *Server) showRuns(r *http.Request) (*view, error) {
	_, sum, err := s.store.load()
	if err != nil {
		return nil, err
	}
	return &view{name: "runs", title: "Runs", here: "/runs", tables: []*Table{runsTable(sum)}, data: len(sum.Runs)}, nil
}

// runsTable lists the runs, the latest first.
func runsTable(sum *summary.Summary) *Table {
	t := &Table{Name: "runs", Caption: "Runs, the latest first", Columns: []Column{rightColumn("run", "run"), leftColumn("began", "began (UTC)"), rightColumn("load", "load"), leftColumn("part", "part"),
		rightColumn("trial", "trial"), leftColumn("outcome", "outcome"), rightColumn("score", "score"), leftColumn("changes", "changes applied"), leftColumn("notes", "notes")}}
	for i := len(sum.Runs) - 1; i >= 0; i-- {
		r := &sum.Runs[i]
		trial := missing()
		if r.Trial > 0 {
			trial = whole(r.Trial)
		}
		score := missing()
		if r.Clean {
			score = number(r.Score, document.Points(r.Score))
		}
		notes := ""
		for j, n := range r.Notes {
			if j > 0 {
				notes += "; "
			}
			notes += n
		}
		t.Rows = append(t.Rows, []Cell{linked(int(r.ID), "/runs/"), text(r.Began.UTC().Format("2006-01-02 15:04:05")), number(r.Load.Seconds(), fmt.Sprintf("%.1f s", r.Load.Seconds())),
			text(string(r.Part)), trial, text(outcomeOf(r)), score, text(numbers(r.With)), text(notes)})
	}
	return t
}

func outcomeOf(r *summary.Run) string {
	switch {
	case !r.Saved:
		return "not saved"
	case !r.Clean && r.Outcome == iikanji.Passed:
		return "void"
	}
	return r.Outcome.String()
}

func numbers[T ~int](ids []T) string {
	text := ""
	for i, id := range ids {
		if i > 0 {
			text += " "
		}
		text += strconv.Itoa(int(id))
	}
	if text == "" {
		return "-"
	}
	return text
}
