package api

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A FinalState is the final judging of a round so far.
type FinalState struct {
	Round   string        `json:"round"`
	State   contest.State `json:"state"`
	Rule    string        `json:"rule"` // in one sentence
	Final   contest.Final `json:"final"`
	Seed    uint64        `json:"seed"`
	Workers []string      `json:"workers"`
	Teams   []FinalTeam   `json:"teams"`
	// Plan is all runs in their order; Takes how long the runs and reboots take about.
	Plan  []FinalPlanned `json:"plan"`
	Takes time.Duration  `json:"takes_ns"`
	// Moves is what the verdicts would change on the board of staff.
	Moves []Move `json:"moves,omitempty"`
}

// A FinalPlanned is one run of the plan.
type FinalPlanned struct {
	Team   string `json:"team"`
	Block  int    `json:"block"`
	Worker string `json:"worker,omitempty"`
}

// A FinalTeam is a team in the final judging.
type FinalTeam struct {
	Team  string      `json:"team"`
	Name  string      `json:"name"`
	Place int64       `json:"place"` // before the final judging, from 1
	Steps []FinalStep `json:"steps"`
	Runs  []FinalRun  `json:"runs"`
	// Verdict is by the rule from the steps and runs so far; Decided is set when it is kept.
	Verdict FinalVerdict `json:"verdict"`
	Decided bool         `json:"decided"`
}

// A FinalVerdict is the verdict on a team. Open means that steps or runs are missing, Missing how
// many runs.
type FinalVerdict struct {
	Passed  bool    `json:"passed"`
	Score   float64 `json:"score"`
	Reason  string  `json:"reason,omitempty"`
	Open    bool    `json:"open,omitempty"`
	Missing int     `json:"missing,omitempty"`
}

// A FinalStep is what one step of a team showed. Repeat takes back what is kept of the step and of
// those after it; it needs a reason.
type FinalStep struct {
	Team     string    `json:"team"`
	Name     string    `json:"name"`
	At       time.Time `json:"at,omitzero"`
	Passed   bool      `json:"passed"`
	Evidence string    `json:"evidence,omitempty"`
	By       string    `json:"by,omitempty"`
	Repeat   bool      `json:"repeat,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

// A FinalRun is a run of the final judging.
type FinalRun struct {
	Job     string          `json:"job"`
	Block   int             `json:"block"`
	State   JobState        `json:"state"`
	Outcome iikanji.Outcome `json:"outcome"`
	Score   float64         `json:"score"`
	Worker  string          `json:"worker,omitempty"`
	Text    string          `json:"text,omitempty"`
}

// A Move is a team whose rank or standing changes.
type Move struct {
	Team string  `json:"team"`
	From int     `json:"from"` // rank; 0 for none
	To   int     `json:"to"`
	Was  float64 `json:"was"`
	Is   float64 `json:"is"`
}

// A PlanFinal chooses who takes part: the first Top teams of the board (0 for all), and those with
// a prize. Apply keeps the plan; without it nothing changes.
type PlanFinal struct {
	Top    int    `json:"top"`
	Prizes bool   `json:"prizes"`
	Seed   uint64 `json:"seed"` // of the random order; 0 for one from the portal's secret
	Apply  bool   `json:"apply"`
}

// A Rejudge changes what the results of some runs count. Empty fields of the filter match all.
type Rejudge struct {
	Worker string          `json:"worker,omitempty"`
	From   time.Time       `json:"from,omitzero"` // when the result was accepted
	To     time.Time       `json:"to,omitzero"`
	Jobs   []string        `json:"jobs,omitempty"`
	As     iikanji.Outcome `json:"as"`               // void or failed, or passed with Factor
	Factor float64         `json:"factor,omitempty"` // of the score, with passed
	Reason string          `json:"reason"`
	Apply  bool            `json:"apply"`
}

// A Rejudged is what a rejudge changes or has changed.
type Rejudged struct {
	Jobs    []string `json:"jobs"`
	Moves   []Move   `json:"moves"`
	Applied bool     `json:"applied"`
}

// A Disqualify is one of the acts of a disqualification: propose (Team, Rule, Public, Evidence,
// Appeal), confirm (ID) by another staff member, lift (ID, Why).
type Disqualify struct {
	Act      string        `json:"act"`
	ID       string        `json:"id,omitempty"`
	Team     string        `json:"team,omitempty"`
	Rule     string        `json:"rule,omitempty"`
	Public   string        `json:"public,omitempty"`
	Evidence string        `json:"evidence,omitempty"`
	Appeal   time.Duration `json:"appeal_ns,omitempty"` // from now on
	Why      string        `json:"why,omitempty"`
}

// A Disqualified is a disqualification as staff sees it.
type Disqualified struct {
	ID        string    `json:"id"`
	Team      string    `json:"team"`
	Rule      string    `json:"rule"`
	Public    string    `json:"public"`
	Evidence  string    `json:"evidence"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
	Confirmed string    `json:"confirmed,omitempty"`
	Appeal    time.Time `json:"appeal"`
	InForce   bool      `json:"in_force"`
	Lifted    time.Time `json:"lifted,omitzero"`
}

