package livesite

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// wireSystemd adds the machine's service manager where systemd has booted the machine and
// the policy allows files of units.
func (s *Subject) wireSystemd() {
	if _, err := s.hosts[""].Stat("/run/systemd/system"); err == nil && change.ReloadsUnits(s.File().Policy.Folders) {
		s.site.Services[change.Systemd] = change.Service{Reloads: true, Running: manager{s}}
	}
}

// A manager is systemd itself.
type manager struct{ s *Subject }

func (m manager) Reload(ctx context.Context) error {
	return m.s.shell(ctx, m.s.hosts[""], host.Command{Env: os.Environ(), Dir: "/"}, "systemctl daemon-reload")
}
func (m manager) Restart(ctx context.Context) error { return m.Reload(ctx) }
func (manager) CheckConfig(context.Context, string) error {
	return errors.New("systemd has no configuration of its own to check")
}
func (manager) Build(context.Context, string) error { return errors.New("systemd has no source") }
func (manager) Processes() ([]int, bool)            { return nil, false }
func (manager) DB() *sql.DB                         { return nil }
