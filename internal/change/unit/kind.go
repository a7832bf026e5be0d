package unit

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans settings of units. The package comment has its acts.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "unit" }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Settings of systemd's units for the next boot, in files of iikanji's own; the target is a service of the site. The policy must allow " + Folder + "."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := change.MatchAct[planner](acts, r)
	return act, err
}

// Folder is where administrators put units and drop-ins (systemd.unit(5)).
const Folder = "/etc/systemd/system"

// Plan implements change.Kind.
func (k Kind) Plan(_ context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, args, err := change.MatchAct[planner](acts, r)
	if err != nil {
		return nil, err
	}
	if _, booted := s.Services[change.Systemd]; !booted || !slices.Contains(s.RootsOn(""), Folder) {
		return nil, fmt.Errorf("the target is not allowed to change units: %s is not one of its folders, or systemd has not booted the machine", Folder)
	}
	path, text := args.edit()
	path = filepath.Join(Folder, path)
	old, err := s.ReadOld("", path)
	if err != nil {
		return nil, err
	}
	edited := text(old)
	if bytes.Equal(old, edited) {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: args.says(), Risk: iikanji.RiskNone}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Path: path, Old: old, New: edited, Folder: true})
	reload := iikanji.Op{Verb: iikanji.Reload, Place: change.Systemd}
	c.Do, c.Undo = append(c.Do, reload), append(c.Undo, reload)
	return c, nil
}
