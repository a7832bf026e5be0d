package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan. A patch may add state, and nothing
// shows whether it does: hence its Worth.
var acts = []change.DeclaredAct{
	change.Declare[diffArgs](change.Act{
		Help:   "apply a unified diff; every line of context must match",
		Belief: change.Belief{Chance: 0.4, Gain: 0.10}, Worth: change.WorthState, Rewrites: true,
	}),
}

// diffArgs are the arguments of a patch. What source code does cannot be computed
// from its text: Weakens only adds to what the checks of the runs show.
type diffArgs struct {
	Diff    string   `arg:"diff,required" help:"a unified diff as git or diff -u print it; names are relative to the source folder, as a/main.go and b/main.go"`
	Says    string   `arg:"says" help:"what it does, one sentence"`
	Weakens promises `arg:"weakens" help:"promises that it takes away besides what the runs can show, separated by commas: durability, freshness, row-order, observability, availability, privacy"`
}

// match decodes the arguments. A remedy without a diff comes from a finding; its
// other arguments name what the patch is about.
func match(r iikanji.Remedy) (change.Act, *diffArgs, error) {
	if r.Args["diff"] == "" {
		return change.Act{}, nil, change.ErrNoDiff
	}
	return change.MatchAct[*diffArgs](acts, r)
}

// Help implements change.Kind.
func (Kind) Help() string {
	return "A change of a service's source. It is compiled first; then a restart builds it. The target is the service that has a source folder."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}

const maxSays = 300 // bytes of the argument says

// sentence describes the change: the argument, or the remedy's own text.
func sentence(arg, remedy string) (string, error) {
	says := cmp.Or(arg, remedy, "patch the source")
	if len(says) > maxSays || strings.ContainsFunc(says, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return "", fmt.Errorf("says: want one line of at most %d bytes", maxSays)
	}
	return says, nil
}

// promises is a list of promises, "freshness,row-order".
type promises []iikanji.Promise

// UnmarshalText implements encoding.TextUnmarshaler.
func (ps *promises) UnmarshalText(b []byte) error {
	for word := range strings.SplitSeq(string(b), ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		var p iikanji.Promise
		if err := p.UnmarshalText([]byte(word)); err != nil || p == iikanji.PromiseUnknown {
			return fmt.Errorf("%q is not a promise", word)
		}
		if !slices.Contains(*ps, p) {
			*ps = append(*ps, p)
		}
	}
	return nil
}
