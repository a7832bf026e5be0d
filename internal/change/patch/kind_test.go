package patch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func remedy(diff string, kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "patch", Target: "app", Args: changetest.Args(append([]string{"diff", diff}, kv...)...)}
}

// fast changes a constant and adds a new file with a helper.
const fast = `diff --git a/greet.go b/greet.go
index 1111111..2222222 100644
--- a/greet.go
+++ b/greet.go
@@ -1,7 +1,7 @@
 package main
 
-const greetingText = "slow"
+const greetingText = "fast"
 
 func greeting() string {
-	return greetingText
+	return polite(greetingText)
 }
diff --git a/polite.go b/polite.go
new file mode 100644
--- /dev/null
+++ b/polite.go
@@ -0,0 +1,3 @@
+package main
+
+func polite(s string) string { return s }
`

// withoutOld removes a file.
const withoutOld = "--- a/old.go\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-package main\n-\n-func init() { old = append(old, \"old.go\") }\n"

// TestConformance checks the promises that every kind makes, with an app that is
// built and restarted.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	changetest.Run(t, changetest.Case{
		Dir: a.Dir, Open: a.Open, State: a.State, Serves: a.serves,
		Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Freshness}},
		Remedies: map[string]iikanji.Remedy{
			"edit and create": remedy(fast, "says", "answer faster", "weakens", "freshness"),
			"remove":          remedy(withoutOld),
		},
		Effects: map[string]string{"edit and create": `greeting "fast"`, "remove": "old 0"},
	})
}

// TestPlan: the description of a planned change.
func TestPlan(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	c, err := change.Plan(t.Context(), a.Open(a.Dir), remedy(fast, "says", "answer faster", "weakens", "freshness, row-order,freshness"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "answer faster (greet.go +2 −2, polite.go +3 −0)"; c.Says != want {
		t.Errorf("says %q, want %q", c.Says, want)
	}
	if want := []iikanji.Promise{iikanji.Freshness, iikanji.RowOrder}; !slices.Equal(c.Weakens, want) {
		t.Errorf("weakens %v, want %v", c.Weakens, want)
	}
	if c.Risk != iikanji.RiskRestart || len(c.Do) != 3 || c.Do[2].Verb != iikanji.Restart {
		t.Errorf("risk %s, do %+v", c.Risk, c.Do)
	}
}

// TestRefused: patches that are refused, with their errors.
func TestRefused(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	a.Write(t, "../secret.go", "package main\n")
	a.Write(t, "run.go", "package main\n")
	a.Write(t, "big.go", "package main\n"+strings.Repeat("//\n", maxFile/3))
	if err := errors.Join(os.Symlink("../secret.go", a.Source("link.go")), os.Symlink("..", a.Source("up")), os.Chmod(a.Source("run.go"), 0o755)); err != nil {
		t.Fatal(err)
	}
	edit := func(name, from, to string) iikanji.Remedy {
		return remedy("--- a/" + name + "\n+++ b/" + name + "\n@@ -1,1 +1,1 @@\n-" + from + "\n+" + to + "\n")
	}
	create := func(name string) iikanji.Remedy {
		return remedy("--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1,1 @@\n+package main\n")
	}
	for name, c := range map[string]struct {
		r    iikanji.Remedy
		want string
	}{
		"no such file":       {edit("gone.go", "package main", "package x"), "gone.go does not exist"},
		"link":               {edit("link.go", "package main", "package x"), "links are not followed"},
		"folder is a link":   {edit("up/secret.go", "package main", "package x"), "links are not followed"},
		"too large":          {edit("big.go", "package main", "package x"), "files of up to"},
		"new folder":         {create("deep/new.go"), "there is no folder deep"},
		"new, but there":     {create("greet.go"), "is new in the diff, but exists"},
		"a mode would go":    {remedy("--- a/run.go\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-package main\n"), "would not restore its mode"},
		"does not compile":   {edit("greet.go", "package main", "package mein"), "does not compile"},
		"toolchain":          {remedy("--- a/go.mod\n+++ b/go.mod\n@@ -1,3 +1,4 @@\n module example.org/app\n \n go 1.24\n+toolchain go1.99.0\n"), "only lines that require a module"},
		"replace":            {remedy("--- a/go.mod\n+++ b/go.mod\n@@ -1,3 +1,4 @@\n module example.org/app\n \n go 1.24\n+replace example.org/x => /etc\n"), "only lines that require a module"},
		"go.work":            {create("go.work"), "controls the build"},
		"nested module":      {create("go.mod"), "not be created or removed"},
		"unknown argument":   {remedy(fast, "weaken", "freshness"), `unknown argument "weaken"`},
		"unknown promise":    {remedy(fast, "weakens", "speed"), "is not a promise"},
		"says has a newline": {remedy(fast, "says", "a\x1b[2J"), "want one line"},
	} {
		_, err := change.Plan(t.Context(), a.Open(a.Dir), c.r)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if left, _ := filepath.Glob(a.Path(".iikanji*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNoDiff: a finding's remedy without a diff is an error of its own.
func TestNoDiff(t *testing.T) {
	r := iikanji.Remedy{Kind: "patch", Target: "app", Args: map[string]string{"digest": "d425546ef50630e1"}}
	if _, err := change.Plan(t.Context(), &change.Site{}, r); !errors.Is(err, change.ErrNoDiff) {
		t.Errorf("%v", err)
	}
}

// TestOutside: a source outside the target's folders is refused.
func TestOutside(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	site := a.Open(a.Dir)
	site.Roots = []string{t.TempDir()}
	if _, err := change.Plan(t.Context(), site, remedy(fast)); err == nil || !strings.Contains(err.Error(), "outside the folders") {
		t.Errorf("%v", err)
	}
	site.Services["app"] = change.Service{Source: a.Source("")}
	if _, err := change.Plan(t.Context(), site, remedy(fast)); err == nil || !strings.Contains(err.Error(), "compiles the source") {
		t.Errorf("%v", err)
	}
}
