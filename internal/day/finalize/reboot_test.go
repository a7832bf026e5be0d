package finalize

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// downing is this machine, with a systemctl of the test.
type downing struct {
	host.Local
	systemctl func(args []string) int
}

func (d downing) Exec(_ context.Context, c host.Command) (host.Result, error) {
	return host.Result{Status: d.systemctl(c.Args)}, nil
}

// TestOwnBoot: the boot of this machine ends the command that asks for it, and this process; the
// next one goes on from the note. A boot that is refused leaves no note, and nothing that would make
// a later boot try again.
func TestOwnBoot(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int // of systemctl reboot; a signal ends it with -1
		down   bool
	}{
		{"ended by its boot", -1, true},
		{"accepted", 0, true},
		{"refused", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			asked := 0
			machines := Machines{{Now: time.Now, Host: downing{systemctl: func(args []string) int {
				if args[0] != "reboot" {
					return 0
				}
				if asked++; c.status != 1 {
					cancel() // systemd ends this process, too
				}
				return c.status
			}}}}
			prepared := false
			r := &Rebooter{
				Machines: machines, Rounds: RoundsOf(machines, nil), Note: filepath.Join(t.TempDir(), "note.json"), Now: time.Now,
				Before: func(context.Context) (json.RawMessage, error) { return json.RawMessage("{}"), nil },
				GoOn:   func(context.Context) error { prepared = true; return nil },
				Stay:   func() error { prepared = false; return nil },
			}
			_, down, err := r.Round(ctx, 0, nil)
			if down != c.down || (err == nil) != c.down || asked != 1 || prepared != c.down {
				t.Errorf("down %v, %v; asked %d times; goes on: %v", down, err, asked, prepared)
			}
			if _, err := os.Stat(r.Note); (err == nil) != c.down {
				t.Errorf("the note: %v", err)
			}
		})
	}
}
