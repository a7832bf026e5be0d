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
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/lines"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/slowlog"
)

const (
	// maxStatements bounds the statements of one timeline, maxMeanwhile those that
	// are considered.
	maxStatements = 300
	maxPossible   = 100
	maxMeanwhile  = 20_000
	// maxText bounds the text of a statement.
	maxText = 2_000
	// fewInFlight is how many requests can have sent a statement that is likely one
	// of this request's.
	fewInFlight = 4
	// slack is how much later than the end of the request an entry may be written: a
	// statement may end while the answer is on its way.
	slack = time.Millisecond
)

// A Certainty is how well it is known that a request sent a statement.
type Certainty string

const (
	Certain Certainty = "certain"
	Likely  Certainty = "likely"
	// Possible: its route sends such statements, but many requests of such routes were
	// in flight.
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
	Certainty  Certainty
	Candidates int    // requests that can have sent it, this one included
	Why        string // the reason for the Certainty
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

// ErrNoRequest is the error for a number that is no request of the load.
var ErrNoRequest = errors.New("there is no such request")

// Of reads one request by the number of its sample, with its statements. routes is
// which steps send a digest, from [Senders].
func Of(ctx context.Context, h *history.History, id iikanji.RunID, number int, routes map[string][]string) (*Timeline, error) {
	t := &Timeline{}
	var others []Request
	err := eachSample(h, id, func(n int, head *bench.SampleHead, s bench.Sample) {
		if n == number {
			t.Request = requestOf(n, head, s)
		}
	})
	if err != nil {
		return nil, err
	}
	if t.Request.Number == 0 {
		return nil, fmt.Errorf("run %d, request %d: %w", id, number, ErrNoRequest)
	}
	// A statement of a coarse log may have run up to two seconds around.
	from, to := t.Request.Start.Add(-2*time.Second), t.Request.End.Add(2*time.Second)
	err = eachSample(h, id, func(n int, head *bench.SampleHead, s bench.Sample) {
		r := requestOf(n, head, s)
		if n == number || r.End.Before(from) || r.Start.After(to) {
			return
		}
		others = append(others, r)
		if r.Start.Before(t.Request.End) && t.Request.Start.Before(r.End) {
			t.InFlight++
		}
	})
	if err != nil {
		return nil, err
	}
	ran, err := t.meanwhile(ctx, h, id)
	if err != nil {
		return nil, err
	}
	t.judge(ran, others, routes)
	return t, nil
}

// meanwhile reads the statements that can have run during the request.
func (t *Timeline) meanwhile(ctx context.Context, h *history.History, id iikanji.RunID) ([]Statement, error) {
	logs, err := observe.KeptLogs(h, id)
	if err != nil {
		return nil, err
	}
	var out []Statement
	for _, l := range logs {
		in, err := lines.Open(l.Path, nil)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		t.Logged, t.Coarse = true, t.Coarse || l.Growth == nil
		_, err = slowlog.Read(ctx, []*lines.Input{in}, slowlog.Options{Workers: 1, Each: func(e *slowlog.Execution) {
			from, to := writtenAt(l.Growth, e)
			s := Statement{From: time.Unix(0, from), To: time.Unix(0, to), Took: time.Duration(e.Took), Thread: e.Thread, Digest: e.Digest, Examined: e.Examined, Sent: e.Sent}
			if to != 0 && len(out) < maxMeanwhile && t.Request.holds(&s) {
				s.Text = string(bytes.ToValidUTF8(e.Statement[:min(len(e.Statement), maxText)], []byte("\uFFFD")))
				out = append(out, s)
			}
		}})
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, fmt.Errorf("reading the slow log of run %d: %w", id, err)
		}
	}
	if len(logs) > 1 { // each log is in the order of time
		slices.SortStableFunc(out, func(a, b Statement) int { return a.To.Compare(b.To) })
	}
	return out, nil
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

// judge keeps the statements that the request can have sent.
func (t *Timeline) judge(ran []Statement, others []Request, routes map[string][]string) {
	for i := range ran {
		s := &ran[i]
		senders, known := routes[s.Digest]
		mine := known && slices.Contains(senders, t.Request.Step)
		alike := 1
		s.Candidates = 1
		for j := range others {
			if !others[j].holds(s) {
				continue
			}
			s.Candidates++
			if known && slices.Contains(senders, others[j].Step) {
				alike++
			}
		}
		switch {
		case s.Candidates == 1:
			s.Certainty, s.Why = Certain, "no other request was in flight"
		case mine && alike > fewInFlight:
			s.Certainty, s.Candidates, s.Why = Possible, alike, fmt.Sprintf("one of %d requests of routes that send such statements", alike)
		case mine:
			s.Certainty, s.Candidates, s.Why = Likely, alike, fmt.Sprintf("the route sends such statements; %d requests of such routes were in flight", alike)
		case !known && s.Candidates <= fewInFlight:
			s.Certainty, s.Why = Likely, fmt.Sprintf("one of %d requests in flight", s.Candidates)
		}
	}
	joinTransactions(ran)
	possible := 0
	for _, s := range ran {
		if s.Certainty == Possible {
			possible++
		}
		if s.Certainty == "" || len(t.Statements) == maxStatements || s.Certainty == Possible && possible > maxPossible {
			t.Others++
			continue
		}
		t.Request.clamp(&s)
		t.Statements = append(t.Statements, s)
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

// joinTransactions makes the statements of a transaction certain if one of them is:
// a connection serves one request for the time of a transaction.
func joinTransactions(ran []Statement) {
	open := map[uint64][]int{} // indexes of the transaction of a thread
	end := func(thread uint64) {
		if slices.ContainsFunc(open[thread], func(i int) bool { return ran[i].Certainty == Certain }) {
			for _, i := range open[thread] {
				if ran[i].Certainty != Certain {
					ran[i].Certainty, ran[i].Why = Certain, "in one transaction with a statement that is certain"
				}
			}
		}
		delete(open, thread)
	}
	for i := range ran {
		thread := ran[i].Thread
		switch word := firstWord(ran[i].Text); {
		case thread == 0:
		case word == "begin" || word == "start":
			end(thread)
			open[thread] = []int{i}
		case open[thread] != nil:
			open[thread] = append(open[thread], i)
			if word == "commit" || word == "rollback" {
				end(thread)
			}
		}
	}
	for thread := range open { // a transaction that the window cuts off
		end(thread)
	}
}

func firstWord(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	if i := strings.IndexAny(text, " \t\r\n;"); i >= 0 {
		text = text[:i]
	}
	return strings.ToLower(text)
}
