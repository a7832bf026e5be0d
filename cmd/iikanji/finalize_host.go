package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/boot"
	"github.com/iikanji/iikanji/internal/site/livesite"
)

// A finalHost is one machine of a site that is finalized.
type finalHost struct {
	*finalSite
	name  string // in the file; "" is this machine
	first bool   // what is done once for the site is done with it
}

// Name implements finalize.Host.
func (h *finalHost) Name() string { return h.label(h.name) }

// with opens the site for one step.
func (h *finalHost) with(ctx context.Context, do func(m *finalize.Machine) error) error {
	return h.subject(ctx, func(_ context.Context, s *livesite.Subject) error {
		m, err := h.machine(s)
		if err != nil {
			return err
		}
		return do(m)
	})
}

func (h *finalHost) machine(s *livesite.Subject) (*finalize.Machine, error) {
	sources := map[string]string{}
	for i := range h.file.Services {
		if one := &h.file.Services[i]; one.Role == iikanji.RoleApp {
			sources[one.Name] = one.App.Source
		}
	}
	on := host.Host(host.Local{})
	if h.name != "" {
		var err error
		if on, err = s.Site().On(h.name); err != nil {
			return nil, err
		}
	}
	m := &finalize.Machine{Label: h.Name(), Site: s.Site(), History: h.history, Refresh: s.Refresh,
		Acts:  &change.Executor{Hands: s.Site(), Journal: h.history, Policy: s.Site().Target.Policy},
		Asker: &boot.Asker{Host: on, Target: s.Target(), Sources: sources, DB: func(name string) *sql.DB { return s.Site().Services[name].DB() }}}
	if h.first {
		m.Sensors, m.Tidy = h.sensors, h.tidy
	}
	return m, nil
}

// sensors are the changes of sensors in force.
func (h *finalHost) sensors() (ids []iikanji.ChangeID, err error) {
	changes, err := h.history.Changes()
	for _, c := range changes {
		if c.Kind == livesite.SensorKind && c.Stage.May(iikanji.Reverting) {
			ids = append(ids, c.ID)
		}
	}
	return ids, err
}

// tidy packs the raw files of the history.
func (h *finalHost) tidy(check bool) ([]string, error) {
	if check {
		return nil, nil
	}
	p, err := h.history.Pack(history.PackAfter, history.MaxRaw)
	if err != nil || p.Pruned == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("removed %s of the oldest runs", report.Number(p.Pruned, "raw file"))}, nil
}

// LogsOff implements finalize.Host.
func (h *finalHost) LogsOff(ctx context.Context, check bool) (says []string, err error) {
	err = h.with(ctx, func(m *finalize.Machine) (err error) {
		says, err = m.LogsOff(ctx, check)
		return err
	})
	return says, err
}

// Losses implements finalize.Host.
func (h *finalHost) Losses(ctx context.Context) (found []iikanji.Finding, err error) {
	err = h.with(ctx, func(m *finalize.Machine) (err error) {
		found, err = m.Losses(ctx)
		return err
	})
	return found, err
}

// Mend implements finalize.Host.
func (h *finalHost) Mend(ctx context.Context, loss iikanji.Finding) (says string, err error) {
	err = h.with(ctx, func(m *finalize.Machine) (err error) {
		says, err = m.Mend(ctx, loss)
		return err
	})
	return says, err
}

// LeftBehind implements finalize.Host.
func (h *finalHost) LeftBehind(ctx context.Context, check bool) (says []string, err error) {
	err = h.with(ctx, func(m *finalize.Machine) (err error) {
		says, err = m.LeftBehind(ctx, check)
		return err
	})
	return says, err
}

// leaveMachines removes iikanji's own files from the other machines, when nothing more is done
// there. What stays is in a folder that the next boot empties.
func (f *finalSite) leaveMachines(ctx context.Context) {
	for name, h := range f.target.hosts {
		if name == "" {
			continue
		}
		r, err := h.Exec(ctx, host.Command{Path: "/bin/rm", Args: append([]string{"-rf", "--"}, leftovers...)})
		if err == nil && r.Status != 0 {
			err = fmt.Errorf("rm ended with status %d: %.200s", r.Status, r.Output)
		}
		if err != nil {
			f.progress.Say("iikanji's files stay on %s: %v", name, err)
		}
	}
}
