package practice

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/lab"
)

// A Trap is a cause that a trainer plants on the machines: the site works until a reboot, as
// it has for teams that lost their day by it.
type Trap struct {
	Name string
	Says string // what competitors have to find
	// plant changes a machine that is up.
	plant func(ctx context.Context, s *site, m *lab.Machine) error
}

// traps are all traps, by their names.
var traps = []Trap{
	{"boot-order", "the apps are not started again when their database boots later", bootOrder},
	{"run-time-only", "a variable of the database is set while it runs, and its files set another value", runTimeOnly},
	{"second-app", "a boot also starts another program on the first app's port", secondApp},
	{"not-enabled", "the first app runs, and no boot starts it", notEnabled},
}

// Traps are the traps that a trainer can plant.
func Traps() []Trap { return slices.Clone(traps) }

// TrapNamed finds a trap.
func TrapNamed(name string) (Trap, error) {
	var names []string
	for _, t := range traps {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Trap{}, fmt.Errorf("no trap %q; there are %s", name, strings.Join(names, ", "))
}

// plant plants traps on all machines: competitors may move the site.
func (p *Park) plant(ctx context.Context, names []string) error {
	for _, name := range names {
		t, err := TrapNamed(name)
		if err != nil {
			return err
		}
		for _, m := range p.Machines {
			if err := t.plant(ctx, p.site, m); err != nil {
				return fmt.Errorf("planting %s on %s: %w", name, m.Name, err)
			}
		}
	}
	return nil
}

// script runs a script on a machine.
func script(ctx context.Context, m *lab.Machine, text string) error {
	return in(ctx, m, nil, "/", "sh", "-ec", text)
}

// bootOrder takes the order and the restarts out of the apps' units. An app that waits for
// its database by itself is not caught by it.
func bootOrder(ctx context.Context, s *site, m *lab.Machine) error {
	for _, app := range s.apps() {
		if err := script(ctx, m, "sed -i -e '/^After=/d' -e 's/^Restart=.*/Restart=no/' /etc/systemd/system/"+s.unit(app)); err != nil {
			return err
		}
	}
	return script(ctx, m, "systemctl daemon-reload")
}

// runTimeOnly sets a variable of the database that gains speed and is lost at a restart.
func runTimeOnly(ctx context.Context, _ *site, m *lab.Machine) error {
	return in(ctx, m, nil, "/", "mariadb", "-e", "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
}

// secondApp enables an app in another language that does not run, for the port of the first.
func secondApp(ctx context.Context, s *site, m *lab.Machine) error {
	unit := strings.TrimSuffix(s.unit(s.apps()[0]), ".go.service") + ".ruby.service"
	text := fmt.Sprintf("[Unit]\\nDescription=%s\\n\\n[Service]\\nUser=%s\\nEnvironment=PORT=%[3]d\\nExecStart=/usr/bin/python3 -m http.server %[3]d\\nRestart=always\\n\\n[Install]\\nWantedBy=multi-user.target\\n", "the app in Ruby", account, firstPort)
	return script(ctx, m, fmt.Sprintf("printf '%s' >/etc/systemd/system/%s; systemctl daemon-reload; systemctl enable -q %[2]s", text, unit))
}

// notEnabled disables the first app, which goes on.
func notEnabled(ctx context.Context, s *site, m *lab.Machine) error {
	return script(ctx, m, "systemctl disable -q "+s.unit(s.apps()[0]))
}
