package field

import (
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/rewrite/gosource"
)

// sourceLimit bounds the reading of one app's source: the go command may have to
// compile the packages that the app imports.
const sourceLimit = 2 * time.Minute

// source collects what the source of the Go apps shows: the places of code levers,
// and the handlers of routes. That of another host is read in its mirror. Apps without a source
// folder have no facts. What cannot be read is a warning of the run.
func (f *Field) source(ctx context.Context, run *iikanji.Run, known []iikanji.Fact) []iikanji.Fact {
	site := f.Subject.Site()
	schema := gosource.SchemaOf(known)
	var out []iikanji.Fact
	for _, s := range f.Subject.Target().WithEngine(iikanji.EngineGo) {
		svc := site.Services[s.Name]
		dir, err := sourceHere(ctx, svc)
		var problems []string
		if dir != "" {
			var more []iikanji.Fact
			limited, cancel := context.WithTimeout(ctx, sourceLimit)
			more, problems, err = gosource.Facts(limited, s.Name, dir, svc.Package, schema)
			cancel()
			out = append(out, more...)
		}
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, p := range problems {
			run.Warnings = append(run.Warnings, fmt.Sprintf("less is known about the source of %s: %.300s", s.Name, p))
		}
	}
	return out
}

// sourceHere is the folder of this machine with the source of an app, "" for none.
func sourceHere(ctx context.Context, svc change.Service) (string, error) {
	if svc.Host != "" && svc.Mirror == nil {
		return "", nil
	}
	return svc.Readable(ctx, svc.Source)
}
