package all

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change"
)

// TestDeclarations: every kind declares its acts in full, so that nothing that
// derives from them (trials, verdicts, the question for proposers) lacks one.
func TestDeclarations(t *testing.T) {
	names := change.Names()
	if len(names) < 6 {
		t.Fatalf("only %v: the test would prove nothing", names)
	}
	for _, name := range names {
		k, ok := change.Lookup(name)
		if !ok || !line(k.Help()) || len(k.Acts()) == 0 {
			t.Errorf("%s: help %q, %d acts", name, k.Help(), len(k.Acts()))
		}
		seen := map[string]bool{}
		for _, a := range k.Acts() {
			switch {
			case seen[a.Name] || a.Name == "" && len(k.Acts()) > 1:
				t.Errorf("%s, %q: want a name of its own", name, a.Name)
			case !line(a.Help):
				t.Errorf("%s, %q: help %q, want one line", name, a.Name, a.Help)
			case a.Belief.Chance <= 0 || a.Belief.Chance > 1 || a.Belief.Gain <= 0:
				t.Errorf("%s, %q: belief %+v", name, a.Name, a.Belief)
			case a.Worth < change.WorthLine || a.Worth > 0.1:
				t.Errorf("%s, %q: worth %v", name, a.Name, a.Worth)
			case len(a.Args) == 0:
				t.Errorf("%s, %q: no arguments", name, a.Name)
			}
			seen[a.Name] = true
			for _, arg := range a.Args {
				if arg.Name == "" || arg.Name == "act" || !line(arg.Help) || arg.Required && arg.Default != "" {
					t.Errorf("%s, %q: argument %+v", name, a.Name, arg)
				}
			}
		}
	}
}

// line reports whether a text is one line that is not empty.
func line(text string) bool { return text != "" && !strings.Contains(text, "\n") }
