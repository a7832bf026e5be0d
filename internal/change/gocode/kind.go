package gocode

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func init() { change.Register(Kind{}) }

// Kind plans rewrites of Go source. Remedy.Target is the service; see acts.go for
// the arguments.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "gocode" }

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, args, err := match(r)
	if err != nil {
		return nil, err
	}
	source, err := s.SourceOf(r.Target)
	if err != nil {
		return nil, err
	}
	schema, err := liveSchema(ctx, s)
	if err != nil {
		return nil, err
	}
	svc := s.Services[r.Target]
	t := &task{args: args, schema: schema, service: r.Target, seen: r.Seen, copy: change.SourceCopy{Source: source, On: svc.Host}}
	err = s.InSourceCopy(ctx, svc, source, func(h host.Host, dir string) error {
		if err := t.rewrite(ctx, s, h, dir); err != nil {
			return err
		}
		if t.copy.Empty() {
			return change.ErrNothing
		}
		if err := t.prove(ctx, h, svc, dir); err != nil {
			return err
		}
		t.own, err = s.RunOwnTests(ctx, svc, source, dir)
		return err
	})
	if err != nil {
		return nil, err
	}
	edits, err := t.copy.Edits(s)
	if err != nil {
		return nil, err
	}
	if len(edits) == 0 && len(t.refused) > 0 {
		return nil, &NoFixError{Reasons: t.refused}
	}
	if len(edits) == 0 {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Weakens: promise.Rewrite(t.tested, t.declared...), Risk: iikanji.RiskRestart, Says: t.says(edits)}
	s.FromSource(c, edits...)
	return c, nil
}

// A NoFixError is a remedy whose places have no automatic fix. It is a change.ErrNothing:
// there is nothing to do.
type NoFixError struct {
	Reasons []string // the condition of each place that does not hold, with its line
}

func (e *NoFixError) Error() string { return "no automatic fix: " + strings.Join(e.Reasons, "; ") }

func (e *NoFixError) Unwrap() error { return change.ErrNothing }

// A DefectError is a rewrite that does not build or that go vet complains about,
// although the source did before. The lever is wrong, not the site.
type DefectError struct {
	Levers []string
	Func   string
	Err    error
}

func (e *DefectError) Error() string {
	return fmt.Sprintf("a defect of iikanji: the rewrite of %s by %s is refused: %v", placeOf(e.Func), strings.Join(e.Levers, ", "), e.Err)
}

func (e *DefectError) Unwrap() error { return e.Err }

// Hints returns what to do about the error.
func (e *DefectError) Hints() []string {
	return []string{"please report it with the function's source; nothing was changed"}
}

var errNoPlace = errors.New("it has no such function any more")

func placeOf(function string) string {
	if function == "" {
		return "a declaration"
	}
	return function
}
