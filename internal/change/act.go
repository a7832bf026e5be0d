package change

import "github.com/iikanji/iikanji"

// An Act is one thing that a kind can plan: its arguments and what is known of it before any run.
type Act struct {
	Name   string // as in Remedy.Args["act"]; "" for a kind with one act
	Help   string // one line
	Args   []Arg
	Belief Belief
	// Worth is the least effect on ln(score) that is worth keeping.
	Worth  float64
	Blinds []iikanji.Source // sensors that see less once it is applied
	Lasts  Lasting          // how it survives the benchmark's initialize
	// Simplifies: a change of this act removes work or state, or adds none, so that it may be kept without a proven gain.
	Simplifies bool
}

// An Arg is one argument of an act.
type Arg struct {
	Name, Help string
	Required   bool
	Default    string
}

// A Belief is how often a change of an act is kept, and the expected gain on
// ln(score) when it is.
type Belief struct{ Chance, Gain float64 }

// Lasting is how a change survives the benchmark's initialize.
type Lasting uint8

const (
	LastsAlways       Lasting = iota // in files that initialize does not touch
	LastsInSchemaFile                // with Remedy.Args["into"] = "schema file"
	LastsUntilRestart
)