// A JudgeCalls has the acts of judges.
type JudgeCalls interface {
	Final(ctx context.Context, who Who, round string) (*FinalState, error)
	PlanFinal(ctx context.Context, who Who, round string, p PlanFinal) (*FinalState, error)
	FinalStep(ctx context.Context, who Who, round string, s FinalStep) error
	// FinalRun enqueues the next run of a team in a block.
	FinalRun(ctx context.Context, who Who, round, team string, block int) (*Job, error)
	// Decide keeps the verdicts of all teams; the board of staff ranks by them.
	Decide(ctx context.Context, who Who, round string) (*FinalState, error)
	// Reveal shows the final results to all.
	Reveal(ctx context.Context, who Who, round, reason string) (*Round, error)
	Rejudge(ctx context.Context, who Who, round string, r Rejudge) (*Rejudged, error)
	Disqualify(ctx context.Context, who Who, round string, d Disqualify) (*Disqualified, error)
}

// judged reads a body and calls an act on a round with it.
func judged[In, Out any](call func(context.Context, Who, string, In) (Out, error)) func(*Call) error {
	return func(c *Call) error {
		var in In
		if err := c.Read(&in); err != nil {
			return err
		}
		return answer(c)(call(c.R.Context(), c.Who, c.R.PathValue("round"), in))
	}
}

// JudgeRoutes are the routes of judges.
func JudgeRoutes(j JudgeCalls) []Route {
	const round = "/api/v1/rounds/{round}"
	return []Route{
		{"GET", round + "/final", Staffed, 0, func(c *Call) error { return answerOf(c, j.Final) }},
		{"POST", round + "/final/plan", Judges, 60, judged(j.PlanFinal)},
		{"POST", round + "/final/steps", Judges, 0, judged(func(ctx context.Context, who Who, round string, s FinalStep) (struct{}, error) {
			return struct{}{}, j.FinalStep(ctx, who, round, s)
		})},
		{"POST", round + "/final/runs", Judges, 0, judged(func(ctx context.Context, who Who, round string, p FinalPlanned) (*Job, error) {
			return j.FinalRun(ctx, who, round, p.Team, p.Block)
		})},
		{"POST", round + "/final/decide", Judges, 60, func(c *Call) error { return answerOf(c, j.Decide) }},
		{"POST", round + "/reveal", Chief, 60, judged(func(ctx context.Context, who Who, round string, act contest.Act) (*Round, error) {
			return j.Reveal(ctx, who, round, act.Reason)
		})},
		{"POST", round + "/rejudge", Judges, 60, judged(j.Rejudge)},
		{"POST", round + "/disqualify", Judges, 60, judged(j.Disqualify)},
	}
}
