package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/site/observe"
)

const (
	// maxStatements bounds the statements of one timeline, maxMeanwhile those that
	// are considered.
	maxStatements = 300
	maxPossible   = 100
	maxMeanwhile  = 20_000
	// maxText bounds the text of a statement.
	maxText = 2_000
	// LikelyFrom is the least probability of a statement that is likely, LikelyAmong the
	// largest number of requests in flight that can have sent it: with more of them, the
	// probabilities are too high. `go run ./bench/join` measures how often statements of
	// each range are right; with these limits it was 93 % (docs/ui.md).
	LikelyFrom  = 0.9
	LikelyAmong = 4
	// PossibleFrom is the least probability of a statement that is possible.
	PossibleFrom = 0.1
	// slack is how much later than the end of the request an entry may be written: a
	// statement may end while the answer is on its way.
	slack = time.Millisecond
	// around is how long before and after the request the statements and requests are
	// that are considered: neighbours on a connection show more than the time alone.
	around = time.Second
)

// A Certainty is how well it is known that a request sent a statement.
type Certainty string

const (
	Certain  Certainty = "certain"
	Likely   Certainty = "likely"
	Possible Certainty = "possible"
)

// A Statement is one execution that the request can have sent.
type Statement struct {
	From, To   time.Time // the bounds of when it ran, as far as known
	Took       time.Duration
	Thread     uint64 // the connection
	Digest     string
	Text       string
	Examined   int64
	Sent       int64
	Offset     int64 // of its entry in the log
	Certainty  Certainty
	Share      float64 // the probability that the request sent it
	Candidates int     // requests that can have sent it, this one included
	Why        string  // the reason for the Certainty
}

// A Timeline is one request with its statements, in the order of time.
type Timeline struct {
	Request    Request
	InFlight   int // other requests at the same time, at some moment
	Statements []Statement
	// Others is the number of statements that ran meanwhile and are not known to be
	// of this request, possible ones beyond maxPossible included.
	Others int
	// Coarse: the log has whole seconds only, so that a statement can have run at any
	// time in its second.
	Coarse bool
	Logged bool // there is a slow log
}

// ErrNoRequest is the error for a number that is not a request of the load.
var ErrNoRequest = errors.New("there is no such request")

// Of reads one request by the number of its sample, with its statements.
func Of(ctx context.Context, h *history.History, id iikanji.RunID, number int, m *Model) (*Timeline, error) {
	var own Request
	err := eachSample(h, id, func(n int, head *bench.SampleHead, s bench.Sample) {
		if n == number {
			own = requestOf(n, head, s)
		}
	})
	if err != nil {
		return nil, err
	}
	if own.Number == 0 {
		return nil, fmt.Errorf("run %d, request %d: %w", id, number, ErrNoRequest)
	}
	raw, err := readRaw(ctx, h, id, &own, maxMeanwhile)
	if err != nil {
		return nil, err
	}
	return raw.timeline(own, m), nil
}

// A Raw is what the raw files of a run have, or the part of it around a request.
type Raw struct {
	requests   []Request
	statements []Statement // in the order of time
	found      logsFound
}

// maxRaw bounds the statements of a whole Raw.
const maxRaw = 300_000

// ReadRaw reads the raw files of a run whole, for timelines of many requests.
func ReadRaw(ctx context.Context, h *history.History, id iikanji.RunID) (*Raw, error) {
	return readRaw(ctx, h, id, nil, maxRaw)
}

// Numbers lists the numbers of all requests, except those that the end of the load
// cut off.
func (r *Raw) Numbers() (out []int) {
	for i := range r.requests {
		if r.requests[i].Fault != iikanji.FaultCut.String() {
			out = append(out, r.requests[i].Number)
		}
	}
	return out
}

// Of is the timeline of one request.
func (r *Raw) Of(number int, m *Model) (*Timeline, error) {
	for i := range r.requests {
		if r.requests[i].Number == number {
			return r.timeline(r.requests[i], m), nil
		}
	}
	return nil, fmt.Errorf("request %d: %w", number, ErrNoRequest)
}

// readRaw reads the raw files, only what is around own unless it is nil.
func readRaw(ctx context.Context, h *history.History, id iikanji.RunID, own *Request, most int) (*Raw, error) {
	raw := &Raw{}
	err := eachSample(h, id, func(n int, head *bench.SampleHead, s bench.Sample) {
		if r := requestOf(n, head, s); (own == nil || own.near(&r)) && len(raw.requests) < maxLearnRequests {
			raw.requests = append(raw.requests, r)
		}
	})
	if err != nil {
		return nil, err
	}
	wanted := func(*Statement) bool { return true }
	if own != nil {
		wanted = own.surroundings().holds
	}
	raw.statements, raw.found, err = readStatements(ctx, h, id, most, wanted)
	return raw, err
}

// surroundings are the time in which statements and requests are considered.
func (r *Request) surroundings() *Request {
	return &Request{Start: r.Start.Add(-around), End: r.End.Add(around)}
}

// near reports whether another request can have sent a statement of the surroundings.
// A statement of a coarse log may have run up to two seconds around.
func (r *Request) near(o *Request) bool {
	return !o.End.Before(r.Start.Add(-around-2*time.Second)) && !o.Start.After(r.End.Add(around+2*time.Second))
}

