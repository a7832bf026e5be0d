package workers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[wanted](change.Act{
		Help:   "any of these together",
		Belief: change.Belief{Chance: 0.5, Gain: 0.2}, Worth: change.WorthIndex, // processes take memory
	}),
}

// wanted holds the arguments of a remedy.
type wanted struct {
	Workers int `arg:"workers" range:"1,64" help:"processes that answer requests"`
	Threads int `arg:"threads" range:"1,128" help:"threads of each process"`
}

// Validate refuses a remedy without arguments.
func (w *wanted) Validate() error {
	if w.Workers == 0 && w.Threads == 0 {
		return errors.New("no argument is given")
	}
	return nil
}

// says describes the change in words.
func (w *wanted) says() string {
	var parts []string
	if w.Workers > 0 {
		parts = append(parts, fmt.Sprintf("%d processes", w.Workers))
	}
	if w.Threads > 0 {
		parts = append(parts, fmt.Sprintf("%d threads in each process", w.Threads))
	}
	return strings.Join(parts, ", ")
}

func match(r iikanji.Remedy) (change.Act, *wanted, error) { return change.MatchAct[*wanted](acts, r) }

// Help implements change.Kind.
func (Kind) Help() string {
	return "How many processes and threads an app server runs: gunicorn, uvicorn, puma, unicorn, Node.js with cluster, pm2. The target is the app's service. Needs a restart."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}
