package iikanji

// A Fact is what a service says of itself: a table's columns and indexes, a
// plan, a variable, a directive.
type Fact struct {
	Target string `json:"target"` // service or host
	Topic  string `json:"topic"`  // schema, plan, variable, directive, limit
	Key    string `json:"key"`
	Value  string `json:"value"`
	// Moves marks facts that change by themselves; they are no part of a Fingerprint.
	Moves bool `json:"moves,omitempty"`
}
