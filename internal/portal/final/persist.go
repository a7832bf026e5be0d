package final

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// persist reboots the machines of a team once more and compares what the runs have written.
func (d *Driver) persist(ctx context.Context, f *api.FinalState, team string) error {
	t, err := d.team(ctx, team)
	if err != nil || lost(t) || stepOf(t, persistence) != nil {
		return err
	}
	hosts, err := d.hosts(ctx, team)
	if err != nil {
		return err
	}
	before := []byte(nil)
	if s := stepOf(t, written); s != nil {
		before = []byte(s.Evidence)
	} else if d.Persist != nil {
		if before, err = d.Persist(ctx, team, hosts, nil); err != nil {
			return d.keep(ctx, team, persistence, false, "before the reboot: "+err.Error())
		}
		if err := d.keep(ctx, team, written, true, string(before)); err != nil {
			return err
		}
	}
	if err := d.restarted(ctx, f, team, bootedLater, "back-again", "well-again"); err != nil {
		return err
	}
	if t, err = d.team(ctx, team); err != nil {
		return err
	}
	for _, name := range []string{"back-again", "well-again"} {
		if s := stepOf(t, name); s == nil || !s.Passed {
			text := "the machines are not back"
			if s != nil {
				text = s.Evidence
			}
			return d.keep(ctx, team, persistence, false, text)
		}
	}
	if s := stepOf(t, written); s != nil {
		before = []byte(s.Evidence) // as the portal has kept it
	}
	if d.Persist == nil {
		return d.keep(ctx, team, persistence, true, "the machines are back; no check of what the runs wrote was given")
	}
	// A site may need a moment more than the machine's agent.
	for from := d.Now(); ; {
		_, err = d.Persist(ctx, team, hosts, before)
		if err == nil || d.Now().Sub(from) > f.Final.BackIn {
			break
		}
		if err := d.wait(ctx); err != nil {
			return err
		}
	}
	if err != nil {
		return d.keep(ctx, team, persistence, false, err.Error())
	}
	return d.keep(ctx, team, persistence, true, "what the runs wrote is there after the reboot")
}

// persistLimit bounds one call of the command.
const persistLimit = time.Minute

// PersistBy is a Persist that runs a command, without a shell. It gets the targets in
// IIKANJI_TARGETS, and IIKANJI_PHASE is before or after. Before the reboot its output is kept;
// after it the output is its standard input, and its exit status 0 says that all is there.
func PersistBy(command []string) func(context.Context, string, []api.Host, []byte) ([]byte, error) {
	return func(ctx context.Context, team string, hosts []api.Host, before []byte) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, persistLimit)
		defer cancel()
		var targets []string
		for _, h := range hosts {
			targets = append(targets, h.Address)
		}
		phase := "after"
		if before == nil {
			phase = "before"
		}
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "IIKANJI_TEAM=" + team, "IIKANJI_TARGETS=" + strings.Join(targets, " "), "IIKANJI_PHASE=" + phase}
		cmd.Stdin = bytes.NewReader(before)
		cmd.WaitDelay = time.Second
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s (%w)", firstLine(said.String(), "the check of what the runs wrote failed"), err)
		}
		return append([]byte{}, out[:min(len(out), maxKept)]...), nil
	}
}

// maxKept bounds what is kept of the output, in bytes.
const maxKept = 32 << 10

func firstLine(text, or string) string {
	if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); line != "" {
		return line
	}
	return or
}
