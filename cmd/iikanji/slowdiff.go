package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

// diff compares two logs or saved profiles by digest.
func (c *slowCmd) diff(ctx context.Context, e *env) error {
	opt, err := c.options()
	if err != nil {
		return err
	}
	var both [2]*iikanji.Profile
	for i, name := range c.Files[1:] {
		if both[i], err = loadSlow(ctx, e, name, opt); err != nil {
			return err
		}
		if !c.Literals {
			redact.Profile(both[i], false)
		}
	}
	limit := c.limit.rows
	switch c.Format {
	case "json":
		return report.SlowDiff(both[0], both[1], 0, true).Write(e.Stdout, report.JSON, 0)
	case "tsv", "csv":
		for _, p := range both {
			if err := report.SlowIntake(e.Stderr, p); err != nil {
				return err
			}
		}
		return report.SlowDiff(both[0], both[1], limit, true).Write(e.Stdout, report.Format(c.Format), 0)
	case "pt":
		return usageError("--format pt is the report of one log, not of a comparison")
	}
	return report.SlowDiffText(e.Stdout, both[0], both[1], report.Format(c.Format), e.Cols, limit)
}

// loadSlow reads a saved profile, or a log.
func loadSlow(ctx context.Context, e *env, name string, opt slowlog.Options) (*iikanji.Profile, error) {
	if name != "-" {
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			head := make([]byte, 64)
			n, _ := f.ReadAt(head, 0)
			if strings.HasPrefix(string(head[:n]), `{"version":`) {
				p := new(iikanji.Profile)
				if err := json.NewDecoder(f).Decode(p); err != nil {
					return nil, fmt.Errorf("reading %s: %w", name, err)
				}
				if p.Version > iikanji.ProfileVersion || p.Source != iikanji.Slow {
					return nil, fmt.Errorf("reading %s: it is not a profile of statements that this version can read", name)
				}
				return p, nil
			}
		}
	}
	return readSlow(ctx, e, []string{name}, opt)
}
