package summary

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// Files of a run, beside its run.json.
const (
	hostFile = "host.tsv"
)

// A Detail is one run with everything that was saved beside it.
type Detail struct {
	Run  *iikanji.Run       `json:"run"`
	With []iikanji.ChangeID `json:"with"`
	// Diagnosis, Profiles and Facts are those of an observed run.
	Diagnosis *diagnose.Diagnosis `json:"diagnosis,omitempty"`
	Profiles  []iikanji.Profile   `json:"profiles,omitempty"`
	Facts     []iikanji.Fact      `json:"-"`
	Host      *HostSeries         `json:"host,omitempty"` // nil if the host was not sampled
	Notes     []Note              `json:"notes,omitempty"`
}

// addHosts adds the samples of the run's other machines.
func (d *Detail) addHosts(h *history.History) error {
	for _, on := range d.Run.Hosts {
		name := observe.MachineFile(on.Name)
		tsv, err := h.ReadFile(d.Run.ID, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s, err := ParseHost(tsv)
		if err != nil {
			return fmt.Errorf("reading %s of run %d: %w", name, d.Run.ID, err)
		}
		if d.Host == nil {
			d.Host = &HostSeries{At: s.At}
		}
		d.Host.addOf(on.Name, s)
	}
	return nil
}

// Of reads one run. The error for a run that was not saved is fs.ErrNotExist.
func Of(h *history.History, id iikanji.RunID) (*Detail, error) {
	run, err := h.LoadRun(id)
	if err != nil {
		return nil, err
	}
	d := &Detail{Run: run, With: statesOf(h.Events())[id].applied}
	for _, e := range h.Events() {
		if e.What == history.Noted && e.Run == id {
			d.Notes = append(d.Notes, Note{e.At, e.Run, e.Text})
		}
	}
	if tsv, err := h.ReadFile(id, hostFile); err == nil {
		if d.Host, err = ParseHost(tsv); err != nil {
			return nil, fmt.Errorf("reading %s of run %d: %w", hostFile, id, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := d.addHosts(h); err != nil {
		return nil, err
	}
	if !observe.Observed(h, id) {
		return d, nil
	}
	ob, known, err := observe.Recall(h, id)
	if errors.Is(err, fs.ErrNotExist) { // a file was not committed
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	if d.Diagnosis, err = diagnose.New(ob, known); err != nil {
		return nil, fmt.Errorf("diagnosing run %d again: %w", id, err)
	}
	d.Profiles, d.Facts = ob.Profiles, known
	return d, nil
}

// rows returns the rows of the profiles of a source.
func (d *Detail) rows(source iikanji.Source) (rows []iikanji.Row) {
	for _, p := range d.Profiles {
		if p.Source == source {
			rows = append(rows, p.Rows...)
		}
	}
	return rows
}
