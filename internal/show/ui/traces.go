package ui

import (
	"fmt"
	"net/http"

	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/otlp"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
)

// tracesPage is the data of the list of traces.
type tracesPage struct {
	Address     string
	Route       string
	Spans, Gone int64
	Traces      int
}

// maxTraces bounds the list of slow traces.
const maxTraces = 100

// showTraces lists the routes of the received traces, and the slowest traces.
func (s *Server) showTraces(r *http.Request) (*view, error) {
	if s.o.Traces == nil {
		return nil, notFound("traces are received with --otlp ADDRESS")
	}
	p := tracesPage{Address: s.o.OTLP}
	key := r.URL.Query().Get("route")
	p.Spans, p.Traces, p.Gone = s.o.Traces.Counts()
	routes := &Table{Name: "routes", Caption: "Routes of the received traces", Columns: []Column{leftColumn("route", "route"), rightColumn("traces", "traces"), rightColumn("failed", "failed"), rightColumn("mean", "mean"), rightColumn("p95", "95th"), rightColumn("calls", "database calls"), rightColumn("database", "in the database"), leftColumn("slowest", "slowest")}}
	for _, x := range s.o.Traces.Routes() {
		key := nameKey(x.Name)
		x.Name = redact.Text(x.Name)
		routes.Rows = append(routes.Rows, []Cell{link(x.Name, "/traces?route="+key), whole(x.Count), whole(x.Failed), number(x.Mean.Seconds(), report.Duration(x.Mean)), number(x.P95.Seconds(), report.Duration(x.P95)),
			number(x.Statements, fmt.Sprintf("%.1f", x.Statements)), number(x.Database.Seconds(), report.Duration(x.Database)), link(x.Slowest[:8], "/traces/"+x.Slowest)})
	}
	slowest := &Table{Name: "slowest", Caption: "The slowest traces", Columns: []Column{leftColumn("trace", "trace"), leftColumn("route", "route"), rightColumn("took", "took"), rightColumn("spans", "spans"), leftColumn("began", "began (UTC)")}}
	for _, t := range s.o.Traces.Slowest(func(route string) bool { return key == "" || nameKey(route) == key }, maxTraces) {
		if key != "" {
			p.Route = redact.Text(t.Route())
		}
		server := t.Server()
		slowest.Rows = append(slowest.Rows, []Cell{link(t.ID[:8], "/traces/"+t.ID), text(redact.Text(t.Route())), number(server.Took().Seconds(), report.Duration(server.Took())), whole(len(t.Spans)), text(server.From.UTC().Format("15:04:05.000"))})
	}
	return &view{name: "traces", title: "Traces", here: "/traces", tables: []*Table{routes, slowest}, data: p}, nil
}

// tracePage is the data of one trace.
type tracePage struct {
	*otlp.Trace
	Server *otlp.Span
	Figure *document.Figure
	Key    string // of its route
}

// maxSpanLanes bounds the spans of a chart.
const maxSpanLanes = 60

// showTrace shows the timeline of one trace. Its statements are certain: the app
// itself reports which request they belong to.
func (s *Server) showTrace(r *http.Request) (*view, error) {
	if s.o.Traces == nil {
		return nil, notFound("traces are received with --otlp ADDRESS")
	}
	t := s.o.Traces.Trace(r.PathValue("trace"))
	if t == nil || len(t.Spans) == 0 {
		return nil, notFound("this trace is not kept: only the latest are")
	}
	server := t.Server()
	begin := t.Spans[0].From
	p := &tracePage{Trace: t, Server: server, Key: nameKey(t.Route())}
	for i := range t.Spans {
		x := &t.Spans[i]
		x.Name, x.Route, x.Statement = redact.Text(x.Name), redact.Text(x.Route), safeStatement(x.Statement)
	}
	table := &Table{Name: "spans", Caption: "Spans, in the order of time", Columns: []Column{rightColumn("at", "began at"), rightColumn("took", "took"), leftColumn("service", "service"), leftColumn("name", "name"), leftColumn("kind", "kind"), leftColumn("certainty", "certainty"), leftColumn("statement", "statement")}}
	var rows []chart.Lane
	end := server.To
	for i := range t.Spans {
		x := &t.Spans[i]
		if x.To.After(end) {
			end = x.To
		}
		colour, kind := chart.Grey, "internal"
		switch {
		case x.Server:
			colour, kind = chart.Green, "request"
		case x.System != "" || x.Statement != "":
			colour, kind = chart.Blue, "database"
		}
		at := x.From.Sub(begin)
		if len(rows) < maxSpanLanes {
			rows = append(rows, chart.Lane{Label: x.Name, Spans: []chart.LaneSpan{{From: at.Seconds() * 1e3, To: x.To.Sub(begin).Seconds() * 1e3, Colour: colour, Certain: true, Title: fmt.Sprintf("%s, %s: %s", kind, report.Duration(x.Took()), x.Name)}}})
		}
		certainty := text("")
		if kind == "database" {
			certainty = classed("● certain", "keep")
		}
		table.Rows = append(table.Rows, []Cell{number(at.Seconds(), report.Duration(at)), number(x.Took().Seconds(), report.Duration(x.Took())), text(x.Service), text(x.Name), text(kind), certainty, text(x.Statement)})
	}
	p.Figure = lanesFigure("Spans of the trace", end.Sub(begin), rows)
	return &view{name: "trace", title: "Trace " + t.ID[:8], here: "/traces", tables: []*Table{table}, data: p}, nil
}
