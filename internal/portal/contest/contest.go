package contest

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A Text is a text in several languages, by language tag as in "ja". A text without a
// language has the tag "".
type Text map[string]string

// In is the text in a language, else in English, else in any language.
func (t Text) In(lang string) string {
	for _, l := range []string{lang, "", "en"} {
		if s, ok := t[l]; ok {
			return s
		}
	}
	for _, l := range slices.Sorted(maps.Keys(t)) {
		return t[l]
	}
	return ""
}

// A Contest is what a contest file declares. Times are instants; the file's times are read in
// the contest's Zone.
type Contest struct {
	ID   string
	Name Text
	Zone string
	// Local allows targets on loopback: a training on one machine.
	Local        bool
	Registration Registration
	Divisions    []Division
	Rounds       []Round
	Problems     []Problem
	Targets      Targets
	// Digest is the SHA-256 of the file, in hex.
	Digest string
}

// An Admission says who may make a team.
type Admission string

const (
	AdmitAll  Admission = "open" // everyone with an account
	AdmitCode Admission = "code" // whoever has a code of the organiser
	AdmitList Admission = "list" // whoever the organiser listed
)

// A Registration says when and how teams are made by their members. Without Open teams are
// made by staff alone.
type Registration struct {
	Open, Close time.Time
	// JoinClose is when members may no longer join a team, EditClose when a team may no
	// longer be changed; Close if not given.
	JoinClose, EditClose time.Time
	Teams                int // most teams; 0 for no limit
	Reserved             int // how many of them are for teams with a code
	Members              int // most members of a team
	Entry                Admission
	Approval             bool // staff admits each team
	Waiting              bool // teams without a place wait for one, in their order
	Terms                Text // what a team has to accept; nil for nothing
	Questions            []Question
}

// Opened reports whether a time is between Open and an end.
func (r *Registration) Opened(end, now time.Time) bool {
	return !r.Open.IsZero() && !now.Before(r.Open) && (end.IsZero() || now.Before(end))
}

// A Question is asked when a team is made.
type Question struct {
	ID       string `json:"id"`
	Text     Text   `json:"text"`
	Required bool   `json:"required,omitempty"`
}

// A Division is a part of the teams with a ranking of its own.
type Division struct {
	ID    string
	Title Text
	// Rule is "" (chosen by the team), or "all WORD": every member declares WORD.
	Rule string
	// Unranked teams are on the board without a rank: guests.
	Unranked bool
}

// A Kind is the way in which a round's time runs.
type Kind string

const (
	Live   Kind = "live"   // one clock for all
	Window Kind = "window" // each team has its own hours within the round's days
	Open   Kind = "open"   // practice, without an end
)

// A Round is one time table with a problem and a board.
type Round struct {
	ID      string
	Title   Text
	Kind    Kind
	Problem string
	Start   time.Time
	Length  time.Duration // of the round, or of each team's window; 0 for open
	Until   time.Time     // the last instant of a window round
	Freeze  time.Duration // before the end; 0 for no freeze
	Rules   Rules
	Show    Show
	Queue   Queue
	Final   Final
	Prizes  []Prize
	Hints   []Hint
}

// A Standing says which run of a team the board ranks.
type Standing string

const (
	Last Standing = "last"
	Best Standing = "best"
)

// A Tie is a way to order teams with equal standings.
type Tie string

const (
	TieBest    Tie = "best"    // the higher best score first
	TieEarlier Tie = "earlier" // the one who reached its standing earlier first
)

// Rules are the rules of a round.
type Rules struct {
	Standing Standing
	Ties     []Tie
	// CountsIf is "enqueued" (a job that was enqueued before the end counts, if it ends
	// within Tail) or "finished" (before the end).
	CountsIf   string
	Tail       time.Duration
	Hosts      int // most hosts of a team
	Profiling  bool
	StopOwnRun bool // a team may cancel its running job
}

// Show is what a team sees of its own runs.
type Show struct {
	Points bool
	Faults int // most faults of a run; 0 for none
	Steps  bool
	Log    int // bytes of the log; 0 for none
}

// A Queue says how jobs are ordered and how many a team may start.
type Queue struct {
	Order   string // "fair" or "fifo"
	Budgets map[string]Budget
}

// A Budget bounds the runs of a team of one division; "" is the key of all others.
type Budget struct {
	Runs     int           // in the round; 0 for no limit
	PerHour  int           // in any 60 minutes; 0 for no limit
	CoolDown time.Duration // between the end of a run and the next enqueueing
	// Saturated: the limits hold only while jobs of other teams wait.
	Saturated bool
}

