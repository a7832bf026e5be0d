package api

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// What workers and a portal say to each other, as JSON over POST /worker/v1/NAME, with the
// worker's token as Bearer.

// A Register tells what a worker is. Boot is the boot id of its process: another one means
// that its attempts are lost.
type Register struct {
	Worker  string   `json:"worker"` // id, kept by the worker
	Name    string   `json:"name"`
	Kinds   []string `json:"kinds"`
	Slots   int      `json:"slots"`
	Boot    string   `json:"boot"`
	Version string   `json:"version"`
	Unfit   string   `json:"unfit,omitempty"`
}

// A Next asks for a job; the answer is an Assignment, or 204 after some seconds.
type Next struct {
	Worker string   `json:"worker"`
	Kinds  []string `json:"kinds"`
	Slot   int      `json:"slot"`
}

// An Assignment is a job for a worker. Epoch is its fencing token and Handle its secret.
type Assignment struct {
	Job     string          `json:"job"`
	Epoch   int64           `json:"epoch"`
	Attempt int             `json:"attempt"`
	Handle  string          `json:"handle"`
	Problem contest.Problem `json:"problem"`
	Target  string          `json:"target"`  // URL
	Targets []string        `json:"targets"` // all hosts of the team
	Seed    uint64          `json:"seed"`
	Local   bool            `json:"local"`
	Log     int             `json:"log"` // bytes of the log to keep
	// Ports are those that a foreign benchmarker may reach on the targets, beside their own;
	// none for all.
	Ports []int `json:"ports,omitempty"`
	// Check is asked of the target before the run; nil for none.
	Check *HostCheck `json:"check,omitempty"`
}

// A Claimed names an attempt.
type Claimed struct {
	Worker string `json:"worker"`
	Job    string `json:"job"`
	Epoch  int64  `json:"epoch"`
	Handle string `json:"handle"`
}

// A Beat is a heartbeat of an attempt, with its progress if it has changed.
type Beat struct {
	Claimed
	Progress *Progress `json:"progress,omitempty"`
}

// A BeatAnswer is continue, stop (end the load and finish) or gone (the attempt is no
// longer the current one: end the load, finish nothing).
type BeatAnswer struct {
	Do  string    `json:"do"`
	Now time.Time `json:"now"`
}

const (
	Continue = "continue"
	Stop     = "stop"
	Gone     = "gone"
)

// A Finish is the end of an attempt.
type Finish struct {
	Claimed
	Report Report `json:"report"`
}

// A Report is what a worker measured. Outcome unknown is an attempt that could not be run,
// interrupted one that was stopped.
type Report struct {
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
	Seed     uint64              `json:"seed"`
	Log      string              `json:"log,omitempty"`
	Stderr   string              `json:"stderr,omitempty"`
	Took     time.Duration       `json:"took_ns"` // of the slot
	Error    string              `json:"error,omitempty"`
	// Differs are pages that the site answered otherwise for the benchmarker than for a browser.
	Differs []string `json:"differs,omitempty"`
	// Refused is why the target could not be loaded: nothing was run, and nothing is charged.
	Refused string `json:"refused,omitempty"`
}

// A FinishAnswer says what became of a Finish: accepted, same (it was accepted before),
// superseded (of an old attempt; kept, not counted), conflict (another result was accepted)
// or unknown (there is no such job). Only a worker that gets no answer sends again.
type FinishAnswer struct {
	Became string `json:"became"`
}

const (
	Accepted   = "accepted"
	Same       = "same"
	Superseded = "superseded"
	Conflict   = "conflict"
	Unknown    = "unknown"
)
