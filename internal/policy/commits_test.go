package policy_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// firstHeld is the commit behind which subjects are held. There are no tags in a copy of the source,
// so that it is named by its hash.
const firstHeld = "a21a8956fc8fe837fea3a7be780ba2c6b0a145c1"

// longer are commits behind it with a longer subject. History is not written again; a new commit has
// no place here.
var longer = []string{
	"ce8e0d0ba0c136e5d4836887acf96e7daf749529",
	"3e2718191e2da4a16b6fe796c5aa086e98f9ee29",
	"a5d7ac7e09fb22dbe020d5fcaed6f44d82504db1",
	"2f5e81252fd724f61680a724243c2ee111ba68f4",
	"576f13760fce6e31a2921d20b30c1b995a7e830d",
	"16387d74c8c79e061c481c04b3150b410db2b8a4",
	"7eac2e6e7df9f3f3f66549b313d1e65090f0f40b",
}

// TestCommitSubjects: a subject has at most 72 characters, so that it fits the lists of all
// tools. A copy of the source without its history, or without that commit, holds nothing.
func TestCommitSubjects(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "log", "--no-merges", "--format=%H %s", firstHeld+"..HEAD").Output()
	if err != nil {
		t.Skip("no history from " + firstHeld + " on is here")
	}
	for line := range strings.Lines(string(out)) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n := utf8.RuneCountInString(subject); n > 72 && !slices.Contains(longer, hash) {
			t.Errorf("%s has a subject of %d characters, want 72 at most: %s", hash, n, subject)
		}
	}
}
