package propose

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestFindingHasNoLiterals: a statement that a finding quotes loses its string
// literals; the rest of the text stays.
func TestFindingHasNoLiterals(t *testing.T) {
	f := findingOf(iikanji.Finding{Claim: "the server's plan for SELECT * FROM user WHERE mail = 'bob@example.org' scans",
		Evidence: []iikanji.Evidence{{Source: "digest 1", Text: `9× UPDATE user SET name='Alice O\'Hara', n=5 WHERE token = "hunter2": 7 rows each`}, {Source: "x", Text: "the app's log isn't read"}}})
	if want := "the server's plan for SELECT * FROM user WHERE mail = '?' scans"; f.Claim != want {
		t.Errorf("%q, want %q", f.Claim, want)
	}
	if got := f.Evidence[0].Text; strings.Contains(got, "Alice") || strings.Contains(got, "hunter2") || !strings.Contains(got, "n=5") || !strings.Contains(got, "7 rows each") {
		t.Errorf("%q", got)
	}
	if got := f.Evidence[1].Text; got != "the app's log isn't read" {
		t.Errorf("%q", got)
	}
}
