package work

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// maxLog bounds how much of an access log of one run is read.
const maxLog = 256 << 20

// A Traffic is the access logs of a site from some moment on. Nothing is turned on: a log
// without times gives counts only.
type Traffic struct{ logs []grown }

type grown struct {
	service string
	host    host.Host
	path    string
	from    int64
}

// WatchTraffic notes how long the access logs are before a run.
func WatchTraffic(site *change.Site) *Traffic {
	t := &Traffic{}
	for _, s := range site.Target.Services {
		path := s.LogPath("access")
		h, err := site.On(s.Host)
		if path == "" || s.Role != iikanji.RoleWeb || err != nil {
			continue
		}
		g := grown{service: s.Name, host: h, path: path}
		if info, err := h.Stat(path); err == nil {
			g.from = info.Size()
		}
		t.logs = append(t.logs, g)
	}
	return t
}

// Read reads the requests of the run by route, the heaviest first; nil if there is no log
// or none that can be read. It is called after the load.
func (t *Traffic) Read(ctx context.Context) *iikanji.Profile {
	var parts []*iikanji.Profile
	for _, g := range t.logs {
		text, err := g.read()
		if err != nil || len(text) == 0 {
			continue
		}
		p, err := accesslog.Read(ctx, []*lines.Input{lines.Bytes(g.path, text)}, accesslog.Options{Whole: true, Workers: 2})
		if err == nil {
			p.Target = g.service
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	if len(parts) == 1 {
		return parts[0]
	}
	all, err := accesslog.Merge(parts...)
	if err != nil {
		return parts[0]
	}
	return all
}

func (g grown) read() ([]byte, error) {
	f, err := g.host.Open(g.path)
	if err != nil {
		return nil, fmt.Errorf("reading the requests of the run: %w", err)
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, g.from, maxLog))
}

// Counted writes the number of requests of the access logs to a run.
func Counted(run *iikanji.Run, p *iikanji.Profile) {
	if p == nil {
		return
	}
	n := 0.0
	for _, r := range p.Rows {
		n += float64(r.Count)
	}
	if n == 0 {
		return
	}
	if run.Counts == nil {
		run.Counts = map[string]float64{}
	}
	run.Counts[requestCount] = n
}

// SaveRoutes keeps the requests of a run, for the comparison with the next one.
func (d *Day) SaveRoutes(run iikanji.RunID, p *iikanji.Profile) error {
	return d.Store.SaveAside(run, "routes", p)
}

// RoutesBefore are the requests of the latest run before one; nil if none has any.
func (d *Day) RoutesBefore(run iikanji.RunID) *iikanji.Profile {
	runs, err := d.Store.Runs()
	if err != nil {
		return nil
	}
	for _, id := range slices.Backward(runs) {
		var p iikanji.Profile
		if id < run && d.Store.ReadAside(id, "routes", &p) == nil {
			return &p
		}
	}
	return nil
}
