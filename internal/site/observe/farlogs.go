package observe

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/errorlog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A readOrder is a part of a log that is read on its machine, and how it is counted.
type readOrder struct {
	Path     string
	From, To int64 // offsets; To 0 for the present end
	// Window is the load, cut into ticks; N is 0 for none. Points are the looks at the log;
	// none: its records are placed by their timestamps.
	Began  time.Time
	Step   time.Duration
	N      int
	Points [][3]int64
	Routes []string // known routes of an access log
	Form   errorlog.Form
	Target string
}

// window is that of the order.
func (o *readOrder) window() *tally.Window {
	if o.N == 0 {
		return nil
	}
	w := &tally.Window{From: o.Began, Step: o.Step, N: o.N}
	if len(o.Points) > 0 {
		w.Written = lines.GrowthOf(o.Points).Written
	}
	return w
}

// orderOf is a log with a window of this machine, in the times of a clock that is ahead by
// an offset.
func orderOf(path string, from, to int64, w *tally.Window, l *growingLog, ahead time.Duration) readOrder {
	o := readOrder{Path: path, From: from, To: to}
	if w != nil {
		o.Began, o.Step, o.N = w.From.Round(0).Add(ahead), w.Step, w.N
	}
	if l != nil {
		o.Points = l.growth.Points()
	}
	return o
}

// open opens the part of the log.
func (o *readOrder) open(h host.Host) (*lines.Input, error) {
	f, err := h.Open(o.Path)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return lines.File(o.Path, &tailFile{File: f, from: o.From, to: o.To})
}

// slowTask reads a slow log on its machine.
func slowTask() host.Task[readOrder, iikanji.Profile] {
	return host.Task[readOrder, iikanji.Profile]{Name: "read-slow", Do: func(ctx context.Context, h host.Host, o readOrder) (out iikanji.Profile, err error) {
		in, err := o.open(h)
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		p, err := slowlog.Read(ctx, []*lines.Input{in}, slowlog.Options{PerSecond: true, Ticks: shifted(o.window(), o.From)})
		if err != nil {
			return out, err
		}
		return *p, nil
	}}
}

// errorTask reads an error log on its machine.
func errorTask() host.Task[readOrder, iikanji.Profile] {
	return host.Task[readOrder, iikanji.Profile]{Name: "read-errors", Do: func(ctx context.Context, h host.Host, o readOrder) (out iikanji.Profile, err error) {
		in, err := o.open(h)
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		p, err := errorlog.Read(ctx, []*lines.Input{in}, errorlog.Options{Form: o.Form, Target: o.Target})
		if err != nil {
			return out, err
		}
		return *p, nil
	}}
}

// A farReading is an accesslog.Result on its way.
type farReading struct {
	Profile *iikanji.Profile
	Error   string
	Empty   bool // the error is an accesslog.EmptyError
}

func farReadingOf(r accesslog.Result) farReading {
	out := farReading{Profile: r.Profile}
	if r.Err != nil {
		var empty *accesslog.EmptyError
		out.Error, out.Empty = r.Err.Error(), errors.As(r.Err, &empty)
	}
	return out
}

func (r farReading) result(ahead time.Duration) accesslog.Result {
	out := accesslog.Result{Profile: r.Profile}
	if out.Profile != nil {
		unshift(out.Profile, ahead)
	}
	switch {
	case r.Empty:
		out.Err = &accesslog.EmptyError{Why: r.Error}
	case r.Error != "":
		out.Err = errors.New(r.Error)
	}
	return out
}

// accessTask reads an access log on its machine, in every way that the observer needs.
func accessTask() host.Task[readOrder, []farReading] {
	return host.Task[readOrder, []farReading]{Name: "read-access", Do: func(ctx context.Context, h host.Host, o readOrder) (out []farReading, err error) {
		in, err := o.open(h)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		var routes []accesslog.Pattern
		for _, text := range o.Routes {
			if p, err := accesslog.Route(text); err == nil {
				routes = append(routes, p)
			}
		}
		ways, err := accessWays(shifted(o.window(), o.From), routes)
		if err != nil {
			return nil, err
		}
		results, err := accesslog.ReadAll(ctx, []*lines.Input{in}, ways)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			out = append(out, farReadingOf(r))
		}
		return out, nil
	}}
}

// A rawOrder is the begin of a log that is kept, compressed to at most so many bytes.
type rawOrder struct {
	Path string
	Most int
}

// rawTask compresses a log on its machine.
func rawTask() host.Task[rawOrder, []byte] {
	return host.Task[rawOrder, []byte]{Name: "raw-log", Do: func(_ context.Context, h host.Host, o rawOrder) ([]byte, error) {
		f, err := h.Open(o.Path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return packed(io.LimitReader(f, mostSlowLog), o.Most)
	}}
}

// packBlock is how much of a log is compressed between two looks at the size.
const packBlock = 1 << 20

// packed is the begin of a text as gzip, of at most so many bytes but one block; 0 for all of
// it.
func packed(in io.Reader, most int) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if most == 0 && err == nil {
		_, err = io.Copy(w, in)
	}
	for err == nil && b.Len() < most {
		if _, err = io.CopyN(w, in, packBlock); err == nil {
			err = w.Flush()
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unshift puts the times of a profile that was read on a machine whose clock is ahead into
// those of this one.
func unshift(p *iikanji.Profile, ahead time.Duration) {
	back := func(times ...*time.Time) {
		for _, t := range times {
			if !t.IsZero() {
				*t = t.Add(-ahead)
			}
		}
	}
	back(&p.First, &p.Last, &p.Intake.First, &p.Intake.Last)
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Ticks != nil {
			back(&r.Ticks.From)
		}
		if r.PerSecond != nil {
			r.PerSecond.From -= int64(ahead.Round(time.Second) / time.Second)
		}
	}
}

// Tasks are what the far end of a machine carries out for this package.
func Tasks() []host.Served {
	return []host.Served{looksFeed(), slowTask(), errorTask(), accessTask(), rawTask()}
}
