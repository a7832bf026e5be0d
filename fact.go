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
	// Data is what the fact says, in the process that observed it, instead of Value.
	// A history has it as Value, in JSON. It is not changed once it is in a fact.
	Data any `json:"-"`
}

// Encoded is the fact as a history has it: with Data as Value.
func (f Fact) Encoded() (Fact, error) {
	if f.Data == nil {
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

// DataOf is what a fact says: its Data, or the decoded Value of a fact of a history.
func DataOf[T any](f Fact) (T, error) {
	if data, ok := f.Data.(T); ok {
		return data, nil
	}
	var data T
	if f, err := f.Encoded(); err != nil {
		return data, err
	} else if err := json.Unmarshal([]byte(f.Value), &data); err != nil {
		return data, fmt.Errorf("reading the fact %s %s: %w", f.Topic, f.Key, err)
	}
	return data, nil
}
