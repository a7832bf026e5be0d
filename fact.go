package iikanji

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Fact is one item of the state of a service or host: a table's columns and
// indexes, a plan, a variable, a directive.
type Fact struct {
	Host   string `json:"host,omitempty"` // HostRef.Name; empty: this machine
	Target string `json:"target"`         // name of the service or host
	Topic  string `json:"topic"`          // schema, plan, variable, directive, limit
	Key    string `json:"key"`
	Value  string `json:"value"`
	// Moves marks facts that change by themselves; a Fingerprint excludes them.
	Moves bool `json:"moves,omitempty"`
	// Data is what the fact says, of the type that its topic has. A history has Value
	// instead, in JSON. A fact that was read from one has both. Data is shared by all copies
	// of the fact: it is not changed once it is in one.
	Data any `json:"-"`
}

// Encoded is the fact as a history has it: with Data as Value, as a copy of its own.
func (f Fact) Encoded() (Fact, error) {
	if f.Data == nil || f.Value != "" { // a Value from a history stays as it was written
		f.Data = nil
		return f, nil
	}
	text, err := json.Marshal(f.Data)
	if err != nil {
		return f, fmt.Errorf("encoding the fact %s %s: %w", f.Topic, f.Key, err)
	}
	f.Value, f.Data = string(text), nil
	return f, nil
}

// MarshalJSON implements json.Marshaler.
func (f Fact) MarshalJSON() ([]byte, error) {
	f, err := f.Encoded()
	if err != nil {
		return nil, err
	}
	type plain Fact
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the encoder around does it, unless it is told not to
	err = enc.Encode(plain(f))
	return b.Bytes(), err
}
