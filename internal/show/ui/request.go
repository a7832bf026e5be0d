package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/timeline"
)

// requestsPage is the data of the list of slow requests.
type requestsPage struct {
	Run  int
	Step string
}

// maxRequests bounds the list of slow requests.
const maxRequests = 100

// showRequests lists the slowest requests of a run.
func (s *Server) showRequests(r *http.Request) (*view, error) {
	n, err := pathNumber(r, "run")
	if err != nil {
		return nil, err
	}
	h, err := s.store.open()
	if err != nil {
		return nil, err
	}
	done, err := s.readRaw(r)
	if err != nil {
		return nil, err
	}
	defer done()
	key := r.URL.Query().Get("step")
	slowest, err := timeline.Slowest(h, runID(n), func(step string) bool { return key == "" || nameKey(redact.Text(step)) == key }, maxRequests)
	if err != nil {
		return nil, noSamples(n, err)
	}
	step := ""
	if key != "" && len(slowest) > 0 {
		step = redact.Text(slowest[0].Step)
	}
	t := &Table{Name: "requests", Caption: "The slowest requests", Columns: []Column{rightColumn("number", "request"), leftColumn("step", "step"), rightColumn("took", "took"), leftColumn("began", "began (UTC)"), rightColumn("status", "status"), rightColumn("bytes", "bytes"), rightColumn("client", "client"), leftColumn("fault", "fault")}}
	for i := range slowest {
		x := &slowest[i]
		x.Step = redact.Text(x.Step)
		t.Rows = append(t.Rows, []Cell{linked(x.Number, fmt.Sprintf("/runs/%d/requests/", n)), text(x.Step), number(x.Took().Seconds(), report.Duration(x.Took())), text(x.Start.UTC().Format("15:04:05.000")),
			whole(x.Status), number(float64(x.Bytes), report.Count(x.Bytes)), clientCell(x.Client), text(x.Fault)})
	}
	return &view{name: "requests", title: fmt.Sprintf("Slow requests of run %d", n), here: "/runs", tables: []*Table{t}, data: requestsPage{n, step}}, nil
}

// nameKey stands for a name in addresses: names are hostile and may be long.
func nameKey(name string) string { return digest(name)[:12] }

// StepKey is the key of the request's step.
func (p *requestPage) StepKey() string { return nameKey(p.Request.Step) }

// safeStatement is a statement without the literals that may be secrets.
func safeStatement(sql string) string { return redact.Text(string(redact.Statement([]byte(sql)))) }

// noSamples is the error of a run without samples.
func noSamples(n int, err error) error {
	if isMissing(err) {
		return notFound("the samples of run %d are not in the history: only runs of the own load generator have them, and those of old runs are removed", n)
	}
	return err
}

// requestPage is the data of one request's timeline.
type requestPage struct {
	*timeline.Timeline
	Run    int
	Figure *document.Figure
	// Numbers of statements by their certainty.
	Sure, Likely, Possible int
	// The limits of likely and possible statements.
	LikelyFrom, PossibleFrom float64
	LikelyAmong              int
}

// showRequest shows the timeline of one request.
func (s *Server) showRequest(r *http.Request) (*view, error) {
	n, err := pathNumber(r, "run")
	if err != nil {
		return nil, err
	}
	number, err := pathNumber(r, "number")
	if err != nil {
		return nil, err
	}
	d, err := s.store.detail(n)
	if err != nil {
		return nil, noRun(n, err)
	}
	h, err := s.store.open()
	if err != nil {
		return nil, err
	}
	done, err := s.readRaw(r)
	if err != nil {
		return nil, err
	}
	defer done()
	model, err := s.models.of(r.Context(), h, d)
	if err != nil {
		return nil, noSamples(n, err)
	}
	t, err := timeline.Of(r.Context(), h, runID(n), number, model)
	if errors.Is(err, timeline.ErrNoRequest) {
		return nil, notFound("run %d has no request %d", n, number)
	}
	if err != nil {
		return nil, noSamples(n, err)
	}
	t.Request.Step = redact.Text(t.Request.Step)
	for i := range t.Statements {
		t.Statements[i].Text = safeStatement(t.Statements[i].Text)
	}
	p := &requestPage{Timeline: t, Run: n, Figure: requestFigure(t), LikelyFrom: timeline.LikelyFrom, PossibleFrom: timeline.PossibleFrom, LikelyAmong: timeline.LikelyAmong}
	for i := range t.Statements {
		switch t.Statements[i].Certainty {
		case timeline.Certain:
			p.Sure++
		case timeline.Likely:
			p.Likely++
		case timeline.Possible:
			p.Possible++
		}
	}
	return &view{name: "request", title: fmt.Sprintf("Request %d of run %d", number, n), here: "/runs", tables: []*Table{statementsTable(t)}, data: p}, nil
}

