package cause_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	ruleset "github.com/iikanji/iikanji/internal/cause/all"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	kinds "github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all"
)

// findAll runs every rule. Each remedy must be one that its cause declares, and one that
// its kind of change accepts, or a person's work.
func findAll(in cause.Input) ([]iikanji.Finding, error) {
	fs, err := cause.Find(in, ruleset.Rules())
	for _, f := range fs {
		for _, r := range f.Remedies {
			if refused := refusal(in, f.Code, r); err == nil && refused != nil {
				err = fmt.Errorf("%s: the remedy %+v: %w", f.Code, r, refused)
			}
		}
	}
	return fs, err
}

func refusal(in cause.Input, code iikanji.Code, r iikanji.Remedy) error {
	if !slices.ContainsFunc(waysOf(code), func(w cause.Way) bool {
		s, named := in.Target.Service(r.Target)
		return w.Kind == r.Kind && w.Act == r.Args["act"] && (w.On == iikanji.RoleUnknown || !named || w.On == s.Role)
	}) {
		return errors.New("its cause does not declare it")
	}
	if _, err := kinds.Match(r); !errors.Is(err, kinds.ErrByHand) && !errors.Is(err, kinds.ErrNoDiff) {
		return err
	}
	return nil
}

// waysOf are the declared remedies of a cause.
func waysOf(code iikanji.Code) []cause.Way {
	for _, r := range ruleset.Rules() {
		for _, c := range r.Causes {
			if c.Code == code {
				return c.Remedies
			}
		}
	}
	for _, l := range diagnose.Levers() {
		if l.Code == code {
			return l.Remedies
		}
	}
	return nil
}
