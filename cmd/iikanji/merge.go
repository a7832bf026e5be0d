package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

type mergeCmd struct {
	Profiles []string `arg:"" help:"Profiles that access or slow wrote with --save." placeholder:"FILE"`

	tableFlags
	Save     string `help:"Also save the merged profile to this file." placeholder:"FILE"`
	Literals bool   `help:"Keep literals that the profiles were saved with; by default they are redacted."`
}

// Help returns the long help of the command.
func (mergeCmd) Help() string {
	return `Joins profiles of several hosts or hours into one. Counts and sums are exact,
percentiles are within 1 %. All profiles must be of the same kind.

Examples:
  iikanji access --save a.json host-a.log
  iikanji access --save b.json host-b.log
  iikanji merge a.json b.json
  iikanji merge --save all.json a.json b.json c.json

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *mergeCmd) Run(_ context.Context, e *env) error {
	var all []*iikanji.Profile
	for _, name := range c.Profiles {
		p, err := loadProfile(name)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	merge := tally.Merge
	if all[0].Source == iikanji.Access {
		merge = accesslog.Merge
	}
	p, err := merge(all...)
	if err != nil {
		return err
	}
	if !c.Literals {
		redact.Profile(p, true)
	}
	if c.Save != "" {
		if err := saveRedacted(c.Save, p, c.Literals); err != nil {
			return err
		}
	}
	table, err := c.tableFlags.table(e, viewOf(p))
	if err != nil {
		return err
	}
	return table.write(e.Stdout, p)
}

// viewOf returns the view of a saved profile's rows.
func viewOf(p *iikanji.Profile) *report.View {
	if p.Source == iikanji.Access {
		return report.AccessView("route")
	}
	return report.StatementView()
}

// errNoProfile reports a file that is not a saved profile.
var errNoProfile = errors.New("it is not a saved profile")

// loadProfile reads a file that --save wrote.
func loadProfile(name string) (*iikanji.Profile, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the profile: %w", err)
	}
	p := new(iikanji.Profile)
	if err := json.Unmarshal(b, p); err != nil || p.Source == iikanji.SourceUnknown {
		return nil, hinted(fmt.Errorf("reading the profile %s: %w", name, errNoProfile), "iikanji access --save FILE writes one")
	}
	if p.Version > iikanji.ProfileVersion {
		return nil, fmt.Errorf("reading the profile %s: it has version %d, and this program reads up to %d", name, p.Version, iikanji.ProfileVersion)
	}
	return p, nil
}
