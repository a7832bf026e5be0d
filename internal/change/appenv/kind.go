package appenv

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans the setup of an application. The package comment has its arguments.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "appenv" }

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc, ok := s.Services[r.Target]
	if !ok {
		return nil, fmt.Errorf("no service %q", r.Target)
	}
	_, w, err := match(r)
	if err != nil {
		return nil, err
	}
	if err := w.affordable(ctx, s); err != nil {
		return nil, err
	}
	env, err := readEnv(s, svc)
	if err != nil {
		return nil, err
	}
	if err := env.set(w); err != nil {
		return nil, err
	}
	src, err := w.inSource(s, svc, env)
	if err != nil {
		return nil, err
	}
	var edits []change.Edit
	if e, changed := env.edit(); changed {
		if err := withoutSecrets(e); err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	files, err := src.edits()
	if err != nil {
		return nil, err
	}
	if edits = append(edits, files...); len(edits) == 0 {
		return nil, change.ErrNothing
	}
	if len(files) > 0 {
		if err := s.OnOneHost(r.Target); err != nil {
			return nil, err
		}
		if err := s.Compile(ctx, svc, svc.Source, files); err != nil {
			return nil, err
		}
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: w.says(), Weakens: w.weakened(env.now), Risk: iikanji.RiskRestart}
	s.FromSource(c, change.OnHost(svc.Host, edits...)...)
	return c, nil
}

// inSource makes the edits that only the source can take.
func (w *wanted) inSource(s *change.Site, svc change.Service, env *environment) (*source, error) {
	inVariable := false
	params, err := w.params(s)
	if err != nil {
		return nil, err
	}
	if len(params) > 0 {
		if inVariable, err = env.setDSN(params); err != nil {
			return nil, err
		}
	}
	dsn := len(params) > 0 && !inVariable
	if !dsn && len(env.secret) == 0 && w.Pool == 0 && !w.quiet() && !w.unprofiled() {
		return &source{}, nil
	}
	if len(env.secret) > 0 && (svc.Source == "" || !svc.Builds) {
		return nil, env.secret[0].byHand("the source is not known")
	}
	if svc.Source == "" || !svc.Builds {
		return nil, fmt.Errorf("the source of %s is not known", w.whose(dsn || len(env.secret) > 0))
	}
	src, err := readSource(s, svc.Host, svc.Source)
	if err != nil {
		return nil, err
	}
	if dsn {
		err = src.setDSN(params)
	}
	if err == nil && len(env.secret) > 0 {
		err = src.addToDSN(env.secret, filepath.Join(svc.Source, filepath.FromSlash(svc.Package)))
	}
	if err == nil && w.Pool > 0 {
		err = src.setPool(w.Pool)
	}
	if err == nil && w.quiet() {
		src.quieten()
	}
	if err == nil && w.unprofiled() {
		src.unprofile()
	}
	return src, err
}

// whose names the settings that need the source, for an error.
func (w *wanted) whose(dsn bool) string {
	var parts []string
	if dsn {
		parts = append(parts, "the DSN")
	}
	if w.Pool > 0 {
		parts = append(parts, "the pool")
	}
	if w.quiet() {
		parts = append(parts, "the log")
	}
	if w.unprofiled() {
		parts = append(parts, "the profiler")
	}
	return strings.Join(parts, " and ")
}
