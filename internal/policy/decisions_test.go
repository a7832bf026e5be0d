package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDecisionsAreNumbered: each decision in docs/adr has a number of its own, and its title
// has the number of its file.
func TestDecisionsAreNumbered(t *testing.T) {
	files, err := filepath.Glob("docs/adr/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	seen := map[int]string{}
	for _, path := range files {
		name := filepath.Base(path)
		var n int
		if _, err := fmt.Sscanf(name, "%04d-", &n); err != nil {
			t.Errorf("%s: the name does not begin with a number", name)
			continue
		}
		if seen[n] != "" {
			t.Errorf("%s and %s have one number", seen[n], name)
		}
		seen[n] = name
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if title := fmt.Sprintf("# %d. ", n); !strings.HasPrefix(string(text), title) {
			t.Errorf("%s does not begin with %q", name, title)
		}
	}
}
