package api

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Contest is a contest as everyone may see it, with the caller's part in it.
type Contest struct {
	ID   string       `json:"id"`
	Name contest.Text `json:"name"`
	Zone string       `json:"zone"`
	Now  time.Time    `json:"now"`
	// Open to EditClose are those of the registration; Open is zero where teams are made by
	// staff alone.
	Open      time.Time          `json:"open,omitzero"`
	Close     time.Time          `json:"close,omitzero"`
	JoinClose time.Time          `json:"join_close,omitzero"`
	EditClose time.Time          `json:"edit_close,omitzero"`
	Creating  bool               `json:"creating"` // a team may be made now
	Joining   bool               `json:"joining"`
	Editing   bool               `json:"editing"`
	Entry     contest.Admission  `json:"entry"`
	Approval  bool               `json:"approval,omitempty"`
	Places    int                `json:"places,omitempty"` // 0 for no limit
	Free      int                `json:"free"`             // places for teams without a code
	Waiting   int                `json:"waiting"`
	Most      int                `json:"members"` // of a team
	Terms     contest.Text       `json:"terms,omitempty"`
	Questions []contest.Question `json:"questions,omitempty"`
	Divisions []Division         `json:"divisions"`
	Teams     []Entrant          `json:"teams"`
	Mine      *Mine              `json:"mine,omitempty"`
	Seekers   []Seeker           `json:"seekers,omitempty"` // for those with an account
}

// A Division is a part of the teams. Word is what every member of it declares; "" for none.
type Division struct {
	ID    string       `json:"id"`
	Title contest.Text `json:"title,omitempty"`
	Word  string       `json:"word,omitempty"`
}

// An Entrant is a team as everyone may see it.
type Entrant struct {
	Team     string `json:"team"`
	Name     string `json:"name"`
	Division string `json:"division"`
	Members  int    `json:"members"`
}

// A Mine is the caller's team before the contest.
type Mine struct {
	Contest string `json:"contest"`
	Entrant
	// State is "" (it takes part), asked, waiting, refused, withdrawn or disqualified.
	State   string            `json:"state,omitempty"`
	Reason  string            `json:"reason,omitempty"` // of staff, with refused
	Place   int               `json:"place,omitempty"`  // on the waiting list
	Leads   bool              `json:"leads"`
	Answers map[string]string `json:"answers,omitempty"`
	People  []Person          `json:"people"`
	// Invited: there is a link by which others join.
	Invited bool `json:"invited"`
	// Lacks are words for what is missing: members, declares, host, proof.
	Lacks []string `json:"lacks,omitempty"`
	Seat  *Seat    `json:"seat,omitempty"`
}

// A Person is a member of a team, as its team and staff see it.
type Person struct {
	Account  string   `json:"account"`
	Name     string   `json:"name"`
	Leads    bool     `json:"leads,omitempty"`
	Declares []string `json:"declares,omitempty"`
}

// A Seat is where a team sits.
type Seat struct {
	Room string `json:"room"`
	Seat string `json:"seat"`
	Port string `json:"port,omitempty"`
}

// A Seeker is a person who looks for a team. Level is 1 (a beginner) to 5.
type Seeker struct {
	Account string `json:"account,omitempty"` // for staff and the seeker
	Name    string `json:"name"`
	Level   int    `json:"level"`
	Text    string `json:"text,omitempty"`
	Own     bool   `json:"own,omitempty"`
}

// A SignUp is a wish for a new team, whose leader the caller becomes.
type SignUp struct {
	Name     string            `json:"name"`
	Division string            `json:"division,omitempty"`
	Code     string            `json:"code,omitempty"`
	Terms    bool              `json:"terms"`
	Answers  map[string]string `json:"answers,omitempty"`
	Declares []string          `json:"declares,omitempty"`
}

// An Edit changes a team; "" and nil leave a value.
type Edit struct {
	Name     string            `json:"name,omitempty"`
	Division string            `json:"division,omitempty"`
	Answers  map[string]string `json:"answers,omitempty"`
}

// An Invitation is what a link leads to.
type Invitation struct {
	Contest string       `json:"contest"`
	Title   contest.Text `json:"title"`
	Team    Entrant      `json:"team"`
	Most    int          `json:"members"`
}

// A Decision is an act of staff on a team: admit, refuse, withdraw, restore, or division.
type Decision struct {
	Team     string `json:"team"`
	Act      string `json:"act"`
	Division string `json:"division,omitempty"`
	Reason   string `json:"reason"`
}

// An Applied is a team as staff sees it.
type Applied struct {
	Mine
	Created time.Time `json:"created"`
	Coded   bool      `json:"coded,omitempty"` // it has a code's place
}

// A Drawn is a team of a draw. Team is its id once the draw is carried out.
type Drawn struct {
	Team    string   `json:"team,omitempty"`
	Name    string   `json:"name"`
	Members []Seeker `json:"members"`
}

// A People knows who takes part in contests. Its methods are safe for concurrent use. What the
// state of a contest does not allow is a *RefusedError.
type People interface {
	// ContestOf is the contest of a job.
	ContestOf(ctx context.Context, job string) (string, error)
	Contest(ctx context.Context, who Who, contest string) (*Contest, error)
	SignUp(ctx context.Context, who Who, contest string, s SignUp) (*Mine, error)
	// Invite makes a new link of the caller's team and voids the one before. The token is
	// the link's last part.
	Invite(ctx context.Context, who Who, contest string) (token string, err error)
	Invitation(ctx context.Context, who Who, token string) (*Invitation, error)
	Accept(ctx context.Context, who Who, token string, declares []string) (*Mine, error)
	Edit(ctx context.Context, who Who, contest string, e Edit) (*Mine, error)
	// Leave takes the caller out of its team, Remove another member, and HandOver makes
	// another member the leader.
	Leave(ctx context.Context, who Who, contest string) error
	Remove(ctx context.Context, who Who, contest, account string) error
	HandOver(ctx context.Context, who Who, contest, account string) error
	Withdraw(ctx context.Context, who Who, contest, reason string) error
	// Seek puts the caller on the list of those who look for a team; level 0 takes it off.
	Seek(ctx context.Context, who Who, contest string, level int, text string) error
	// Applied are all teams, Decide is an act on one.
	Applied(ctx context.Context, who Who, contest string) ([]Applied, error)
	Decide(ctx context.Context, who Who, contest string, d Decision) error
	// Code makes a code for some places, List replaces who may make a team.
	Code(ctx context.Context, who Who, contest string, places int, note string) (code string, err error)
	List(ctx context.Context, who Who, contest string, names []string) error
	// Draw makes teams of those who look for one. Without apply it only shows them.
	Draw(ctx context.Context, who Who, contest string, seed uint64, apply bool) ([]Drawn, error)
	// Seats replaces the seats of teams, by the names of the teams.
	Seats(ctx context.Context, who Who, contest string, seats map[string]Seat) error
}
