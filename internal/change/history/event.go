package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
)

// EventVersion is the version of a journal line; readers refuse a larger one.
const EventVersion = 1

// A What is the kind of an Event. Readers keep and ignore unknown kinds, so that
// a kind can be added without a new EventVersion.
type What string

const (
	RunBegun   What = "run-begun"   // a number was reserved
	RunSaved   What = "run-saved"   // run.json is on disk
	ChangeMade What = "change-made" // change.json is on disk, at stage planned
	Staged     What = "stage"       // a change moved to Stage
	OpBegun    What = "op-begun"    // the op is about to change the host
	OpDone     What = "op-done"     // the op has changed the host
	OpDeferred What = "op-deferred" // the op's host, Text, does not answer: it is done later
	Judged     What = "judged"      // a Verdict was reached
	Noted      What = "note"        // a text for people
	Frozen     What = "frozen"      // changes of the site are refused from here on; Text is the reason
	Opened     What = "opened"      // they are allowed again; Text is the reason
	Settled    What = "settled"     // the damage before it was examined; Text is the result
	RunKept    What = "run-kept"    // people go on from the state of Run
)

// A Side is the list of a change's ops that an event refers to.
type Side string

const (
	Do   Side = "do"
	Undo Side = "undo"
)

// An Event is one line of the journal. Its What determines which fields are set.
type Event struct {
	Version int       `json:"v"`
	Seq     int64     `json:"seq"` // counts up from 1
	At      time.Time `json:"at"`
	What    What      `json:"what"`

	Run     iikanji.RunID    `json:"run,omitempty"`
	Outcome iikanji.Outcome  `json:"outcome,omitzero"` // of RunSaved
	Score   float64          `json:"score,omitempty"`  // of RunSaved
	Change  iikanji.ChangeID `json:"change,omitempty"`
	Stage   iikanji.Stage    `json:"stage,omitzero"` // of Staged
	Side    Side             `json:"side,omitempty"` // of OpBegun, OpDone and OpDeferred
	Op      int              `json:"op,omitempty"`   // of OpBegun, OpDone and OpDeferred, from 1
	Verdict *iikanji.Verdict `json:"verdict,omitempty"`
	Text    string           `json:"text,omitempty"`
}

// A newerError is the error for a file of a newer version of iikanji.
type newerError struct {
	what      string
	got, want int
}

func (e *newerError) Error() string {
	return fmt.Sprintf("%s has version %d, this iikanji reads up to %d", e.what, e.got, e.want)
}

// Hints returns what to do about the error.
func (e *newerError) Hints() []string { return []string{"use the newer iikanji that wrote it"} }

// parseEvent reads one journal line without its newline.
func parseEvent(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		// A newer version may have changed the type of a field: decode the
		// version alone before treating the line as bad.
		var v struct {
			Version int `json:"v"`
		}
		if json.Unmarshal(line, &v) == nil && v.Version > EventVersion {
			return Event{}, &newerError{"an event", v.Version, EventVersion}
		}
		return Event{}, err
	}
	switch {
	case e.Version > EventVersion:
		return Event{}, &newerError{"an event", e.Version, EventVersion}
	case e.Version < 1:
		return Event{}, fmt.Errorf("no version")
	case e.Seq < 1:
		return Event{}, fmt.Errorf("no sequence number")
	case e.What == "":
		return Event{}, fmt.Errorf("no kind of event")
	case e.Run < 0 || e.Change < 0 || e.Op < 0:
		return Event{}, fmt.Errorf("negative number")
	}
	return e, nil
}

// line encodes the event as one journal line, newline included.
func (e *Event) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // Encode ends with a newline and writes no other
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
