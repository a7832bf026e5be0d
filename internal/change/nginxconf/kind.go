package nginxconf

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
)

func init() { change.Register(Kind{}) }

// Kind plans edits of nginx's configuration. Remedy.Target is the name of the
// service and Args["act"] the act; Acts lists them with their arguments.
//
// The path of an act is one path ("/api/trend", "/", "= /a/"), a folder
// ("/assets/", with its slash; "/*" is all paths), or a route with placeholders
// for one segment each ("/api/isu/:id/icon"). server is a server_name, or the
// listen address or port of a server block; by default the only server that
// passes requests on.
//
// A plan is change.ErrNothing if the configuration has the effect already.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "nginxconf" }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Edits of nginx's configuration; comments and order stay. The target is nginx's service. Needs a reload."
}

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, editor, err := match(r)
	if err != nil {
		return nil, err
	}
	p, err := nginxedit.Begin(ctx, s, r.Target, r.Proof)
	if err != nil {
		return nil, err
	}
	t := &task{p}
	if err := editor.edit(t); err != nil {
		return nil, err
	}
	edits, err := t.Finish()
	if err != nil {
		return nil, err
	}
	if len(edits) == 0 {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: t.Says, Weakens: t.Weakens, Risk: iikanji.RiskReload}
	change.FromEdits(c, iikanji.Reload, edits...)
	return c, nil
}
