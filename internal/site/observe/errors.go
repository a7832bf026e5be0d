package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/errorlog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A logWatch cuts one error log, or the output of a service, to the load.
type logWatch struct {
	host                host.Host
	service, kind, path string
	form                errorlog.Form
	from, to            int64
	in                  *lines.Input  // nil when nothing was written, or when it is read on its machine
	ahead               time.Duration // of its machine's clock
	err                 error         // the first
}

// logWatches are the error logs and outputs of a target's services.
func logWatches(watched Watched) []*logWatch {
	var out []*logWatch
	for _, s := range watched.Target.Services {
		for _, l := range s.Logs {
			if l.Kind != "error" && l.Kind != "output" {
				continue
			}
			w := &logWatch{host: watched.host(s.Host), service: s.Name, kind: l.Kind, path: l.Path}
			switch s.Engine {
			case iikanji.EngineNginx:
				w.form = errorlog.Nginx
			case iikanji.EngineMariaDB:
				w.form = errorlog.MariaDB
			}
			out = append(out, w)
		}
	}
	return out
}

func (w *logWatch) fail(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s log of %s: %w", w.kind, w.service, err)
	}
}

func (w *logWatch) begin() {
	var err error
	w.from, err = size(w.host, w.path)
	w.fail(err)
}

// end opens the log, which fixes where it ends.
func (w *logWatch) end() {
	var err error
	if w.to, err = size(w.host, w.path); err != nil || w.to == w.from {
		w.fail(err)
		return
	}
	if host.WorkerOf(w.host) != nil {
		return
	}
	if w.in, err = openLog(w.host, w.path); err != nil {
		w.fail(err)
		return
	}
	w.to = max(w.to, w.in.Size())
}

// read counts what was written during the load.
func (w *logWatch) read(ctx context.Context) (*iikanji.Profile, error) {
	if w.err != nil {
		return nil, w.err
	}
	if host.WorkerOf(w.host) != nil && w.to > w.from {
		order := readOrder{Path: w.path, From: w.from, To: w.to, Form: w.form, Target: w.service}
		p, err := errorTask().On(ctx, w.host, order)
		w.fail(err)
		unshift(&p, w.ahead)
		return &p, w.err
	}
	if w.in == nil {
		return &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Errors, Target: w.service}, nil
	}
	if err := w.in.SeekTo(w.from); err != nil {
		w.fail(err)
		return nil, w.err
	}
	p, err := errorlog.Read(ctx, []*lines.Input{w.in}, errorlog.Options{Form: w.form, Target: w.service})
	w.fail(err)
	return p, w.err
}

// volume is the fact of how many bytes were written to the log, if known.
func (w *logWatch) volume() []iikanji.Fact {
	if w.err != nil || w.to < w.from {
		return nil
	}
	return []iikanji.Fact{volumeFact(w.service, w.kind, w.to-w.from)}
}

func volumeFact(service, kind string, n int64) iikanji.Fact {
	return fact.TopicVolume.Fact(service, kind, n, true)
}

// readErrors reads all error logs. Their sensor is green when all of them were
// read to the last line.
func (o *Observer) readErrors(ctx context.Context, ob *Observation) {
	s := Sensor{Source: iikanji.Errors, Name: "error logs"}
	var errs []error
	for _, w := range o.logs {
		p, err := w.read(ctx)
		errs = append(errs, err)
		ob.Seen = append(ob.Seen, w.volume()...)
		if p != nil {
			s.Proofs = append(s.Proofs, proveErrors(p, w.to-w.from)...)
			if len(p.Rows) > 0 {
				ob.Profiles = append(ob.Profiles, *p)
			}
		}
	}
	for _, w := range o.webs {
		if !hidesWarnings(w.conf) {
			continue
		}
		of := "nginx's error log"
		if w.several {
			of = "the error log of " + w.service.Name
		}
		ob.Run.Warnings = append(ob.Run.Warnings, of+" has no warnings (error_log … warn): whether requests and answers went to temporary files is not known")
	}
	if len(o.logs) > 0 {
		ob.Sensors = append(ob.Sensors, s.settle(errors.Join(errs...)))
	}
}
