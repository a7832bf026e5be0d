package arenasite

import "testing"

// TestPackageOf: the package is that which the go command is told to build.
func TestPackageOf(t *testing.T) {
	for want, build := range map[string][]string{
		"./cmd/web": {"go", "build", "-o", "{{.Out}}", "./cmd/web"},
		"":          {"go", "build", "-o", "{{.Out}}", "."},
	} {
		if got := packageOf(build); got != want {
			t.Errorf("%q: %q, want %q", build, got, want)
		}
	}
	for _, build := range [][]string{nil, {"make"}, {"npm", "run", "./cmd/web"}, {"go", "build", "./../other"}, {"go", "build", "-o", "x"}, {"go"}} {
		if got := packageOf(build); got != "" {
			t.Errorf("%q: %q", build, got)
		}
	}
}
