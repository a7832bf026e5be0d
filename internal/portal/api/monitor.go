package api

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Gauge is a number for programs that watch a portal. Labels are pairs of a name and a value.
type Gauge struct {
	Name   string
	Help   string
	Labels []string
	Value  float64
}

// A Monitor tells programs how a portal is.
type Monitor interface {
	// Ready is nil while the portal can do its work, else what it lacks.
	Ready(ctx context.Context) error
	Gauges(ctx context.Context) ([]Gauge, error)
}

// monitorRoutes are for programs that watch the portal. Numbers are for staff alone: while a board
// is frozen, how many runs a team makes is hidden.
func (s *Server) monitorRoutes() []Route {
	m := s.o.Monitor
	if m == nil {
		return nil
	}
	return []Route{
		{"GET", "/readyz", Anyone, 0, func(c *Call) error {
			if err := m.Ready(c.R.Context()); err != nil {
				return err
			}
			return c.JSON(map[string]string{"status": "ready"})
		}},
		{"GET", "/metrics", Staffed, 0, func(c *Call) error {
			all, err := m.Gauges(c.R.Context())
			if err != nil {
				return err
			}
			all = append(all, Gauge{Name: "iikanji_portal_streams", Help: "Open streams of browsers at this process.", Value: float64(s.streams.now())})
			c.W.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_, _ = c.W.Write(exposition(all)) // an error: the reader is gone
			return nil
		}},
	}
}

// exposition writes numbers in the text format of Prometheus. Those of one name follow each other.
func exposition(all []Gauge) []byte {
	slices.SortStableFunc(all, func(a, b Gauge) int { return strings.Compare(a.Name, b.Name) })
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var b bytes.Buffer
	for i, g := range all {
		if i == 0 || all[i-1].Name != g.Name {
			fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s gauge\n", g.Name, g.Help)
		}
		var labels []string
		for l := range slices.Chunk(g.Labels, 2) {
			labels = append(labels, l[0]+`="`+escaped.Replace(l[1])+`"`)
		}
		b.WriteString(g.Name)
		if len(labels) > 0 {
			b.WriteString("{" + strings.Join(labels, ",") + "}")
		}
		b.WriteString(" " + strconv.FormatFloat(g.Value, 'f', -1, 64) + "\n")
	}
	return b.Bytes()
}
