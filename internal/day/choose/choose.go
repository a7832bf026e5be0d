package choose

import (
	"cmp"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Final is which run of a contest registers its score.
type Final string

const (
	Last Final = "last" // the last one before the end
	Best Final = "best" // the one with the highest score
)

// Rules are the contest's.
type Rules struct {
	Final Final `json:"final"`
	// Floor is the share of the registered score that a run after the contest must reach.
	Floor float64 `json:"floor"`
}

// DefaultFloor is the share that the contests of the arenas require.
const DefaultFloor = 0.75

// A Row is what is known of a state.
type Row struct {
	State
	Runs   []iikanji.RunID `json:"runs"`
	Passed int             `json:"passed"`
	// Near are failed runs of neighbouring states with the same fault, each a half.
	Near   float64 `json:"near_failures,omitempty"`
	Median float64 `json:"median"` // of the scores of the runs that passed
	Passes float64 `json:"passes"` // the chance that the next run passes
	Again  float64 `json:"again"`  // the chance that it reaches the floor, if it passes
	Worth  float64 `json:"worth"`
}

// A Choice is the answer to which state to end with.
type Choice struct {
	Rules
	Spread Spread `json:"spread"`
	Rows   []Row  `json:"states"` // in the order of their first runs
	// Registered is the run that has registered so far; 0 for none.
	Registered iikanji.RunID `json:"registered,omitempty"`
	// With is the index of the state to end with, −1 if no run has passed.
	With int `json:"with"`
	// Good is the index of the last known good state, −1 for none.
	Good  int    `json:"good"`
	Press Advice `json:"press"`
}

// tie is the ratio of worths that are not distinguished.
const tie = 0.99

// goodRuns are the least runs that passed of a last known good state.
const goodRuns = 3

// Among chooses among the states of runs, which are in the order of time.
func Among(runs []Run, rules Rules) Choice {
	groups := groupsOf(runs)
	c := Choice{Rules: rules, Spread: spreadOf(groups), With: -1, Good: -1}
	registered, highest := registeredOf(runs, rules.Final)
	c.Registered = registered
	for _, g := range groups {
		c.Rows = append(c.Rows, c.row(runs, g, highest))
	}
	c.With = best(c.Rows)
	c.Good = lastGood(runs, c.Rows)
	c.Press = c.advice(runs)
	return c
}

// registeredOf is the run whose score is registered, and its score; 0 for none. Of a run
// that failed no score is registered where the last run counts.
func registeredOf(runs []Run, final Final) (id iikanji.RunID, score float64) {
	for _, r := range runs {
		switch {
		case final == Last:
			id, score = r.ID, r.Score
			if !r.Passed {
				id, score = 0, 0
			}
		case r.Passed && r.Score > score:
			id, score = r.ID, r.Score
		}
	}
	return id, score
}

// row computes what is known of one state.
func (c *Choice) row(runs []Run, g *group, registered float64) Row {
	scores := g.scores()
	row := Row{State: g.State, Passed: len(scores), Median: stats.Median(scores)}
	for _, r := range g.runs {
		row.Runs = append(row.Runs, r.ID)
	}
	failed, near := failures(runs, g)
	row.Near = near
	row.Passes = passes(row.Passed, float64(failed)+near)
	if row.Passed == 0 {
		row.Median = 0
		return row
	}
	score := row.Median
	if c.Final == Best {
		score = registered
		row.Again = c.Spread.againBest(scores, registered, c.Floor)
	} else {
		row.Again = c.Spread.againNext(c.Floor)
	}
	row.Worth = score * row.Passes * row.Again
	return row
}

// best is the index of the row of the highest worth. Of nearly equal ones it is the one
// with the fewest unproven edits, then the one of the highest worth.
func best(rows []Row) int {
	most := 0.0
	for _, r := range rows {
		most = max(most, r.Worth)
	}
	with := -1
	for i, r := range rows {
		if r.Worth == 0 || r.Worth < tie*most {
			continue
		}
		if with < 0 || cmp.Or(cmp.Compare(r.Unproven, rows[with].Unproven), cmp.Compare(rows[with].Worth, r.Worth)) < 0 {
			with = i
		}
	}
	return with
}

// lastGood is the index of the state that was run latest among those with enough runs that
// passed, a rehearsal, and no known reason to stay down after a reboot; −1 for none.
func lastGood(runs []Run, rows []Row) int {
	for _, r := range slices.Backward(runs) {
		i := slices.IndexFunc(rows, func(row Row) bool { return row.Key == r.State.Key })
		if row := rows[i]; row.Passed >= goodRuns && row.Rehearsed && row.Boot == 0 {
			return i
		}
	}
	return -1
}
