package past

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A StateOf is what else a run depended on besides the changes that iikanji made: edits
// by hand. key is equal for equal states, edits is the number of edits since the first run, says is for
// people; own is false for a run of a search. nil is a history in which nobody looked.
type StateOf func(run *iikanji.Run) (key string, edits int, says string, own bool)

// Runs are the runs of a history that count, in the order of time: those of the
// benchmarker's usual length that neither were void nor cut off, were not observed, and did not
// try what a search then took back.
func Runs(h *history.History, byHand StateOf) ([]choose.Run, error) {
	ids, err := h.Runs()
	if err != nil {
		return nil, err
	}
	events := h.Events()
	inForce := changesInForce(events)
	observed, err := withoutTools(h, inForce, byHand != nil)
	if err != nil {
		return nil, err
	}
	tookBack := refused(events)
	notes := notesOf(events)
	var all []*iikanji.Run
	for _, id := range ids {
		run, err := h.LoadRun(id)
		if err != nil {
			return nil, fmt.Errorf("reading run %d: %w", id, err)
		}
		if counts(run) && !observed[run.ID] && !observe.Observed(h, id) {
			all = append(all, run)
		}
	}
	all = usual(all)
	says := map[string]string{} // by the key of a state: its first run
	var runs []choose.Run
	for _, run := range all {
		set := inForce[run.ID]
		r := choose.Run{ID: run.ID, Passed: run.Outcome == iikanji.Passed, Score: run.Score, Faults: faults(run)}
		r.State = choose.State{Key: set.key(), Unproven: set.unproven()}
		told, own := "", run.State == ""
		if byHand != nil {
			var key string
			var edits int
			key, edits, told, own = byHand(run)
			r.State.Key, r.State.Unproven = r.State.Key+" "+key, r.State.Unproven+edits
		}
		if !own && set.has(tookBack) {
			continue
		}
		if _, known := says[r.State.Key]; !known {
			says[r.State.Key] = strings.TrimSpace(fmt.Sprintf("run %d %s", run.ID, cmp.Or(notes[run.ID], told, set.says(h))))
		}
		r.State.Says = says[r.State.Key]
		runs = append(runs, r)
	}
	return runs, rehearsed(h, runs)
}

// counts reports whether a run was meant to give a score.
func counts(r *iikanji.Run) bool {
	valid := r.Outcome == iikanji.Passed || r.Outcome == iikanji.Failed
	return valid && !r.Partial && !r.Load.Void && !r.Watched && r.Took > 0
}

// usual leaves out runs that are much shorter or longer than the latest one: a score counts
// what was done in the time of a run. A failed run ends early and stays.
func usual(runs []*iikanji.Run) []*iikanji.Run {
	var length float64
	for _, r := range runs {
		if r.Outcome == iikanji.Passed {
			length = r.Took.Seconds()
		}
	}
	return slices.DeleteFunc(runs, func(r *iikanji.Run) bool {
		return r.Outcome == iikanji.Passed && math.Abs(math.Log(r.Took.Seconds()/length)) > math.Log(lengthRatio)
	})
}

// lengthRatio is the greatest ratio of the lengths of two runs whose scores are compared.
const lengthRatio = 1.25

// digits of a message differ among faults of one kind.
var digits = regexp.MustCompile(`[0-9]+`)

// faults are the kinds of faults of a run that failed. Where a run has no faults that fail
// it by themselves, all of them count, and without any its reasons.
func faults(run *iikanji.Run) (kinds []string) {
	if run.Outcome == iikanji.Passed {
		return nil
	}
	add := func(kind string) {
		if kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, fatal := range []bool{true, false} {
		for _, f := range run.Faults {
			if f.Fatal == fatal {
				add(cmp.Or(f.Check, f.Kind.String()+" "+f.Step+" "+digits.ReplaceAllString(f.Message, "N")))
			}
		}
		if len(kinds) > 0 {
			return kinds
		}
	}
	for _, r := range run.Reasons {
		add(digits.ReplaceAllString(r, "N"))
	}
	return kinds
}

// notesOf are the first notes of people on runs.
func notesOf(events []history.Event) map[iikanji.RunID]string {
	notes := map[iikanji.RunID]string{}
	for _, e := range events {
		if e.What == history.Noted && e.Run > 0 && notes[e.Run] == "" {
			notes[e.Run] = e.Text
		}
	}
	return notes
}
