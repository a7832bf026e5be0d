package api

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Role is what an account may do. A later role of [Roles] may do all that is open to the
// ones before it, but a role of staff has no team.
type Role string

const (
	Spectator Role = "spectator" // no login
	Member    Role = "member"
	Leader    Role = "leader"
	Viewer    Role = "viewer" // of staff, reads only
	Support   Role = "support"
	Judge     Role = "judge"
	Operator  Role = "operator"
	Organiser Role = "organiser"
)

// Roles are all roles.
var Roles = []Role{Spectator, Member, Leader, Viewer, Support, Judge, Operator, Organiser}

// Staff reports whether a role is one of staff.
func (r Role) Staff() bool {
	return r == Viewer || r == Support || r == Judge || r == Operator || r == Organiser
}

// A Who is who asks. The zero value is a spectator.
type Who struct {
	Account string // its id; "" without a login
	Name    string
	Role    Role
	Team    string // of a member or leader
	// Teams are all teams of the account, one in a contest, in the order of joining.
	Teams []Membership
}

// A Membership is an account's place in a team.
type Membership struct {
	Contest string `json:"contest"`
	Team    string `json:"team"`
	Leads   bool   `json:"leads,omitempty"`
}

// At is a caller in a contest: a member or leader of its team there, or a spectator with an
// account. Staff stays as it is.
func (w Who) At(contest string) Who {
	if w.Role.Staff() {
		return w
	}
	w.Team, w.Role = "", Spectator
	for _, m := range w.Teams {
		if m.Contest != contest {
			continue
		}
		if w.Team, w.Role = m.Team, Member; m.Leads {
			w.Role = Leader
		}
	}
	return w
}

// Reader is the view of a Who.
func (w Who) Reader() board.Reader {
	switch {
	case w.Role.Staff():
		return board.Reader{Role: board.Staff}
	case w.Team != "":
		return board.Reader{Role: board.Member, Team: w.Team}
	}
	return board.Reader{Role: board.Public}
}

// Errors of a Portal. A [RefusedError] has more.
var (
	ErrNotFound  = errors.New("there is no such thing")
	ErrForbidden = errors.New("this role may not do that")
)

// A RefusedError is a request that the state of the contest does not allow. Code is stable.
type RefusedError struct {
	Code string // as in "open-job", "not-running", "budget", "conflict", "disk-full"
	Text string
	Job  string        // the open job, with "open-job"
	Wait time.Duration // after which it may succeed; 0 if unknown
}

func (e *RefusedError) Error() string { return e.Text }

// A Portal is a portal as pages and routes see it. Its methods are safe for concurrent use.
type Portal interface {
	// Now is the portal's time, which pages show.
	Now() time.Time
	// Rounds lists the rounds that the caller may see.
	Rounds(ctx context.Context, who Who) ([]Round, error)
	Round(ctx context.Context, who Who, round string) (*Round, error)
	Board(ctx context.Context, who Who, round string) (*Board, error)
	// Series are the chart's lines of some teams.
	Series(ctx context.Context, who Who, round string, teams []string) ([]board.Series, error)
	// Stream sends frames from after the frame with the id last on ("" for a fresh start),
	// until ctx ends. The channel is closed for a reader that is too slow.
	Stream(ctx context.Context, who Who, round, last string) (<-chan Frame, error)
	Team(ctx context.Context, who Who, round, team string) (*Team, error)
	// Jobs are a team's jobs, the newest first. Team is "" for all, for staff.
	Jobs(ctx context.Context, who Who, round, team string) ([]Job, error)
	Job(ctx context.Context, who Who, job string) (*Job, error)
	Queue(ctx context.Context, who Who, round string) (*Queue, error)
	Enqueue(ctx context.Context, who Who, e Enqueue) (*Job, error)
	Cancel(ctx context.Context, who Who, job, reason string) (*Job, error)
	// Messages are announcements, and the questions that the caller may read.
	Messages(ctx context.Context, who Who, round string) ([]Message, error)
	Say(ctx context.Context, who Who, s Say) (*Message, error)
	// ClaimQuestion lets the caller alone answer a question, for some minutes.
	ClaimQuestion(ctx context.Context, who Who, round, question string) error
	// Act is an act on a round's clock.
	Act(ctx context.Context, who Who, round string, act contest.Act) (*Round, error)
	// Move changes a round's state, by staff.
	Move(ctx context.Context, who Who, round string, to contest.State) (*Round, error)
	// Begin begins the hours of the caller's team, in a window round.
	Begin(ctx context.Context, who Who, round string) (*Round, error)
	// SetNoise keeps how far single runs of an unchanged site differ.
	SetNoise(ctx context.Context, who Who, round string, n Noise) (*Round, error)
	Workers(ctx context.Context, who Who) ([]Worker, error)
	// Hold gives a worker no more jobs, or lets it work again; what it runs goes on.
	Hold(ctx context.Context, who Who, worker string, hold bool, reason string) error
	Beside
}
