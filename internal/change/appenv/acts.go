package appenv

import (
	"errors"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[wanted](change.Act{
		Help:   "any of these together",
		Belief: change.Belief{Chance: 0.3, Gain: 0.03}, Worth: change.WorthLine, Simplifies: true,
	}),
}

// wanted holds the arguments of a remedy.
type wanted struct {
	Env  map[string]string `arg:"env.NAME,many" help:"a value for the variable NAME, one of those that are known to be about speed, as env.GOGC = 400 or env.GOMAXPROCS = 2"`
	DSN  dsnParts          `arg:"dsn" help:"parameters of go-sql-driver/mysql, joined by &, as interpolateParams=true; socket among them: the database's unix socket"`
	Pool int               `arg:"pool" range:"1,10000" help:"how many connections to the database may be open at least, and stay open when idle; a higher limit stays"`
	Log  string            `arg:"log" oneof:"off" help:"off: no debug log and no line per request"`
	// Profiler is for the end of a day: it gains nothing in a run that nobody profiles.
	Profiler string `arg:"profiler" oneof:"off" help:"off: no profiler of the app's own: handlers of net/http/pprof, rates of blocking and of mutexes"`
}

// Validate refuses a remedy without arguments.
func (w *wanted) Validate() error {
	if len(w.Env) == 0 && !w.dsn() && w.Pool == 0 && !w.quiet() && !w.unprofiled() {
		return errors.New("no argument is given")
	}
	return nil
}

// dsn reports whether the remedy changes the DSN.
func (w *wanted) dsn() bool { return len(w.DSN.params) > 0 || w.DSN.socket }

// quiet reports whether the remedy turns the debug log off.
func (w *wanted) quiet() bool { return w.Log == "off" }

// unprofiled reports whether the remedy turns the app's profilers off.
func (w *wanted) unprofiled() bool { return w.Profiler == "off" }

// Refine implements change.Refiner: the belief is that of the argument with the
// largest expected gain.
func (w *wanted) Refine(act *change.Act) {
	for _, b := range []struct {
		asked  bool
		belief change.Belief
	}{
		{w.dsn(), change.Belief{Chance: 0.7, Gain: 0.10}},
		{w.Pool > 0, change.Belief{Chance: 0.5, Gain: 0.10}},
		{w.quiet(), change.Belief{Chance: 0.5, Gain: 0.05}},
	} {
		if b.asked && b.belief.Product() > act.Belief.Product() {
			act.Belief = b.belief
		}
	}
	if w.quiet() {
		act.Blinds = []iikanji.Source{iikanji.Errors}
	}
}

func match(r iikanji.Remedy) (change.Act, *wanted, error) { return change.MatchAct[*wanted](acts, r) }

// Help implements change.Kind.
func (Kind) Help() string {
	return "How the application is set up. The target is the app's service. Needs a restart."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}
