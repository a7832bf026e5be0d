package progress

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
)

// File is the name of the file in the history's folder.
const File = "progress.json"

// Version is the version of the file; Read refuses a larger one.
const Version = 1

// maxFile bounds what Read reads.
const maxFile = 1 << 20

// A State is what a command does now.
type State struct {
	Version int       `json:"version"`
	Command string    `json:"command"` // tune or bench
	Target  string    `json:"target"`
	PID     int       `json:"pid"`
	Began   time.Time `json:"began"`
	At      time.Time `json:"at"` // of the latest update
	// Ended is true after the command ended; Result is its result in words.
	Ended  bool   `json:"ended,omitempty"`
	Result string `json:"result,omitempty"`

	Phase  string            `json:"phase,omitempty"` // of the search
	Doing  string            `json:"doing,omitempty"`
	Why    string            `json:"why,omitempty"`
	Pairs  int               `json:"pairs,omitempty"`
	Effect *iikanji.Interval `json:"effect,omitempty"` // on ln(score)
	Score  float64           `json:"score,omitempty"`  // geometric mean of the incumbent
	First  float64           `json:"first,omitempty"`  // the same of the untouched site
	Runs   int               `json:"runs,omitempty"`
	Tried  int               `json:"tried,omitempty"`
	Kept   int               `json:"kept,omitempty"`
	Left   time.Duration     `json:"left_ns,omitempty"`

	Run   Run    `json:"run"`
	Lines []Line `json:"lines,omitempty"` // the latest messages, oldest first
}

// A Run is the state of the present run.
type Run struct {
	Phase    string        `json:"phase,omitempty"`
	Elapsed  time.Duration `json:"elapsed_ns,omitempty"`
	Left     time.Duration `json:"left_ns,omitempty"`
	Score    float64       `json:"score,omitempty"`
	Requests int64         `json:"requests,omitempty"`
	Errors   int64         `json:"errors,omitempty"`
	Timeouts int64         `json:"timeouts,omitempty"`
	Growth   []float64     `json:"growth,omitempty"` // points of each second of the load
}

// A Line is one message with its time.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Read reads the state in a history's folder. The error for a folder without one
// is fs.ErrNotExist.
func Read(dir string) (*State, error) {
	path := filepath.Join(dir, File)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("reading %s: it is not a file of at most %d bytes", File, maxFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(b)
}

func parse(b []byte) (*State, error) {
	s := new(State)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("reading %s: %w", File, err)
	}
	if s.Version < 1 || s.Version > Version {
		return nil, fmt.Errorf("%s has version %d, this iikanji reads version %d", File, s.Version, Version)
	}
	return s, nil
}

// Running reports whether the process that wrote the state still runs.
func (s *State) Running() bool {
	if s.Ended || s.PID <= 0 {
		return false
	}
	err := syscall.Kill(s.PID, 0)
	return err == nil || err == syscall.EPERM
}
