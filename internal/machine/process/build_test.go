package process

import (
	"strings"
	"testing"
)

// TestCompileOnly: the trial build compiles with the flags of the build, and has no
// program to link. Other commands run as they are.
func TestCompileOnly(t *testing.T) {
	for args, want := range map[string]string{
		"build -mod=readonly -buildvcs=false -o OUT .": `list -export -f {{""}} -mod=readonly -buildvcs=false .`,
		"build -o OUT main.go":                         `list -export -f {{""}} main.go`,
		"build -tags=x ./cmd/app -o OUT":               `list -export -f {{""}} -tags=x ./cmd/app`,
	} {
		b, ok := CompileOnly(strings.Fields("/usr/bin/go "+args), "OUT")
		if got := strings.Join(b, " "); !ok || got != "/usr/bin/go "+want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	for _, c := range [][2]string{{"/usr/bin/go", "run -o OUT ."}, {"/usr/bin/go", "build ."}, {"/usr/bin/go", "build -o other ."}, {"/usr/bin/go", "build . -o"},
		{"/usr/bin/make", "build -o OUT"}, {"/usr/bin/go", ""}} {
		if b, ok := CompileOnly(strings.Fields(c[0]+" "+c[1]), "OUT"); ok {
			t.Errorf("%s is read as %q", c, b)
		}
	}
}
