package api

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A NewGhost is a ghost to be made: of Points, or of the runs of Team in the round From.
type NewGhost struct {
	Name   string             `json:"name"`
	Source string             `json:"source,omitempty"`
	Public bool               `json:"public"` // its owner agreed
	Points []board.GhostPoint `json:"points,omitempty"`
	From   string             `json:"from,omitempty"`
	Team   string             `json:"team,omitempty"`
}

// An Award gives a prize by hand to a team; Team "" takes it back.
type Award struct {
	Prize  string `json:"prize"`
	Team   string `json:"team"`
	Reason string `json:"reason"`
}

// A Hint is a hint as a team sees it. Text is empty until it is opened.
type Hint struct {
	ID       string        `json:"id"`
	Title    contest.Text  `json:"title,omitempty"`
	After    time.Duration `json:"after_ns,omitempty"`
	Above    float64       `json:"above,omitempty"`
	Unlocked bool          `json:"unlocked"`
	Opened   time.Time     `json:"opened,omitzero"`
	By       string        `json:"by,omitempty"`
	Text     contest.Text  `json:"text,omitempty"`
}

// A Trainee is a team as its trainer sees it.
type Trainee struct {
	Team    string          `json:"team"`
	Name    string          `json:"name"`
	Row     board.Row       `json:"row"`
	Reached []board.Reached `json:"reached,omitempty"`
	Hints   []Hint          `json:"hints,omitempty"` // those that were opened, without their texts
	Points  []board.Point   `json:"points"`
	Open    bool            `json:"open,omitempty"` // a run waits or is on
}

// A Flag is something that staff should look at. It decides nothing.
type Flag struct {
	Kind  string    `json:"kind"` // machine, address, mail, keys, boot or answers
	Teams []string  `json:"teams"`
	Hosts []string  `json:"hosts,omitempty"`
	Pages []string  `json:"pages,omitempty"` // paths, of answers
	At    time.Time `json:"at,omitzero"`
}

// A Beside has what stands beside the ranking.
type Beside interface {
	// Ghosts are those that the caller may see, as far as they have come.
	Ghosts(ctx context.Context, who Who, round string) ([]board.GhostLine, error)
	AddGhost(ctx context.Context, who Who, round string, g NewGhost) (*board.GhostLine, error)
	RemoveGhost(ctx context.Context, who Who, round, ghost string) error
	// Award gives a prize of the kind manual.
	Award(ctx context.Context, who Who, round string, a Award) (*Round, error)
	// Hints are those of the caller's team.
	Hints(ctx context.Context, who Who, round string) ([]Hint, error)
	OpenHint(ctx context.Context, who Who, round, hint string) (*Hint, error)
	Reached(ctx context.Context, who Who, round string) ([]board.Reached, error)
	Trainees(ctx context.Context, who Who, round string) ([]Trainee, error)
	Flags(ctx context.Context, who Who, round string) ([]Flag, error)
}

// besideRoutes are the routes of what stands beside the ranking.
func (s *Server) besideRoutes() []Route {
	const round = "/api/v1/rounds/{round}"
	p := s.o.Portal
	return []Route{
		{"GET", round + "/ghosts", Anyone, 0, func(c *Call) error { return listOf(c, p.Ghosts) }},
		{"POST", round + "/ghosts", Chief, 60, judged(p.AddGhost)},
		{"DELETE", round + "/ghosts/{ghost}", Chief, 60, func(c *Call) error {
			return answer(c)(struct{}{}, p.RemoveGhost(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.PathValue("ghost")))
		}},
		{"POST", round + "/awards", Judges, 60, judged(p.Award)},
		{"GET", round + "/hints", Playing, 0, func(c *Call) error { return listOf(c, p.Hints) }},
		{"POST", round + "/hints/{hint}", Playing, 20, func(c *Call) error {
			return answer(c)(p.OpenHint(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.PathValue("hint")))
		}},
		{"GET", round + "/reached", Playing, 0, func(c *Call) error { return listOf(c, p.Reached) }},
		{"GET", round + "/trainees", Staffed, 0, func(c *Call) error { return listOf(c, p.Trainees) }},
		{"GET", round + "/flags", Judges, 0, func(c *Call) error { return listOf(c, p.Flags) }},
	}
}

// listOf answers with a list of a round; an empty one is [].
func listOf[T any](c *Call, call func(context.Context, Who, string) ([]T, error)) error {
	out, err := call(c.R.Context(), c.Who, c.R.PathValue("round"))
	if out == nil {
		out = []T{}
	}
	return answer(c)(out, err)
}
