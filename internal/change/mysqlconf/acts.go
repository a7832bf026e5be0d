package mysqlconf

import (
	"errors"
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[settingArgs](change.Act{
		Help:   "set one or more variables that are about memory, flushing, caches, threads and logs",
		Belief: change.Belief{Chance: 0.2, Gain: 0.02}, Worth: change.WorthLine, Simplifies: true,
	}),
}

// settingArgs are variables with their values.
type settingArgs struct {
	Values map[string]string `arg:"NAME,many" help:"the value of the variable NAME, as innodb_buffer_pool_size = 512M, innodb_flush_log_at_trx_commit = 2 (weakens durability), max_connections = 300"`
}

// Validate checks the values against the forms of the variables.
func (a *settingArgs) Validate() error {
	if len(a.Values) == 0 {
		return errors.New("no variable to set")
	}
	for _, name := range slices.Sorted(maps.Keys(a.Values)) {
		if err := check(name, a.Values[name]); err != nil {
			return err
		}
	}
	return nil
}

// Refine implements change.Refiner: the belief is that of the variable with the
// largest expected gain.
func (a *settingArgs) Refine(act *change.Act) {
	for name := range a.Values {
		set := settings[name]
		if set.belief.Product() > act.Belief.Product() {
			act.Belief = set.belief
		}
		if set.blinds {
			act.Blinds = []iikanji.Source{iikanji.Slow}
		}
	}
}

func match(r iikanji.Remedy) (change.Act, *settingArgs, error) {
	return change.MatchAct[*settingArgs](acts, r)
}

// Help implements change.Kind.
func (Kind) Help() string {
	return "Variables of MariaDB and MySQL, in a file that the server reads last and in the running server. The target is the database's service. Needs a restart where the server cannot take the value while it runs."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}
