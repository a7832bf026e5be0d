package policy_test

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// lastLonger is the latest commit with a longer subject. There are no tags in a copy of the source,
// so that this commit tells from where on subjects are held.
const lastLonger = "16387d74c8c79e061c481c04b3150b410db2b8a4"

// TestCommitSubjects: a subject has at most 72 characters, so that it fits the lists of all
// tools. A copy of the source without its history, or without that commit, holds nothing.
func TestCommitSubjects(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "log", "--no-merges", "--format=%h %s", lastLonger+"..HEAD").Output()
	if err != nil {
		t.Skip("no history from " + lastLonger + " on is here")
	}
	for line := range strings.Lines(string(out)) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n := utf8.RuneCountInString(subject); n > 72 {
			t.Errorf("%s has a subject of %d characters, want 72 at most: %s", hash, n, subject)
		}
	}
}
