package iikanji

// A Fact is one reading of a service's or host's own state: a table's columns
// and indexes, a plan, a variable, a directive.
type Fact struct {
	Host   string `json:"host,omitempty"` // HostRef.Name; empty: this machine
	Target string `json:"target"`         // name of the service or host
	Topic  string `json:"topic"`          // schema, plan, variable, directive, limit
	Key    string `json:"key"`
	Value  string `json:"value"`
	// Moves marks facts that change by themselves; a Fingerprint leaves them out.
	Moves bool `json:"moves,omitempty"`
}
