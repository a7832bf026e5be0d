package iikanji

import "slices"

// A Code is the permanent identifier of a cause: DB1xx queries and indexes, DB2xx server,
// KV1xx caches (Redis, memcached), WEB1xx proxy, APP1xx application, OS1xx host, BEN1xx measurement. Each has a
// page docs/findings/<CODE>.md.
type Code string

// A Basis is what the seconds of a gain are a part of.
type Basis uint8

const (
	OfCPU        Basis = iota // the CPU time of all cores
	OfStatements              // the time of all statements
)

// A Nature is what all findings of a cause have in common, by its declaration. It is not in
// JSON: a reader of findings has the codes.
type Nature struct {
	Of Basis
	// Doubt: the finding doubts the measurement. It does not name a cause of lost time.
	// Doubts come before all causes and have no rank.
	Doubt bool
	// Inside: the finding is a place or a symptom inside of the app, where another finding
	// may have the same cause as a statement, a route or a table.
	Inside bool
}

// A Finding is a cause of lost time, with its evidence and its remedies.
type Finding struct {
	Code     Code       `json:"code"`
	Where    string     `json:"where"` // route, digest, table, host
	Claim    string     `json:"claim"` // one sentence for human readers; no code branches on it
	Evidence []Evidence `json:"evidence"`
	Gain     Range      `json:"gain_seconds"` // seconds of the binding resource per run
	// More is ln(work of the site without the omission / its work now) for code that leaves
	// out a share of the work on purpose; 0 for all other findings. Gain does not contain it.
	More     float64  `json:"more_work,omitempty"`
	Remedies []Remedy `json:"remedies"` // best first
	Nature   `json:"-"`
}

// An Evidence is one profile row or fact that a rule matched.
type Evidence struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// A Remedy is a request to plan a Change of a kind. It names the intention, not
// the statements.
type Remedy struct {
	Kind   string            `json:"kind"` // ddl, mysqlconf, nginxconf, sysctl, appenv, patch …, or KindPerson
	Target string            `json:"target"`
	Args   map[string]string `json:"args,omitempty"`
	Says   string            `json:"says"`
	// Proof is what the observed run proved about the site. Only package diagnose
	// sets it, and package ladder for an arena, whose checks hold it; the remedies of
	// a user's file or of a proposer have none. Kinds compute from it which promises
	// the change weakens.
	Proof []Proof `json:"proof,omitempty"`
	// Unsorted are the statements of the observed run whose rows may come in another order
	// with the change, each with its place. Only package diagnose sets it.
	Unsorted []string `json:"unsorted,omitempty"`
	// Seen are texts of statements that the observed run had and that the app's source does not
	// show, as those of a mapper: with placeholders for their values, each in the forms in which
	// the app may have sent it. Only package diagnose sets it.
	Seen []string `json:"seen,omitempty"`
}

// A Proof is a property of the site that an observed run proved.
type Proof string

const (
	// RowsSorted: no statement whose rows the change could bring in another order left their
	// order to the server.
	RowsSorted Proof = "rows-sorted"
	// SameForAll: two signed-in users and a client without credentials got the
	// same answer from the path, and no header that varied in the run changed it.
	SameForAll Proof = "same-for-all"
	// SameAsFile: the application answered the path with the bytes of the file.
	SameAsFile Proof = "same-as-file"
	// Unchanged: no URL of the path had another answer during the run.
	Unchanged Proof = "unchanged"
)

// KindPerson is the kind of remedies that a person has to do: no kind of change plans them.
const KindPerson = "person"

// ByPerson is a remedy that a person has to do. Its target is what it is about: a service,
// a host, a sensor.
func ByPerson(target, says string) Remedy {
	return Remedy{Kind: KindPerson, Target: target, Says: says}
}

// ForPerson reports whether a person has to do a remedy. Histories of before version 0.1
// name the kind topology, without an act.
func (r Remedy) ForPerson() bool {
	return r.Kind == KindPerson || r.Kind == "topology" && r.Args["act"] == ""
}

// Proves reports whether the observed run proved a property.
func (r Remedy) Proves(p Proof) bool { return slices.Contains(r.Proof, p) }
