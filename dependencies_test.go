package iikanji_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"
)

// moduleLine matches a table line of docs/dependencies.md whose first cell is a module path.
var moduleLine = regexp.MustCompile(`(?m)^\| ([a-z0-9-]+(?:\.[a-z0-9-]+)+/[^ |]+) \|`)

// indirectTable begins the table of indirect modules.
var indirectTable = regexp.MustCompile(`(?m)^\| indirect module`)

// required returns the modules that a go.mod requires; true means directly.
func required(t *testing.T) map[string]bool {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatalf("reading go.mod: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for _, r := range mod.Require {
		modules[r.Path] = !r.Indirect
	}
	return modules
}

// listed returns the modules that the page has a line for, in both tables.
func listed(page string) (direct, indirect []string) {
	split := len(page)
	if at := indirectTable.FindStringIndex(page); at != nil {
		split = at[0]
	}
	for _, m := range moduleLine.FindAllStringSubmatch(page[:split], -1) {
		direct = append(direct, m[1])
	}
	for _, m := range moduleLine.FindAllStringSubmatch(page[split:], -1) {
		indirect = append(indirect, m[1])
	}
	return direct, indirect
}

// differences lists where the page and go.mod disagree.
func differences(page string, modules map[string]bool) []string {
	var bad []string
	direct, indirect := listed(page)
	seen := map[string]bool{}
	for _, m := range slices.Concat(direct, indirect) {
		if seen[m] {
			bad = append(bad, m+" has two lines")
		}
		seen[m] = true
	}
	for _, m := range direct {
		if !modules[m] {
			bad = append(bad, m+" has a line, and go.mod does not require it directly")
		}
	}
	for _, m := range indirect {
		if isDirect, ok := modules[m]; !ok || isDirect {
			bad = append(bad, m+" is named as indirect, and go.mod does not require it so")
		}
	}
	for m, isDirect := range modules {
		if isDirect && !slices.Contains(direct, m) {
			bad = append(bad, m+" has no line")
		}
	}
	slices.Sort(bad)
	return bad
}

// TestDependencies compares docs/dependencies.md with go.mod.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	modules := required(t)
	if len(modules) == 0 {
		t.Fatal("go.mod requires nothing: the test would prove nothing")
	}
	for _, b := range differences(string(page), modules) {
		t.Errorf("docs/dependencies.md: %s", b)
	}
}

// TestDependenciesCatches proves that the comparison can fail.
func TestDependenciesCatches(t *testing.T) {
	const page = "| module | for |\n|---|---|\n| a.org/x | y |\n\n| indirect module | for |\n|---|---|\n| b.org/x/v2 | y |\n"
	modules := func(change string, direct bool) map[string]bool {
		m := map[string]bool{"a.org/x": true, "b.org/x/v2": false}
		m[change] = direct
		return m
	}
	if bad := differences(page, modules("c.org/x", false)); len(bad) > 0 {
		t.Errorf("a page that agrees: %v", bad)
	}
	for _, c := range []struct {
		page    string
		modules map[string]bool
		want    string
	}{
		{page, modules("c.org/x", true), "c.org/x has no line"},
		{page, modules("a.org/x", false), "a.org/x has a line, and go.mod does not require it directly"},
		{page, map[string]bool{"a.org/x": true}, "b.org/x/v2 is named as indirect, and go.mod does not require it so"},
		{page + "| a.org/x | again |\n", modules("a.org/x", true), "a.org/x has two lines"},
	} {
		if bad := differences(c.page, c.modules); !slices.Contains(bad, c.want) {
			t.Errorf("got %s, want %q", fmt.Sprint(bad), c.want)
		}
	}
}
