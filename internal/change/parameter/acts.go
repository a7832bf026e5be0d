package parameter

import (
	"errors"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[wanted](change.Act{
		Help: "set parameters of the benchmarker's command, each to another of its values",
		// Nothing is known of a program's own settings: a third of the values that are
		// tried are kept in the searches of bench/knobs.
		Belief: change.Belief{Chance: 0.3, Gain: 0.2}, Worth: change.WorthLine,
	}),
}

// wanted holds the arguments of a remedy.
type wanted struct {
	Values map[string]string `arg:"set.NAME,many" help:"value of the parameter NAME"`
}

// Validate refuses a remedy that sets nothing.
func (w *wanted) Validate() error {
	if len(w.Values) == 0 {
		return errors.New("no parameter is set; want set.NAME")
	}
	return nil
}

func match(r iikanji.Remedy) (change.Act, *wanted, error) { return change.MatchAct[*wanted](acts, r) }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Values of the parameters of a command, as declared below [[bench.parameter]]. The target is bench. Writes parameters.env beside iikanji.toml."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}
