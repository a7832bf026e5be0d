package nginxconf

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans edits of nginx's configuration. Remedy.Target is the service's
// name; Args["act"] chooses:
//
//	upstream keepalive  keepalive [to]          keep that many idle connections to the app open
//	static files        path [root] [expires]   serve files from disk, by the app where there is none
//	gzip                [level] [types]         compress answers
//	set                 directive value         one of the directives in settings.go
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "nginxconf" }

// An editor changes the trees and says what it did, in a sentence.
type editor func(c *conf, args map[string]string) (says string, weakens []iikanji.Promise, err error)

var editors = map[string]editor{
	"upstream keepalive": editKeepalive,
	"static files":       editStatic,
	"gzip":               editGzip,
	"set":                editSetting,
}

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc, ok := s.Services[r.Target]
	if !ok || svc.Config == "" {
		return nil, fmt.Errorf("no service %q with a configuration", r.Target)
	}
	edit, ok := editors[r.Args["act"]]
	if !ok {
		return nil, fmt.Errorf("no act %q", r.Args["act"])
	}
	if r.Args["root"] == "" && svc.Public != "" {
		r.Args = maps.Clone(r.Args)
		r.Args["root"] = svc.Public
	}
	tree, err := load(svc.Config, s.ReadOld)
	if err != nil {
		return nil, err
	}
	says, weakens, err := edit(tree, r.Args)
	if err != nil {
		return nil, err
	}
	files := tree.changed()
	if len(files) == 0 {
		return nil, change.ErrNothing
	}
	if err := test(ctx, svc, tree); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: says, Weakens: weakens, Risk: iikanji.RiskReload}
	edits := make([]change.Edit, len(files))
	for i, f := range files {
		edits[i] = change.Edit{Path: f.path, Old: f.old, New: []byte(f.root.String())}
	}
	change.FromEdits(c, iikanji.Reload, edits...)
	return c, nil
}

// test has nginx read the edited configuration, as one file beside the main
// one (relative paths stay what they are), before anything is touched.
func test(ctx context.Context, svc change.Service, tree *conf) (err error) {
	f, err := os.CreateTemp(filepath.Dir(svc.Config), ".iikanji-test-*.conf")
	if err != nil {
		return fmt.Errorf("testing the configuration: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(tree.flat())
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("testing the configuration: %w", err)
	}
	if err := svc.Check(ctx, f.Name()); err != nil {
		return fmt.Errorf("nginx refuses the edited configuration: %w", err)
	}
	return nil
}

// want returns an argument of a remedy that must be there and be one plain word.
func want(args map[string]string, name string) (string, error) {
	v := args[name]
	if v == "" || strings.ContainsAny(v, "\x00\r\n;{}") {
		return "", fmt.Errorf("%s %q: want one word", name, v)
	}
	return v, nil
}

// http finds the http block.
func (c *conf) http() (*directive, error) {
	found := c.find("http")
	if len(found) != 1 || found[0].body == nil {
		return nil, fmt.Errorf("%s has %d http blocks, want 1", c.files[0].path, len(found))
	}
	return found[0].directive, nil
}

// has says whether any of the words is among a directive's arguments.
func (d *directive) has(word string) bool { return slices.Contains(d.args(), word) }
