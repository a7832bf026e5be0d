package field

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/constants"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// maxSource is the largest file of a source that is read, in bytes, maxSources how many are.
	maxSource  = 256 << 10
	maxSources = 2000
	// maxConstants is how many constants of an app are kept.
	maxConstants = 50
)

// constants collects numbers in the source of the apps, in any language, whose names say that
// they limit something. They explain a load that stalls on an idle machine, so they are read
// only after a run whose benchmarker says that its load did not grow.
func (f *Field) constants(ctx context.Context, run *iikanji.Run) (out []iikanji.Fact) {
	if !slices.ContainsFunc(run.Messages, func(m iikanji.Message) bool { return m.Means == iikanji.MeansNoGrowth }) {
		return nil
	}
	site := f.Subject.Site()
	for _, s := range f.Subject.Target().WithRole(iikanji.RoleApp) {
		svc := site.Services[s.Name]
		h, err := site.On(svc.Host)
		if svc.Source == "" || err != nil {
			continue
		}
		files, found := 0, 0
		err = h.Walk(svc.Source, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || ctx.Err() != nil || files == maxSources || found == maxConstants:
				return fs.SkipAll
			case d.IsDir() && path != svc.Source && constants.IsForeign(d.Name()):
				return fs.SkipDir
			}
			rel, err := filepath.Rel(svc.Source, path)
			if err != nil || !d.Type().IsRegular() || !constants.IsSource(filepath.ToSlash(rel)) {
				return nil
			}
			if info, err := d.Info(); err != nil || info.Size() > maxSource {
				return nil
			}
			files++
			text, err := h.Read(path)
			if err != nil {
				return nil // it is named by what reads the source for more than this
			}
			for _, c := range constants.Find(string(text)) {
				if found++; found > maxConstants {
					break
				}
				name := filepath.ToSlash(rel)
				out = append(out, fact.TopicConstant.Fact(s.Name, fmt.Sprintf("%s:%d", name, c.Line),
					fact.Constant{File: name, Line: c.Line, Name: c.Name, Value: c.Value, Text: c.Text}, false))
			}
			return nil
		})
		if err != nil {
			run.Warnings = append(run.Warnings, fmt.Sprintf("the constants of %s are not known: %v", s.Name, err))
		}
	}
	return out
}
