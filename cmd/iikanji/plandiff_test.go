package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestShortened asserts that a long new file of a diff becomes one line with its name and
// size, and that nothing else changes.
func TestShortened(t *testing.T) {
	file := func(name string, lines int) string {
		return fmt.Sprintf("--- /dev/null\n+++ b%s\n@@ -0,0 +1,%d @@\n%s", name, lines, strings.Repeat("+line\n", lines))
	}
	edit := "--- a/app/main.go\n+++ b/app/main.go\n@@ -1,1 +1,1 @@\n-a\n+b\n"
	const end = "# restart app\n"
	long := fmt.Sprintf("# new file /app/cache.go: %d lines, %d B; --full shows it\n", maxNewLines+1, 5*(maxNewLines+1))
	for _, c := range []struct{ diff, want string }{
		{edit + end, edit + end},
		{file("/app/plan.go", maxNewLines) + end, file("/app/plan.go", maxNewLines) + end},
		{file("/app/cache.go", maxNewLines+1), long},
		{edit + file("/app/cache.go", maxNewLines+1) + edit + end, edit + long + edit + end},
		{file("/app/cache.go", maxNewLines+1) + file("/app/a.go", 1) + file("/app/cache.go", maxNewLines+1) + end, long + file("/app/a.go", 1) + long + end},
		{"", ""},
	} {
		if got := shortened(c.diff); got != c.want {
			t.Errorf("shortened(%q):\n%s\nwant\n%s", c.diff, got, c.want)
		}
	}
}
