package policy_test

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// firstHeld is the tag from which on the subjects of commits are held.
const firstHeld = "v0.1.0"

// TestCommitSubjects: a subject has at most 72 characters, so that it fits the lists of all
// tools. A copy of the source without its history, or without the tag, holds nothing.
func TestCommitSubjects(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "log", "--no-merges", "--format=%h %s", firstHeld+"..HEAD").Output()
	if err != nil {
		t.Skip("no history from " + firstHeld + " on is here")
	}
	for line := range strings.Lines(string(out)) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n := utf8.RuneCountInString(subject); n > 72 {
			t.Errorf("%s has a subject of %d characters, want 72 at most: %s", hash, n, subject)
		}
	}
}