// timeline joins the statements around a request.
func (r *Raw) timeline(own Request, m *Model) *Timeline {
	t := &Timeline{Request: own, Logged: r.found.logged, Coarse: r.found.coarse}
	var all []Request
	for i := range r.requests {
		o := &r.requests[i]
		if !own.near(o) {
			continue
		}
		all = append(all, *o)
		if o.Number != own.Number && o.Start.Before(own.End) && own.Start.Before(o.End) {
			t.InFlight++
		}
	}
	var ran []Statement
	around := own.surroundings()
	for i := range r.statements {
		if len(ran) < maxMeanwhile && around.holds(&r.statements[i]) {
			ran = append(ran, r.statements[i])
		}
	}
	j := newJoin(m, all, ran)
	j.infer()
	t.take(ran, j)
	return t
}

// logsFound is what is known of the slow logs of a run.
type logsFound struct{ logged, coarse bool }

// readStatements reads the statements that wanted selects, in the order of time, of
// the slow logs of a run.
func readStatements(ctx context.Context, h *history.History, id iikanji.RunID, most int, wanted func(*Statement) bool) (out []Statement, found logsFound, err error) {
	logs, err := observe.KeptLogs(h, id)
	if err != nil {
		return nil, found, err
	}
	for _, l := range logs {
		in, err := lines.Open(l.Path, nil)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, found, err
		}
		found.logged, found.coarse = true, found.coarse || l.Growth == nil
		_, err = slowlog.Read(ctx, []*lines.Input{in}, slowlog.Options{Workers: 1, Each: func(e *slowlog.Execution) {
			from, to := writtenAt(l.Growth, e)
			s := Statement{From: time.Unix(0, from), To: time.Unix(0, to), Took: time.Duration(e.Took), Thread: e.Thread, Digest: e.Digest, Examined: e.Examined, Sent: e.Sent, Offset: e.Offset}
			if to != 0 && len(out) < most && wanted(&s) {
				s.Text = string(bytes.ToValidUTF8(e.Statement[:min(len(e.Statement), maxText)], []byte("\uFFFD")))
				out = append(out, s)
			}
		}})
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, found, fmt.Errorf("reading the slow log of run %d: %w", id, err)
		}
	}
	if len(logs) > 1 { // each log is in the order of time
		slices.SortStableFunc(out, func(a, b Statement) int { return a.To.Compare(b.To) })
	}
	return out, found, nil
}

// writtenAt are the times between which an entry was written: its end. Without a
// watched log, the statement began in the second of the timestamp.
func writtenAt(g *lines.Growth, e *slowlog.Execution) (from, to int64) {
	if g != nil {
		if from, to = g.Written(e.Offset); from != 0 && to != 0 {
			return from, to
		}
	}
	if e.At == 0 {
		return 0, 0
	}
	second := int64(0)
	if e.At%1e9 == 0 {
		second = 1e9
	}
	return e.At + e.Took, e.At + second + e.Took
}

// holds reports whether the statement can have run within the request.
func (r *Request) holds(s *Statement) bool {
	first := r.Start.Add(s.Took) // the earliest end
	if s.From.After(first) {
		first = s.From
	}
	return !first.After(s.To) && !first.After(r.End.Add(slack))
}

// take keeps the statements that the request can have sent: of the possible ones, the
// most probable.
func (t *Timeline) take(ran []Statement, j *join) {
	var shares []float64 // of the possible ones
	for i := range ran {
		s, x := &ran[i], &j.statements[i]
		if !t.Request.holds(s) {
			continue
		}
		sends := j.model.sends(indexOf(j.model.steps, t.Request.Step), x.digest)
		if x.candidates == nil {
			s.judge(0, x.count, false, sends)
		}
		for _, c := range x.candidates {
			if j.requests[c.request].number == t.Request.Number {
				s.judge(c.p, x.count, x.together, sends)
			}
		}
		if s.Certainty == Possible {
			shares = append(shares, s.Share)
		}
	}
	slices.Sort(shares)
	least := 0.0
	if n := len(shares) - maxPossible; n > 0 {
		least = shares[n]
	}
	possible := 0
	for i := range ran {
		s := ran[i]
		if !t.Request.holds(&s) {
			continue
		}
		keep := s.Certainty != "" && len(t.Statements) < maxStatements
		if s.Certainty == Possible {
			if keep = keep && s.Share >= least && possible < maxPossible; keep {
				possible++
			}
		}
		if !keep {
			t.Others++
			continue
		}
		t.Request.clamp(&s)
		t.Statements = append(t.Statements, s)
	}
}

// judge sets how well it is known that the request sent the statement. sends is
// whether the request's step sends such statements.
func (s *Statement) judge(p float64, candidates int, together, sends bool) {
	s.Share, s.Candidates = p, candidates
	switch {
	case candidates == 1 && together:
		s.Certainty, s.Why = Certain, "no other request was in flight during its transaction"
	case candidates == 1:
		s.Certainty, s.Why = Certain, "no other request was in flight"
	case p >= LikelyFrom && candidates <= LikelyAmong:
		s.Certainty, s.Why = Likely, fmt.Sprintf("by time, route and connection, among %d requests in flight", candidates)
	case p >= PossibleFrom:
		s.Certainty, s.Why = Possible, fmt.Sprintf("by time, route and connection, among %d requests in flight", candidates)
	case sends:
		s.Certainty, s.Why = Possible, fmt.Sprintf("the route sends such statements; %d requests were in flight", candidates)
	}
}

// clamp narrows the bounds of a statement to those within the request.
func (r *Request) clamp(s *Statement) {
	if first := r.Start.Add(s.Took); s.From.Before(first) {
		s.From = first
	}
	if s.To.After(r.End) {
		s.To = r.End
	}
	if s.To.Before(s.From) {
		s.To = s.From
	}
}

func firstWord(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	if i := strings.IndexAny(text, " \t\r\n;"); i >= 0 {
		text = text[:i]
	}
	return strings.ToLower(text)
}
