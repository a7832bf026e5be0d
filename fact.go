package iikanji

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
}
