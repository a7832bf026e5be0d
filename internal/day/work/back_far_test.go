package work

import (
	"context"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A farHost is a machine with a far end.
type farHost struct{ host.Local }

func (farHost) Work(context.Context, string, any, any) error { return nil }
func (farHost) Feed(context.Context, string, time.Duration, func() any, func(func(any) error) error) error {
	return nil
}

// TestFarProgram: a restart builds an app of this machine from its former source, but not one of
// another machine: there the state would be back in its files only, and its runs would be
// those of the newer program.
func TestFarProgram(t *testing.T) {
	d := &Day{Site: &change.Site{Hosts: map[string]host.Host{"app2": farHost{}}}}
	for on, matters := range map[string]bool{"": false, "app2": true} {
		p := &plan{d: d}
		if err := p.edit(t.Context(), difference.Edit{Kind: difference.Program, Host: on, Service: "app", Place: "/home/isucon/app"}); err != nil {
			t.Fatal(err)
		}
		if len(p.stays) != 1 || p.stays[0].Matters != matters {
			t.Errorf("the program of machine %q: %+v", on, p.stays)
		}
	}
}
