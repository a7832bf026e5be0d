package change

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

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
	// Rewrites: a change of this act rewrites the source of an app, so that the
	// answers of both builds are compared before its runs.
	Rewrites bool
	// Apart: a change of this act is planned from all of the source, so that it is tried
	// alone, after other rewrites.
	Apart bool
	// Prepares: the remedy plans a change that prepares the site, and planned again, with that
	// one applied, the change that uses it. It decides where its target runs, so that earlier
	// and later changes of the target are undone in order.
	Prepares bool
	// Simplifies: a change of this act removes work or state, or adds none, so
	// that it may be kept without a proven gain. See Plan for the promises that
	// end this.
	Simplifies bool
}

// An Arg is one argument of an act.
type Arg struct {
	Name, Help string
	Required   bool
	Default    string
	// Many: the Arg stands for any number of arguments; Name is what their
	// names begin with, and NAME.
	Many bool
}

// A Belief is how often a change of an act is kept, and the expected gain on
// ln(score) when it is. Beliefs only order trials; the judge never sees them.
// Their source is contest machines with two cores: ten indexes 2.2×, a
// connection pool +21 %, the commit path +13 %, buffer pool and
// performance_schema nothing measurable.
type Belief struct{ Chance, Gain float64 }

// Product is what a belief promises: chance times gain.
func (b Belief) Product() float64 { return b.Chance * b.Gain }

// Lasting is how a change survives the benchmark's initialize.
type Lasting uint8

const (
	LastsAlways       Lasting = iota // in files that initialize does not touch
	LastsInSchemaFile                // with Remedy.Args["into"] = "schema file"
	LastsUntilRestart
)

// Least effects on ln(score) that are worth keeping.
const (
	WorthLine  = 0.01 // of a reversible line of configuration
	WorthIndex = 0.02 // of an index: it slows down writes
	WorthState = 0.03 // of a change that adds state, or weakens durability or freshness
)

// A DeclaredAct is an act with the decoder of its arguments.
type DeclaredAct struct {
	Act
	decode func(args map[string]string) (any, error)
}

// A Refiner is the arguments of an act that change what is known of it: its
// belief, its worth, what it blinds.
type Refiner interface {
	Refine(a *Act)
}

// Declare makes an act whose arguments are the fields of A. See Decode.
func Declare[A any](a Act) DeclaredAct {
	a.Args = ArgsOf(new(A))
	return DeclaredAct{a, func(args map[string]string) (any, error) {
		into := new(A)
		return into, Decode(args, into)
	}}
}

// MatchAct finds the act of a remedy and decodes its arguments. A is the type of a
// pointer to the act's struct, or an interface that the pointers of all acts have.
func MatchAct[A any](acts []DeclaredAct, r iikanji.Remedy) (act Act, into A, err error) {
	name := r.Args["act"]
	var names []string
	for _, a := range acts {
		if a.Name != name {
			names = append(names, a.Name)
			continue
		}
		args, err := a.decode(r.Args)
		if err != nil {
			if name != "" {
				err = fmt.Errorf("act %q: %w", name, err)
			}
			return act, into, err
		}
		if r, ok := args.(Refiner); ok {
			r.Refine(&a.Act)
		}
		return a.Act, args.(A), nil
	}
	if len(acts) == 1 && acts[0].Name == "" {
		return act, into, fmt.Errorf("no act %q; this kind has one act without a name", name)
	}
	return act, into, fmt.Errorf("no act %q; there are %s", name, strings.Join(names, ", "))
}

// ActsOf lists acts without their decoders.
func ActsOf(acts []DeclaredAct) []Act {
	all := make([]Act, 0, len(acts))
	for _, a := range acts {
		all = append(all, a.Act)
	}
	return all
}
