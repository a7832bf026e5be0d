package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/progress"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
)

// A live is what a search or benchmark does now.
type live struct {
	State   *progress.State
	Running bool
	Pending *summary.Pending
	Runs    []latestRun
	Growth  *document.Figure
	Now     time.Time
}

// A latestRun is one of the latest runs with the changes of its state.
type latestRun struct {
	ID      iikanji.RunID
	Outcome string
	Score   string
}

// latestRuns is how many runs the live view lists.
const latestRuns = 12

// live reads the progress file and the latest runs.
func (s *Server) live() (*live, error) {
	l := &live{Now: s.o.Now()}
	var err error
	if l.State, err = progress.Read(s.o.History); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if l.State != nil {
		redact.Document(l.State)
		l.Running = l.State.Running()
		l.Growth = growthFigure(l.State.Run.Growth)
	}
	h, err := s.store.open()
	if err != nil { // no run was made yet
		return l, nil
	}
	list, err := h.RunList()
	if err != nil {
		return nil, err
	}
	for i := len(list) - 1; i >= max(0, len(list)-latestRuns); i-- {
		r := latestRun{ID: list[i].ID, Outcome: "running, or interrupted", Score: "-"}
		if list[i].Saved {
			if r.Outcome = list[i].Outcome.String(); list[i].Outcome == iikanji.Passed {
				r.Score = document.Points(list[i].Score)
			}
		}
		l.Runs = append(l.Runs, r)
	}
	if l.Running && l.State.Command == "tune" {
		if l.Pending, err = summary.PendingOf(h); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// growthFigure draws the points of each second of the present load; nil for fewer
// than two seconds.
func growthFigure(growth []float64) *document.Figure {
	if len(growth) < 3 {
		return nil
	}
	whole := growth[:len(growth)-1] // the last second has not ended
	p := chart.Plot{Title: "Points per second of the present run", Desc: fmt.Sprintf("The latest second had %.0f points.", whole[len(whole)-1]), YName: "points", Format: document.Points, XHi: float64(len(whole)), Height: 110,
		Series: []chart.Series{lineOf("points", chart.Blue, chart.Dot, whole)}}
	step := max(1, math.Ceil(p.XHi/10))
	for x := 0.0; x <= p.XHi; x += step {
		p.XTicks = append(p.XTicks, chart.Tick{X: x, Label: fmt.Sprintf("%g s", x)})
	}
	return document.NewFigure(p.Title, p.At)
}

// running is one line about what runs now, for the head of every page.
func (s *Server) running() string {
	state, err := progress.Read(s.o.History)
	if err != nil || !state.Running() {
		return ""
	}
	if state.Phase == "" {
		return state.Command + " is running"
	}
	return state.Command + ": " + state.Phase
}

// showLive shows the present progress.
func (s *Server) showLive(*http.Request) (*view, error) {
	l, err := s.live()
	if err != nil {
		return nil, err
	}
	pairs := pairsTable()
	if l.Pending != nil {
		for _, p := range l.Pending.Pairs {
			pairs.addPair(p.A.ID, p.B.ID, p.A.Score, p.B.Score, p.Ratio)
		}
	}
	return &view{name: "live", title: "Live", here: "/live", tables: []*Table{pairs}, data: l}, nil
}

const (
	// lookEvery is how often the files are looked at for updates.
	lookEvery = 250 * time.Millisecond
	// aliveEvery is how often an unchanged stream gets a comment, so that a broken
	// connection is noticed.
	aliveEvery = 15 * time.Second
)

// events sends the live part of the page whenever it changed.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	s.stream(w, r, s.liveStamp, s.liveText)
}

// stream sends a part of a page whenever it changed, as server-sent events. stamp differs
// between states of what the text is made of.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, stamp func() string, render func() (string, error)) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	_ = out.SetWriteDeadline(time.Time{})
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	mark, sent := "", ""
	last := time.Now()
	for {
		if now := stamp(); now != mark {
			mark = now
			text, err := render()
			if err != nil {
				s.o.Log.Warn("making a live update", "error", err)
			} else if text != sent {
				if !send(w, out, text) {
					return
				}
				sent, last = text, time.Now()
			}
		}
		if time.Since(last) > aliveEvery {
			last = time.Now()
			if _, err := fmt.Fprint(w, ": alive\n\n"); err != nil || out.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.closing:
			return
		case <-tick.C:
		}
	}
}

// liveStamp differs between states of the files. A process that ended changes no file.
func (s *Server) liveStamp() string {
	text := s.store.stamp()
	if info, err := os.Stat(filepath.Join(s.o.History, progress.File)); err == nil {
		text += fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	return text + s.running()
}

// liveText renders the live part.
func (s *Server) liveText() (string, error) {
	l, err := s.live()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := templates()["live"].ExecuteTemplate(&b, "live", l); err != nil {
		return "", fmt.Errorf("rendering the live part: %w", err)
	}
	return b.String(), nil
}

// send writes one event; each line of its data has a prefix.
func send(w http.ResponseWriter, out *http.ResponseController, text string) bool {
	data := "event: live\ndata: " + strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "\ndata: ") + "\n\n"
	if _, err := fmt.Fprint(w, data); err != nil {
		return false
	}
	return out.Flush() == nil
}
