package changetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// Refuse checks that each remedy is refused with a given reason, or with
// change.ErrNothing if that is the reason, and that nothing is changed. A remedy
// can come from any source.
func Refuse(t *testing.T, site *change.Site, state func() (string, error), all []struct {
	Remedy iikanji.Remedy
	Why    string
},
) {
	t.Helper()
	before, err := state()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		_, err := change.Plan(t.Context(), site, c.Remedy)
		nothing := c.Why == change.ErrNothing.Error()
		if err == nil || !strings.Contains(err.Error(), c.Why) || errors.Is(err, change.ErrNothing) != nothing {
			t.Errorf("%v: %v, want %q", c.Remedy.Args, err, c.Why)
		}
	}
	if after, err := state(); err != nil || after != before {
		t.Errorf("refusing left traces: %v\n%s", err, after)
	}
}

// Args returns a remedy's arguments from alternating names and values.
func Args(kv ...string) map[string]string {
	args := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		args[kv[i]] = kv[i+1]
	}
	return args
}
