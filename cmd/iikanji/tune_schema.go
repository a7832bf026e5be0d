package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/ddl"
	"github.com/iikanji/iikanji/internal/field"
	"github.com/iikanji/iikanji/internal/observe"
)

// schemaFiles chooses between schema files of a site.
type schemaFiles struct{ *field.Field }

// choose is tune.Tuner.WhichFile: where several schema files make a table
// alike, initialize is run once with the general log on. The file whose CREATE
// TABLE it executes is chosen.
func (f *schemaFiles) choose(ctx context.Context, r iikanji.Remedy, why string) (iikanji.Remedy, bool, error) {
	if !strings.Contains(why, "which of them initialize executes "+ddl.ErrWhichFile.Error()) {
		return r, false, nil
	}
	service, _ := f.Subject.Target().Service(r.Target)
	slow := service.LogPath("slow")
	if slow == "" {
		return r, false, nil
	}
	site := f.Subject.Site()
	executed, err := observe.Executed(ctx, site.Services[r.Target].DB, slow, func() error { return f.Initialize(ctx) })
	if err != nil {
		return r, false, fmt.Errorf("finding the schema file that initialize executes: %w", err)
	}
	chosen, err := ddl.ByExecuted(ctx, site, r, executed)
	return chosen, err == nil, nil // without a choice the remedy stays refused
}
