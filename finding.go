package iikanji

// A Code is the permanent identifier of a cause: DB1xx queries and indexes, DB2xx server,
// WEB1xx proxy, APP1xx application, OS1xx host, BEN1xx measurement. Each has a
// page docs/findings/<CODE>.md.
type Code string

// A Finding is a cause of lost time, with its evidence and its remedies.
type Finding struct {
	Code     Code       `json:"code"`
	Where    string     `json:"where"` // route, digest, table, host
	Claim    string     `json:"claim"` // one sentence for human readers; no code branches on it
	Evidence []Evidence `json:"evidence"`
	Gain     Range      `json:"gain_seconds"` // seconds of the binding resource per run
	Remedies []Remedy   `json:"remedies"`     // best first
}

// An Evidence is one profile row or fact that a rule matched.
type Evidence struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// A Remedy is a request to plan a Change of a kind. It names the intention, not
// the statements.
type Remedy struct {
	Kind   string            `json:"kind"` // ddl, mysqlconf, nginxconf, sysctl, appenv, patch, topology
	Target string            `json:"target"`
	Args   map[string]string `json:"args,omitempty"`
	Says   string            `json:"says"`
}
