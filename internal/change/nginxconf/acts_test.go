package nginxconf

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

var _ interface {
	change.Kind
	Acts() []change.Act
	Match(iikanji.Remedy) (change.Act, error)
} = Kind{}

func actNames() []string {
	var names []string
	for _, a := range (Kind{}).Acts() {
		names = append(names, a.Name)
	}
	return names
}

// TestActs: every act declares all that the proposer's list, the tuner and the docs
// derive from it.
func TestActs(t *testing.T) {
	all := Kind{}.Acts()
	if len(all) < 13 {
		t.Fatalf("%d acts", len(all))
	}
	seen := map[string]bool{}
	for _, a := range all {
		switch {
		case a.Name == "" || seen[a.Name]:
			t.Errorf("%q: want a name of its own", a.Name)
		case a.Help == "" || strings.Contains(a.Help, "\n"):
			t.Errorf("%s: help %q, want one line", a.Name, a.Help)
		case a.Belief.Chance <= 0 || a.Belief.Chance > 1 || a.Belief.Gain <= 0:
			t.Errorf("%s: belief %+v", a.Name, a.Belief)
		case a.Worth < 0.01 || a.Worth > 0.1:
			t.Errorf("%s: worth %v", a.Name, a.Worth)
		case a.Lasts != change.LastsAlways:
			t.Errorf("%s: initialize does not touch nginx's files", a.Name)
		case len(a.Args) == 0:
			t.Errorf("%s: no arguments", a.Name)
		}
		seen[a.Name] = true
		for _, arg := range a.Args {
			if arg.Name == "" || arg.Help == "" || strings.Contains(arg.Help, "\n") || arg.Required && arg.Default != "" {
				t.Errorf("%s: argument %+v", a.Name, arg)
			}
		}
	}
}

// TestMatch: the remedies that the conformance suite plans are matched; an
// unknown name gives an error with the known ones.
func TestMatch(t *testing.T) {
	none := &probedSite{testSite: &testSite{}}
	held := connections(none)
	maps.Copy(held, answers(none))
	for name, h := range held {
		if a, err := (Kind{}).Match(h.r); err != nil || a.Name != name {
			t.Errorf("%s: %v %v", name, a.Name, err)
		}
		wrong := remedy(name, "keepalve", "1")
		if _, err := (Kind{}).Match(wrong); err == nil || !strings.Contains(err.Error(), `act "`+name+`": unknown argument "keepalve"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Kind{}).Match(remedy("upstream keepalive", "keepalve", "1")); err == nil || !strings.Contains(err.Error(), `did you mean "keepalive"?`) {
		t.Errorf("%v", err)
	}
	_, err := change.Plan(t.Context(), newPlainSite(t), remedy("make it fast"))
	if err == nil {
		t.Fatal("an invented act was planned")
	}
	for _, name := range append(actNames(), `no act "make it fast"`) {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v: want %s", err, name)
		}
	}
}

// newPlainSite is a site whose nginx does not run.
func newPlainSite(t *testing.T) *change.Site {
	return (&testSite{dir: t.TempDir()}).open(t.TempDir())
}

// TestRefine: an act's worth and what it blinds are those for its arguments.
func TestRefine(t *testing.T) {
	for _, c := range []struct {
		r          iikanji.Remedy
		worth      float64
		blinds     bool
		simplifies bool
	}{
		{remedy("set", "directive", "access_log", "value", "off"), 0.01, true, false},
		{remedy("set", "directive", "access_log", "value", "/a buffer=64k"), 0.01, true, true},
		{remedy("set", "directive", "open_file_cache", "value", "max=10"), 0.03, false, false},
		{remedy("set", "directive", "open_file_cache", "value", "off"), 0.01, false, true},
		{remedy("set", "directive", "sendfile", "value", "on"), 0.01, false, true},
		{remedy("access log", "log", "off"), 0.01, true, false},
		{remedy("access log", "log", "buffered"), 0.01, true, true},
		{remedy("static files", "path", "/a"), 0.01, false, true},
		{remedy("static files", "path", "/a", "expires", "1d"), 0.03, false, false},
		{remedy("expires", "path", "/a", "expires", "1d"), 0.03, false, false},
		{remedy("expires", "path", "/a", "expires", "off"), 0.01, false, true},
		{remedy("cache", "path", "/a", "valid", "1s"), 0.03, false, false},
		{remedy("open file cache"), 0.03, false, false},
		{remedy("refuse user agents", "patterns", "bot"), 0.01, false, false},
		{remedy("upstream keepalive", "keepalive", "8"), 0.01, false, true},
	} {
		a, err := (Kind{}).Match(c.r)
		if err != nil || a.Worth != c.worth || slices.Contains(a.Blinds, iikanji.Access) != c.blinds || a.Simplifies != c.simplifies {
			t.Errorf("%v: %+v, %v", c.r.Args, a, err)
		}
	}
	for _, a := range (Kind{}).Acts() {
		if a.Name == "set" && (a.Blinds != nil || a.Worth != change.WorthLine) {
			t.Errorf("a remedy changed the declaration: %+v", a)
		}
	}
}

// A serverTokens is an act as one would be added: a struct of its arguments
// with a method edit.
type serverTokens struct {
	Show string `arg:"show" oneof:"on,off" default:"off" help:"whether answers have nginx's version"`
}

func (a *serverTokens) edit(t *task) error {
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	t.Says = "set server_tokens " + a.Show
	t.Ensure([]*nginx.Directive{http}, "server_tokens", a.Show)
	return nil
}

// TestNewAct: an entry in acts and its struct are all that an act needs to be
// listed, matched and planned.
func TestNewAct(t *testing.T) {
	before := acts
	defer func() { acts = before }()
	acts = append(slices.Clip(acts), declare[serverTokens](change.Act{Name: "server tokens", Help: "h", Belief: usual, Worth: change.WorthLine}))

	all := Kind{}.Acts()
	if a := all[len(all)-1]; a.Name != "server tokens" || len(a.Args) != 1 || a.Args[0] != (change.Arg{Name: "show", Help: "whether answers have nginx's version", Default: "off"}) {
		t.Errorf("%+v", a)
	}
	site := newPlainSite(t)
	svc := site.Services["nginx"]
	if err := os.MkdirAll(filepath.Dir(svc.Config), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(svc.Config, []byte("events { }\nhttp {\n  # mine\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := change.Plan(t.Context(), site, remedy("server tokens"))
	if err != nil || c.Says != "set server_tokens off" || c.Do[0].Body != "events { }\nhttp {\n    server_tokens off;\n  # mine\n}\n" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := change.Plan(t.Context(), site, remedy("server tokens", "show", "of")); err == nil || !strings.Contains(err.Error(), `show "of": want on or off`) {
		t.Errorf("%v", err)
	}
}
