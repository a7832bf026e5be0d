package policy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// reviewTest is a test of docs/reviews.md, and the script that may follow.
	reviewTest = regexp.MustCompile("`([a-z][\\w/]*)\\.((?:Test|Fuzz)[A-Z]\\w*)`(?: \\((\\w+)\\))?")
	reviewRow  = regexp.MustCompile(`(?m)^\| .* \| .* \| .*\|$`)
)

// TestReviews: every row of the reviews' tables names a test, and each of them is in the
// folder that the page names; so is each script.
func TestReviews(t *testing.T) {
	page, err := os.ReadFile("docs/reviews.md")
	if err != nil {
		t.Fatal(err)
	}
	bad, rows := wrongReviews(string(page))
	for _, b := range bad {
		t.Error(b)
	}
	if rows < 60 {
		t.Errorf("only %d rows are read", rows)
	}
}

// wrongReviews lists the rows without a test and the tests and scripts that do not exist.
func wrongReviews(page string) (bad []string, rows int) {
	for _, row := range reviewRow.FindAllString(page, -1) {
		if strings.HasPrefix(row, "| ---") || strings.HasSuffix(row, "| tests |") {
			continue
		}
		rows++
		all := reviewTest.FindAllStringSubmatch(row, -1)
		if len(all) == 0 {
			bad = append(bad, "no test in "+row)
		}
		for _, m := range all {
			folder, name, script := m[1], m[2], m[3]
			if !hasTest(folder, name) {
				bad = append(bad, "there is no "+folder+"."+name)
			}
			if _, err := os.Stat(filepath.Join(folder, "testdata", script+".txtar")); script != "" && err != nil {
				bad = append(bad, "there is no script "+script)
			}
		}
	}
	return bad, rows
}

// hasTest reports whether a test file of a folder has a test function.
func hasTest(folder, name string) bool {
	files, _ := filepath.Glob(filepath.Join(folder, "*_test.go")) // the pattern is well formed
	for _, f := range files {
		text, _ := os.ReadFile(f) // an unreadable file has no tests
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// TestReviewsCatches: a row without a test, a test of another folder and a script that
// does not exist are found.
func TestReviewsCatches(t *testing.T) {
	for row, want := range map[string]string{
		"| a | b | c |": "no test in",
		"| a | b | `internal/change/history.TestOf` |":                         "there is no internal/change/history.TestOf",
		"| a | b | `internal/change/promise.TestOf` |":                         "",
		"| a | b | `cmd/iikanji.TestScripts` (access_none) |":                  "there is no script access_none",
		"| a | b | `cmd/iikanji.TestScripts` (access_wishes) |":                "",
		"| a | b | `internal/change/history.TestNone` `internal/x.FuzzNone` |": "there is no internal/change/history.TestNone",
	} {
		bad, _ := wrongReviews(row)
		if got := strings.Join(bad, "\n"); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", row, got, want)
		}
	}
}
