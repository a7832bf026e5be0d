package ondemand

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans services on demand. The package comment has its arguments.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "ondemand" }

// errAlways is the error of a service without an enable file.
var errAlways = errors.New("it is not a service on demand: it always runs")

// enabled is the content of the file that starts a service. Its line is a comment: a
// cache that declares no limit of its data keeps its default.
const enabled = "# This file starts the service; see `iikanji history`.\n"

// Plan implements change.Kind.
func (k Kind) Plan(_ context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, want, err := match(r)
	if err != nil {
		return nil, err
	}
	svc, ok := s.Services[r.Target]
	if !ok {
		return nil, fmt.Errorf("no service %q", r.Target)
	}
	if svc.EnableFile == "" || svc.Running == nil {
		return nil, fmt.Errorf("service %q: %w", r.Target, errAlways)
	}
	old, err := s.ReadOld(svc.Host, svc.EnableFile)
	if err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Risk: iikanji.RiskRestart}
	edit := change.Edit{Path: svc.EnableFile, Old: old}
	switch {
	case (old != nil) == (want.Run == "on"):
		return nil, change.ErrNothing
	case old == nil:
		edit.New, c.Says = []byte(enabled), "start "+r.Target
	default:
		c.Says, c.Weakens = "end "+r.Target, []iikanji.Promise{iikanji.Availability}
	}
	change.FromEdits(c, iikanji.Restart, change.OnHost(svc.Host, edit)...)
	return c, nil
}
