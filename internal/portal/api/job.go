package api

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/queue"
)

// A JobState is where a job is.
type JobState string

const (
	Queued    JobState = "queued"
	Offered   JobState = "offered"
	Running   JobState = "running"
	Done      JobState = "done"
	Broken    JobState = "broken"
	Cancelled JobState = "cancelled"
)

// Open reports whether a job has not ended.
func (s JobState) Open() bool { return s == Queued || s == Offered || s == Running }

// A Job is the wish for one run.
type Job struct {
	ID       string     `json:"id"`
	Round    string     `json:"round"`
	Team     string     `json:"team"`
	Number   int64      `json:"number"` // of the team, from 1
	State    JobState   `json:"state"`
	Lane     queue.Lane `json:"lane"`
	Attempt  int        `json:"attempt"`
	Note     string     `json:"note,omitempty"`
	Commit   string     `json:"commit,omitempty"`
	By       string     `json:"by"`
	Host     string     `json:"host,omitempty"`
	Enqueued time.Time  `json:"enqueued"`
	Started  time.Time  `json:"started,omitzero"`
	Ended    time.Time  `json:"ended,omitzero"`
	// Place is 1 for the job that starts next; Starts is when it is expected to start.
	Place  int           `json:"place,omitempty"`
	Starts time.Duration `json:"starts_in_ns,omitempty"`
	Why    queue.Why     `json:"why,omitempty"`
	Counts bool          `json:"counts"` // it counts for the board by its times so far
	// Text is what happened to it: "restarted, attempt 2 of 3, not charged".
	Text     string    `json:"text,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Result   *Result   `json:"result,omitempty"`
	Worker   string    `json:"worker,omitempty"` // for staff
}

// A Progress is the state of a running job.
type Progress struct {
	At      time.Duration `json:"at_ns"` // since the start of the run
	Phase   string        `json:"phase"`
	Score   float64       `json:"score"`
	Growth  []float64     `json:"growth,omitempty"` // points of each second of the load
	Message string        `json:"message,omitempty"`
}

// A Result is what a run was worth. It never changes.
type Result struct {
	Outcome  iikanji.Outcome     `json:"outcome"`
	Score    float64             `json:"score"`
	Raw      float64             `json:"raw"`
	Deducted float64             `json:"deducted"`
	Reasons  []string            `json:"reasons,omitempty"`
	Points   []iikanji.PointStat `json:"points,omitempty"`
	Faults   []iikanji.Fault     `json:"faults,omitempty"`
	Steps    []iikanji.StepStat  `json:"steps,omitempty"`
	Growth   []float64           `json:"growth,omitempty"`
	Load     time.Duration       `json:"load_ns,omitempty"`
	Log      string              `json:"log,omitempty"`
	// Seed and Stderr are for judges and operators.
	Seed   uint64 `json:"seed,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Digest string `json:"digest"` // SHA-256 of what the worker sent
}

// An Enqueue is the wish for a run.
type Enqueue struct {
	Round  string     `json:"round"`
	Team   string     `json:"team,omitempty"` // staff names it; else the caller's
	Host   string     `json:"host,omitempty"` // "" for the team's first
	Note   string     `json:"note,omitempty"` // at most 200 characters
	Commit string     `json:"commit,omitempty"`
	Lane   queue.Lane `json:"lane,omitempty"` // for staff
	// Key makes a repeated request one job, for 24 hours; "" for none.
	Key string `json:"-"`
	// Pin is the worker that should run it; "" for any. It is of the final judging.
	Pin string `json:"-"`
}

// A Queue is the queue as a reader sees it.
type Queue struct {
	Waiting int           `json:"waiting"`
	Running int           `json:"running"`
	Slots   int           `json:"slots"`
	Wait    time.Duration `json:"wait_ns"` // expected for a job enqueued now
	Jobs    []Job         `json:"jobs,omitempty"`
}

// A Message is an announcement, a question or an answer.
type Message struct {
	ID    string    `json:"id"`
	Round string    `json:"round"`
	Kind  string    `json:"kind"` // announcement, question or answer
	At    time.Time `json:"at"`
	By    string    `json:"by,omitempty"`
	Team  string    `json:"team,omitempty"` // who asked, or whom an announcement is for
	To    string    `json:"to,omitempty"`   // of an answer: its question
	Text  string    `json:"text"`
	// Claim is who of staff is answering a question, for staff.
	Claim string `json:"claim,omitempty"`
	// Public answers are seen by all, without the team's name.
	Public bool `json:"public,omitempty"`
}

// A Say is a new message.
type Say struct {
	Round  string `json:"round"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Team   string `json:"team,omitempty"`
	To     string `json:"to,omitempty"`
	Public bool   `json:"public,omitempty"`
	// Key makes a repeated request of an account one message; "" for none.
	Key string `json:"-"`
}

// A Worker is a worker as staff sees it.
type Worker struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Pool        string    `json:"pool"`
	Kinds       []string  `json:"kinds"`
	Slots       int       `json:"slots"`
	Busy        int       `json:"busy"`
	Version     string    `json:"version,omitempty"`
	Seen        time.Time `json:"seen"`
	Gone        bool      `json:"gone,omitempty"`  // it has not been heard of for a minute
	Unfit       string    `json:"unfit,omitempty"` // why it takes nothing
	Quarantined bool      `json:"quarantined,omitempty"`
	Draining    bool      `json:"draining,omitempty"`
}

// For is a message as a reader sees it: an announcement of all or of its team, its own
// questions with their answers, and published answers without their team's name. ok is false if
// the reader may not see it.
func (m Message) For(who Who, now time.Time) (shown Message, ok bool) {
	if m.At.After(now) {
		return m, false
	}
	if who.Role.Staff() {
		return m, true
	}
	m.Claim = ""
	if m.Team != "" && m.Team == who.Team {
		return m, true
	}
	if m.Kind == "announcement" && m.Team == "" {
		return m, true
	}
	if m.Kind == "answer" && m.Public {
		m.Team, m.To = "", ""
		return m, true
	}
	return m, false
}
