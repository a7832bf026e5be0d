package iikanji

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A ChangeID counts up from 1 within one history and is never reused.
type ChangeID int

// A Change is a planned modification with its undo operations, both as data. It
// is planned from one reading of the state.
type Change struct {
	ID      ChangeID `json:"id"`
	Kind    string   `json:"kind"`
	Target  string   `json:"target"`
	Answers Code     `json:"answers,omitempty"` // code of the Finding that it remedies
	// Remedy is what it was planned from, without proofs. It names its places by
	// anchors (server, location, upstream, table), so that the same change can be
	// planned on another machine.
	Remedy  *Remedy     `json:"remedy,omitempty"`
	Says    string      `json:"says"`
	Ground  Fingerprint `json:"ground"` // the state it was planned on; it is not applied to any other state
	Do      []Op        `json:"do"`
	Undo    []Op        `json:"undo"`
	Weakens []Promise   `json:"weakens,omitempty"` // the target's Policy must allow each
	Risk    Risk        `json:"risk"`
	// Worth is the least effect on ln(score) that is worth keeping; 0 if the
	// history does not record it.
	Worth float64 `json:"worth,omitempty"`
	// Simplifies marks a change that removes work or state, or adds none. It may
	// be kept without a proven gain.
	Simplifies bool `json:"simplifies,omitempty"`
	// Prepares marks a change that the site does not use yet. The same remedy, planned again
	// once it is applied, is the change that uses it.
	Prepares bool  `json:"prepares,omitempty"`
	Stage    Stage `json:"stage"`
}

// An Op is one operation on one place. Only package host performs Ops.
type Op struct {
	Verb   Verb        `json:"verb"`
	Host   string      `json:"host,omitempty"` // HostRef.Name; empty: this machine
	Place  string      `json:"place"`          // file, table, variable or service
	Body   string      `json:"body"`           // content, statement or command
	Expect Fingerprint `json:"expect,omitempty"`
	// Mode and Owner are those of a file that Write makes again after its removal:
	// the bits of chmod(2), and "user:group" by their ids. 0 and "" are the default.
	Mode  uint32 `json:"mode,omitempty"`
	Owner string `json:"owner,omitempty"`
	// Folder: the folder of the file exists only with the change. Write makes it if it
	// is missing, and Remove removes it with its last file.
	Folder bool `json:"folder,omitempty"`
	// After has the numbers of the ops of the same list, from 1, that must be done before
	// this one, as in "1 3"; "" is all before it, and "-" is none. An undo leaves the ops of
	// a lost host for later if no other op waits for them.
	After string `json:"after,omitempty"`
}

// Location is the op's place with its host, so that places of the same path on
// two hosts differ. On this machine it is the place itself.
func (o Op) Location() string {
	if o.Host == "" {
		return o.Place
	}
	return o.Host + ":" + o.Place
}

// opJSON is the JSON form of an Op. JSON strings can contain only text. A body
// with other bytes, such as a compressed file, is base64 in a separate field.
type opJSON struct {
	plainOp
	Bytes []byte `json:"body_base64,omitempty"`
}

type plainOp Op // without Op's methods

// MarshalJSON encodes an op so that UnmarshalJSON restores its body byte for byte.
func (o Op) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(o.Body) {
		return json.Marshal(plainOp(o))
	}
	j := opJSON{plainOp: plainOp(o), Bytes: []byte(o.Body)}
	j.Body = ""
	return json.Marshal(j)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (o *Op) UnmarshalJSON(b []byte) error {
	var j opJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Bytes != nil {
		if j.Body != "" {
			return fmt.Errorf("an op on %s has two bodies", j.Place)
		}
		j.Body = string(j.Bytes)
	}
	*o = Op(j.plainOp)
	return nil
}

// A Verb is the kind of an Op. The bodies of Unit, Place and Account have the whole state
// after the op, so that such an op may be performed again at any time.
type Verb uint8

const (
	VerbUnknown Verb = iota
	SQL              // a statement on a database
	Write            // a file's whole content
	Remove           // a file
	Restart          // a service
	Reload           // a service's configuration
	Unit             // whether a systemd unit is active and enabled
	Place            // a folder, put in place of another one
	Account          // an account of a database
)

var verbWords = []string{"unknown", "sql", "write", "remove", "restart", "reload", "unit", "place", "account"}

func (v Verb) String() string               { return wordOf(verbWords, v) }
func (v Verb) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText accepts the words that String prints.
func (v *Verb) UnmarshalText(b []byte) error { return parseWord(verbWords, b, v, "verb") }

// A Promise is a guarantee of the site to its users or owners that a Change may
// weaken.
type Promise uint8

const (
	PromiseUnknown Promise = iota
	Durability             // committed data survive a crash
	Freshness              // answers show the newest data
	RowOrder               // the order of a query without ORDER BY
	Observability          // logs
	Availability           // every request gets an answer
	Privacy                // an answer reaches only the client that it was made for
	Isolation              // the statements of a transaction see one state of the data
	TestedOnly             // every rewrite of source is proven by types and flow, not by tests only
	Behaviour              // the rules that the application's own code decides by, such as limits and shares
)

var promiseWords = []string{"unknown", "durability", "freshness", "row-order", "observability", "availability", "privacy", "isolation", "tested-only", "behaviour"}

func (p Promise) String() string               { return wordOf(promiseWords, p) }
func (p Promise) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts the words that String prints.
func (p *Promise) UnmarshalText(b []byte) error { return parseWord(promiseWords, b, p, "promise") }

// A Risk is the worst effect on a running site while a Change is applied.
type Risk uint8

const (
	RiskUnknown Risk = iota
	RiskNone
	RiskReload
	RiskRestart
	RiskLock // locks tables while it is applied
	RiskData
)

var riskWords = []string{"unknown", "none", "reload", "restart", "lock", "data"}

func (r Risk) String() string               { return wordOf(riskWords, r) }
func (r Risk) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText accepts the words that String prints.
func (r *Risk) UnmarshalText(b []byte) error { return parseWord(riskWords, b, r, "risk") }

// A Stage is a Change's state in its life cycle. The only legal transitions:
// planned|reverted → applying → applied → kept; applying|applied|kept|stuck → reverting → reverted|stuck.
// A trial reverts a change and applies it again, once for each pair of runs.
type Stage uint8

const (
	StageUnknown Stage = iota
	Planned
	Applying
	Applied
	Kept
	Reverting
	Reverted
	Stuck
)

var stageWords = []string{"unknown", "planned", "applying", "applied", "kept", "reverting", "reverted", "stuck"}

func (s Stage) String() string               { return wordOf(stageWords, s) }
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// May reports whether the transition from s to next is legal.
func (s Stage) May(next Stage) bool {
	switch next {
	case Planned:
		return s == StageUnknown
	case Applying:
		return s == Planned || s == Reverted
	case Applied:
		return s == Applying
	case Kept:
		return s == Applied
	case Reverting:
		// A kept change may be reverted later. Reverting a stuck change may be retried.
		return s == Applying || s == Applied || s == Kept || s == Stuck
	case Reverted, Stuck:
		return s == Reverting
	}
	return false
}

// UnmarshalText accepts the words that String prints.
func (s *Stage) UnmarshalText(b []byte) error { return parseWord(stageWords, b, s, "stage") }