// A Final is how the final result of a team is found.
type Final struct {
	Reboot      bool
	Order       string // of reboots: "together", "listed" or "reverse"
	BackIn      time.Duration
	Runs        int
	Pass        int    // how many of the runs must pass
	Counts      string // "median", "best", "last" or "mean" of the runs
	VoidRetries int
}

// A Prize is an award beside the ranking.
type Prize struct {
	ID    string
	Title Text
	// Kind is best_of, first_above, first_pass, biggest_jump, longest_clean or manual.
	Kind string
	Of   string  // best_of: the division; biggest_jump: "ratio" or "points"
	At   float64 // first_above: the score
}

// A Hint is a text that a team may open when it is unlocked: After the team has played so long, or
// when its best score is Above. A hint with neither is always unlocked.
type Hint struct {
	ID    string
	Title Text // shown before it is opened
	Text  Text
	After time.Duration
	Above float64
}

// Unlocked reports whether a team may open a hint.
func (h *Hint) Unlocked(played time.Duration, best float64) bool {
	return h.After == 0 && h.Above == 0 || h.After > 0 && played >= h.After || h.Above > 0 && best >= h.Above
}

// Hint is the hint of an id, or nil.
func (r *Round) Hint(id string) *Hint {
	for i := range r.Hints {
		if r.Hints[i].ID == id {
			return &r.Hints[i]
		}
	}
	return nil
}

// Prize is the prize of an id, or nil.
func (r *Round) Prize(id string) *Prize {
	for i := range r.Prizes {
		if r.Prizes[i].ID == id {
			return &r.Prizes[i]
		}
	}
	return nil
}

// A Problem is what is made fast, and how it is measured.
type Problem struct {
	ID    string
	Arena string // an arena of iikanji; "" for a command
	// Command is a benchmarker: program and arguments, without a shell.
	Command []string
	Report  string // "", "lines" or "isuxbench"
	Load    time.Duration
	Timeout time.Duration // after it the run is ended
	// Seed is "per-job" (from a secret and the job), or a number.
	Seed      string
	FinalSeed string
	Set       map[string]string // settings of the arena
	// Shards is how many generators send the load of an arena together; 0 or 1 for one.
	Shards int
	// Shadow is what is asked after a run as another visitor than the benchmarker.
	Shadow Shadow
	// Callbacks are ports at which the benchmarker takes connections of the hosts that it loads:
	// a run has one of them.
	Callbacks []int
}

// A Shadow names pages that anyone may read without a login, and that do not change by themselves.
// After a run they are asked as the benchmarker, whose User-Agent is Agent, and as a browser: a site
// that answers differently is flagged.
type Shadow struct {
	Pages []string // paths
	Agent string
}

// MostShadows is how many pages a problem names at most.
const MostShadows = 4

// Callback in a setting of an arena becomes the address and port of the worker at which a run takes
// connections of the hosts that it loads.
const Callback = "{callback}"

// Kind is the word for a worker's ability: arena or command.
func (p *Problem) Kind() string {
	if p.Arena != "" {
		return "arena"
	}
	return "command"
}

// Targets bounds the addresses that load may be sent to.
type Targets struct {
	Allow []string // CIDR
	Ports []int
}

// Round is the round of an id, or nil.
func (c *Contest) Round(id string) *Round {
	for i := range c.Rounds {
		if c.Rounds[i].ID == id {
			return &c.Rounds[i]
		}
	}
	return nil
}

// Division reports whether a contest has a division, and the word that every member of it
// declares; "" for none.
func (c *Contest) Division(id string) (word string, ok bool) {
	for _, d := range c.Divisions {
		if d.ID == id {
			return strings.TrimPrefix(d.Rule, "all "), true
		}
	}
	return "", slices.Contains(usual, id)
}

// DivisionIDs are the divisions of a contest: the usual ones and those of its file.
func (c *Contest) DivisionIDs() []string {
	out := slices.Clone(usual)
	for _, d := range c.Divisions {
		if !slices.Contains(out, d.ID) {
			out = append(out, d.ID)
		}
	}
	return out
}

// Problem is the problem of an id, or nil.
func (c *Contest) Problem(id string) *Problem {
	for i := range c.Problems {
		if c.Problems[i].ID == id {
			return &c.Problems[i]
		}
	}
	return nil
}

// Budget is the budget of teams of a division.
func (q *Queue) Budget(division string) Budget {
	if b, ok := q.Budgets[division]; ok {
		return b
	}
	return q.Budgets[""]
}
