// Command join measures how often the statements in the timeline of a request are
// those of that request. A small app on a real MariaDB writes the number of the
// request into a comment of each statement. The comments are removed from the slow log
// before package timeline reads it, and are compared with what it found.
//
//	go run ./bench/join
//
// It prints a row for each load: for certain, likely and possible statements how many
// were shown and which share was right, and how many of the requests' own statements
// were shown as certain or likely. The second table is about all loads together: how
// often statements of a probability were right, by the number of requests in flight that
// can have sent them. The limits of package timeline were chosen from it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/timeline"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

func main() {
	clients := flag.String("clients", "1,2,4,8,16,32", "browsers of each load, separated by commas")
	load := flag.Duration("load", 8*time.Second, "length of each load")
	requests := flag.Int("requests", 100, "requests of each load whose timelines are compared")
	pool := flag.Int("pool", 8, "connections of the app")
	look := flag.Duration("look", 2*time.Millisecond, "time between two looks at the length of the log")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *clients, lab{load: *load, requests: *requests, pool: *pool, look: *look}); err != nil {
		fmt.Fprintln(os.Stderr, "bench/join:", err)
		os.Exit(1)
	}
}

// run measures each load and writes the tables.
func run(ctx context.Context, w io.Writer, clients string, l lab) error {
	server, err := factstest.Start(ctx, "")
	if err != nil {
		return err
	}
	defer server.Stop()
	l.server = server
	t := report.Table{Columns: []report.Column{{Name: "clients"}, {Name: "requests/s"}, {Name: "in flight"}, {Name: "certain"}, {Name: "right"}, {Name: "likely"}, {Name: "right"}, {Name: "possible"}, {Name: "right"}, {Name: "own shown"}}}
	var all score
	for _, text := range strings.Split(clients, ",") {
		if l.clients, err = strconv.Atoi(text); err != nil || l.clients < 1 {
			return fmt.Errorf("-clients %q: want numbers of 1 or more", clients)
		}
		s, err := l.measure(ctx)
		if err != nil {
			return fmt.Errorf("with %d clients: %w", l.clients, err)
		}
		t.Rows = append(t.Rows, s.row(l.clients))
		all.add(s)
	}
	if err := t.Write(w, report.Markdown, 0); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return all.calibration().Write(w, report.Markdown, 0)
}

// Upper bounds of the ranges of probabilities and of candidates that are told apart.
var (
	probabilities = []float64{0.3, 0.6, 0.9, 1.01}
	candidates    = []int{2, 4, 8, 16, 32, 1 << 30}
)

// A cell counts the statements of a range, and those that were right.
type cell struct{ shown, right int }

// A score counts statements that were shown, and those that were right.
type score struct {
	shown, right map[timeline.Certainty]int
	own, found   int // statements of the requests, and those that were shown certain or likely
	inFlight     int
	timelines    int
	perSecond    float64
	cells        [6][4]cell // by candidates and probability, without certain ones
}

func (s *score) add(o *score) {
	for i := range o.cells {
		for k, c := range o.cells[i] {
			s.cells[i][k].shown += c.shown
			s.cells[i][k].right += c.right
		}
	}
}

// cell is the cell of a statement.
func (s *score) cell(x *timeline.Statement) *cell {
	i, k := 0, 0
	for x.Candidates > candidates[i] {
		i++
	}
	for x.Share >= probabilities[k] {
		k++
	}
	return &s.cells[i][k]
}

func (s *score) row(clients int) []string {
	out := []string{strconv.Itoa(clients), fmt.Sprintf("%.0f", s.perSecond), fmt.Sprintf("%.1f", float64(s.inFlight)/float64(max(s.timelines, 1)))}
	for _, c := range []timeline.Certainty{timeline.Certain, timeline.Likely, timeline.Possible} {
		out = append(out, strconv.Itoa(s.shown[c]), percent(s.right[c], s.shown[c]))
	}
	return append(out, percent(s.found, s.own))
}

// calibration lists how often statements of each probability were right.
func (s *score) calibration() *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "candidates", Left: true}}}
	from := 100 * timeline.PossibleFrom
	for _, p := range probabilities {
		to := min(100*p, 100)
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("%.0f–%.0f %%", from, to)}, report.Column{Name: "right"})
		from = to
	}
	least := 2
	for i, most := range candidates {
		row := []string{fmt.Sprintf("%d–%d", least, most)}
		if i == len(candidates)-1 {
			row[0] = fmt.Sprintf("%d or more", least)
		}
		for _, c := range s.cells[i] {
			row = append(row, strconv.Itoa(c.shown), percent(c.right, c.shown))
		}
		t.Rows = append(t.Rows, row)
		least = most + 1
	}
	return t
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}
