package iikanji

// A Code names a cause for ever: DB1xx queries and indexes, DB2xx server,
// WEB1xx proxy, APP1xx application, OS1xx host, BEN1xx measurement. Each has a
// page docs/findings/<CODE>.md.
type Code string

// A Finding is a cause, with its proof and its cures.
type Finding struct {
	Code     Code       `json:"code"`
	Where    string     `json:"where"` // route, digest, table, host
	Claim    string     `json:"claim"` // one sentence for people; nothing branches on it
	Evidence []Evidence `json:"evidence"`
	Gain     Range      `json:"gain_seconds"` // seconds of the binding resource per run
	Remedies []Remedy   `json:"remedies"`     // best first
}

// An Evidence is one row or fact that made a rule fire.
type Evidence struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// A Remedy is what to ask a kind of change to plan: an intention, no statement.
type Remedy struct {
	Kind   string            `json:"kind"` // ddl, mysqlconf, nginxconf, sysctl, appenv, patch, topology
	Target string            `json:"target"`
	Args   map[string]string `json:"args,omitempty"`
	Says   string            `json:"says"`
}