// maxLanes bounds the connections of a chart.
const maxLanes = 20

// requestFigure draws the request and, in a lane for each connection, its statements.
func requestFigure(t *timeline.Timeline) *document.Figure {
	begin := t.Request.Start
	at := func(x time.Time) float64 { return x.Sub(begin).Seconds() * 1e3 }
	rows := []chart.Lane{{Label: "request", Spans: []chart.LaneSpan{{From: 0, To: at(t.Request.End), Colour: chart.Grey, Certain: true, Title: t.Request.Step}}}}
	lanes := map[uint64]int{}
	for i := range t.Statements {
		x := &t.Statements[i]
		n, ok := lanes[x.Thread]
		if !ok {
			if len(rows) == maxLanes {
				continue
			}
			n = len(rows)
			lanes[x.Thread] = n
			rows = append(rows, chart.Lane{Label: fmt.Sprintf("connection %d", x.Thread)})
		}
		span := chart.LaneSpan{From: at(middle(x).Add(-x.Took)), To: at(middle(x)), Colour: chart.Blue, Certain: x.Certainty == timeline.Certain,
			Title: fmt.Sprintf("%s, %s: %s", x.Certainty, report.Duration(x.Took), report.Shorten(report.Clean(x.Text), 200))}
		switch x.Certainty {
		case timeline.Likely:
			span.Colour = chart.Orange
		case timeline.Possible:
			span.Colour = chart.Grey
		}
		rows[n].Spans = append(rows[n].Spans, span)
	}
	return lanesFigure("The request and its statements", t.Request.Took(), rows)
}

// middle is the middle of the times at which a statement may have ended.
func middle(x *timeline.Statement) time.Time { return x.From.Add(x.To.Sub(x.From) / 2) }

func statementsTable(t *timeline.Timeline) *Table {
	out := &Table{Name: "statements", Caption: "Statements, in the order of time", Columns: []Column{rightColumn("at", "ended at"), rightColumn("within", "±"), leftColumn("certainty", "certainty"), rightColumn("share", "probability"), leftColumn("why", "why"), rightColumn("connection", "connection"), rightColumn("took", "took"), rightColumn("examined", "rows examined"), rightColumn("sent", "rows sent"), leftColumn("statement", "statement")}}
	for i := range t.Statements {
		x := &t.Statements[i]
		mark := map[timeline.Certainty]Cell{timeline.Certain: classed("● certain", "keep"), timeline.Likely: classed("◐ likely", "revert"), timeline.Possible: classed("○ possible", "dim")}[x.Certainty]
		at, within := middle(x).Sub(t.Request.Start), x.To.Sub(x.From)/2
		out.Rows = append(out.Rows, []Cell{number(at.Seconds(), report.Duration(at)), number(within.Seconds(), report.Duration(within)), mark, number(x.Share, fmt.Sprintf("%.0f%%", 100*x.Share)), text(x.Why), {Text: strconv.FormatUint(x.Thread, 10), Value: float64(x.Thread), Numeric: true},
			number(x.Took.Seconds(), report.Duration(x.Took)), number(float64(x.Examined), report.Count(x.Examined)), number(float64(x.Sent), report.Count(x.Sent)), text(x.Text)})
	}
	return out
}

// A modelCache keeps the models of the latest runs.
type modelCache struct {
	mu    sync.Mutex
	byRun map[int]*timeline.Model
}

// maxModels bounds the runs of a modelCache.
const maxModels = 16

func (c *modelCache) of(ctx context.Context, h *history.History, d *summary.Detail) (*timeline.Model, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := int(d.Run.ID)
	if found, ok := c.byRun[run]; ok {
		return found, nil
	}
	found, err := timeline.Learn(ctx, h, d.Run.ID, d.Profiles)
	if err != nil {
		return nil, err
	}
	if c.byRun == nil || len(c.byRun) >= maxModels {
		c.byRun = map[int]*timeline.Model{}
	}
	c.byRun[run] = found
	return found, nil
}

// ownClients is the number of the first client that a scenario brings itself, in samples.
const ownClients = 1 << 31

// clientCell is the number of a client; those that the scenario brings itself are
// counted from 0 again.
func clientCell(n int) Cell {
	if n < ownClients {
		return whole(n)
	}
	return number(float64(n), fmt.Sprintf("own %d", n-ownClients))
}
