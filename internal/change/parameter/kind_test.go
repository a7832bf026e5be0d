package parameter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func remedy(values ...string) iikanji.Remedy {
	r := iikanji.Remedy{Kind: "parameter", Target: Target, Args: map[string]string{}}
	for i := 0; i < len(values); i += 2 {
		r.Args["set."+values[i]] = values[i+1]
	}
	return r
}

// siteIn is a target whose command has two parameters.
func siteIn(dir string) *change.Site {
	return &change.Site{Roots: []string{dir}, Target: iikanji.Target{Bench: iikanji.BenchRef{ParameterFile: filepath.Join(dir, "site", "parameters.env"),
		Parameters: []iikanji.Parameter{{Name: "WORKERS", Value: "8", Least: 1, Most: 64}, {Name: "CODEC", Value: "json", Values: []string{"json", "fast"}}}}}}
}

// prepared makes the folder of a target, with a file of values if it is not "".
func prepared(t *testing.T, values string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "site") // a short name: the name of t.TempDir looks like a secret in a diff
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "site"), 0o755); err != nil {
		t.Fatal(err)
	}
	if values != "" {
		if err := os.WriteFile(filepath.Join(dir, "site", "parameters.env"), []byte(values), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestConformMissing sets parameters in a file that is missing, is killed at each step, and
// undoes it to the byte.
func TestConformMissing(t *testing.T) {
	tier.Slow(t)
	conform(t, "")
}

// TestConformPresent does the same in a file of the user.
func TestConformPresent(t *testing.T) {
	tier.Slow(t)
	conform(t, "# mine\nWORKERS=4\n\nCODEC=json\n")
}

func conform(t *testing.T, values string) {
	dir := changetest.ChildDir()
	if dir == "" {
		dir = prepared(t, values)
	}
	changetest.Run(t, changetest.Case{
		Dir: dir, Open: siteIn,
		Remedies: map[string]iikanji.Remedy{"set": remedy("WORKERS", "16", "CODEC", "fast")},
		Effects:  map[string]string{"set": "WORKERS=16\n"},
		State:    func() (string, error) { return changetest.Tree(filepath.Join(dir, "site")) },
		Serves:   func() error { return nil },
	})
}

// TestText: a value replaces its line, and the other lines of the file stay.
func TestText(t *testing.T) {
	if changetest.ChildDir() != "" {
		return
	}
	for before, want := range map[string]string{
		"":                              header + "WORKERS=16\n",
		"# mine\nWORKERS=4\nCODEC=fast": "# mine\nWORKERS=16\nCODEC=fast\n",
		"CODEC=fast\n":                  "CODEC=fast\nWORKERS=16\n",
		"WORKERS=1\nWORKERS=2\n":        "WORKERS=16\n",
	} {
		c, err := change.Plan(t.Context(), siteIn(prepared(t, before)), remedy("WORKERS", "16"))
		if err != nil || len(c.Do) == 0 || c.Do[0].Body != want {
			t.Errorf("%q: %v\n%+v", before, err, c)
		}
	}
	c, err := change.Plan(t.Context(), siteIn(prepared(t, "WORKERS=4\n")), remedy("WORKERS", "16", "CODEC", "fast"))
	if err != nil || c.Says != "set CODEC = fast (was json), WORKERS = 16 (was 4)" || len(c.Weakens) > 0 {
		t.Errorf("%v: %+v", err, c)
	}
}

// TestRefused checks remedies that cannot be planned.
func TestRefused(t *testing.T) {
	if changetest.ChildDir() != "" {
		return
	}
	dir := prepared(t, "")
	other := remedy("WORKERS", "16")
	other.Target = "web"
	for _, r := range []iikanji.Remedy{remedy(), remedy("OTHER", "1"), remedy("WORKERS", "65"), remedy("WORKERS", "0"), remedy("WORKERS", "016"),
		remedy("WORKERS", "16\nX=1"), remedy("CODEC", "xml"), other} {
		if c, err := change.Plan(t.Context(), siteIn(dir), r); err == nil {
			t.Errorf("%v is planned: %+v", r.Args, c)
		}
	}
	if _, err := change.Plan(t.Context(), siteIn(dir), remedy("WORKERS", "8")); !errors.Is(err, change.ErrNothing) {
		t.Errorf("the present value: %v", err)
	}
	none := siteIn(dir)
	none.Target.Bench = iikanji.BenchRef{}
	if _, err := change.Plan(t.Context(), none, remedy("WORKERS", "16")); err == nil || !strings.Contains(err.Error(), "[[bench.parameter]]") {
		t.Errorf("a target without parameters: %v", err)
	}
}
