package gocode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/rewrite"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[fixArgs](change.Act{
		Help: "apply the fixes of code levers in one function of a Go app",
		// Measured by hand on a tuned isucondition: the six levers of the reading and
		// the writing side gave 3 to 20 % each, and 2.6 times together.
		Belief: change.Belief{Chance: 0.5, Gain: 0.10}, Worth: change.WorthLine, Rewrites: true,
	}),
}

// fixArgs are the arguments: the place of the fixes.
type fixArgs struct {
	Levers  codes  `arg:"levers,required" help:"codes of the levers, separated by commas, in the order in which their fixes are made"`
	File    string `arg:"file,required" help:"the file, relative to the source folder"`
	Func    string `arg:"func" help:"the enclosing function, as in list or (*app).list; none at package level"`
	Place   string `arg:"place" help:"what a lever reports of one place, where only that place is meant"`
	Variant string `arg:"variant" help:"title of the fix, where a place has several"`
}

// Refine implements change.Refiner: a knob may be turned in a direction that gains
// nothing as long as another limit binds.
func (f *fixArgs) Refine(a *change.Act) {
	switch {
	case f.Variant != "":
		a.Belief = change.Belief{Chance: 0.25, Gain: 0.15}
	case slices.Contains(f.Levers, queryCache):
		a.Apart, a.Worth = true, change.WorthState
	}
}

// Validate refuses paths that are not below the source folder.
func (f *fixArgs) Validate() error {
	if len(f.Levers) > 1 && slices.Contains(f.Levers, queryCache) {
		return fmt.Errorf("levers: %s is planned from all of the source, so it stands alone", queryCache)
	}
	if f.File == "" || f.File != change.LocalName(f.File) {
		return fmt.Errorf("file: want a path below the source folder, as in main.go, not %.80q", f.File)
	}
	return nil
}

// codes are codes of levers.
type codes []string

var codeForm = regexp.MustCompile(`^APP2[0-9]{2}$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (cs *codes) UnmarshalText(b []byte) error {
	for word := range strings.SplitSeq(string(b), ",") {
		word = strings.TrimSpace(word)
		if !codeForm.MatchString(word) || rewrite.Lookup(word) == nil {
			return fmt.Errorf("%.40q is not the code of a lever", word)
		}
		if !slices.Contains(*cs, word) {
			*cs = append(*cs, word)
		}
	}
	return nil
}

// Help implements change.Kind.
func (Kind) Help() string {
	return "A rewrite of a Go app's source by a code lever. It is compiled and vetted first; then a restart builds it. The target is the service that has a source folder."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}

func match(r iikanji.Remedy) (change.Act, *fixArgs, error) { return change.MatchAct[*fixArgs](acts, r) }
