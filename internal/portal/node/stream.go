package node

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

const (
	// ringLength is how many frames of a view are kept for readers that come back.
	ringLength = 256
	// behind is how many frames a reader may be behind.
	behind = 16
)

// A subscriber is a reader of a stream.
type subscriber struct {
	who    api.Who
	reader board.Reader
}

// Stream implements api.Portal. A fresh reader gets the whole board; one that comes back gets
// what it missed, or a reset.
func (n *Node) Stream(ctx context.Context, who api.Who, round, last string) (<-chan api.Frame, error) {
	l, err := n.live(ctx, round)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.board(who.Reader())
	if err != nil {
		return nil, err
	}
	w := make(chan api.Frame, behind)
	missed, known := s.after(last)
	switch {
	case !known:
		data, err := json.Marshal(s.board)
		if err != nil {
			return nil, err
		}
		w <- api.MakeFrame(s.id(), "board", data)
	case len(missed) > behind:
		w <- api.MakeFrame(s.id(), "reset", []byte("{}"))
	default:
		for _, f := range missed {
			w <- f
		}
	}
	l.readers[w] = subscriber{who, who.Reader()}
	context.AfterFunc(ctx, func() { l.leave(w) })
	return w, nil
}

func (l *live) leave(w chan api.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(w)
}

// drop ends a reader's stream. l.mu is held.
func (l *live) drop(w chan api.Frame) {
	if _, open := l.readers[w]; open {
		delete(l.readers, w)
		close(w)
	}
}

// id is that of the latest frame of a view. It counts frames of this view only.
func (s *shown) id() string { return strconv.Itoa(s.next) }

// after is the frames after an id; known is false for an id that is not in the ring.
func (s *shown) after(last string) (missed []api.Frame, known bool) {
	if last == "" {
		return nil, false
	}
	if last == s.id() {
		return nil, true
	}
	i := slices.IndexFunc(s.ring, func(f api.Frame) bool { return f.ID == last })
	if i < 0 {
		return nil, false
	}
	return s.ring[i+1:], true
}

// refresh folds new events and tells the readers what changed for them.
func (l *live) refresh(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := map[string]*api.Board{}
	for _, r := range l.readers {
		if s := l.boards[r.reader.Key()]; s != nil {
			before[r.reader.Key()] = s.board
		}
	}
	events, err := l.core.Follow(ctx, l.id, &l.history)
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := l.tell(e); err != nil {
			return err
		}
	}
	told := map[string]bool{}
	for _, r := range l.readers {
		key := r.reader.Key()
		if told[key] {
			continue
		}
		told[key] = true
		s, err := l.board(r.reader)
		if err != nil {
			return err
		}
		old := before[key]
		if old == nil || old.Version == s.board.Version {
			continue
		}
		data, err := json.Marshal(difference(old, s.board))
		if err != nil {
			return err
		}
		l.send(s, key, "board", data)
	}
	return nil
}

// difference is a board with the changed rows only.
func difference(old, now *api.Board) *api.Board {
	rows := map[string]board.Row{}
	for _, r := range old.Rows {
		rows[r.Team] = r
	}
	out := *now
	out.Rows = []board.Row{}
	for _, r := range now.Rows {
		if was, known := rows[r.Team]; !known || !reflect.DeepEqual(was, r) {
			out.Rows = append(out.Rows, r)
		}
	}
	return &out
}

// send sends a frame to all readers of a view. A reader that is too far behind is dropped: it
// comes back and gets the board. l.mu is held.
func (l *live) send(s *shown, key, kind string, data []byte) {
	s.next++
	f := api.MakeFrame(s.id(), kind, data)
	s.ring = append(s.ring, f)
	s.ring = s.ring[max(0, len(s.ring)-ringLength):]
	for w, r := range l.readers {
		if r.reader.Key() != key {
			continue
		}
		select {
		case w <- f:
		default:
			l.drop(w)
		}
	}
}

// tell sends an event to the views that may see it. l.mu is held.
func (l *live) tell(e lead.Event) error {
	switch e.Kind {
	case lead.KindJob, lead.KindResult:
		delete(l.running, e.Job)
		if e.Kind == lead.KindJob {
			var j lead.JobEvent
			if err := json.Unmarshal(e.Body, &j); err == nil && j.State == string(api.Running) {
				l.running[e.Job] = e.Team
			}
		}
		data, err := json.Marshal(map[string]any{"id": e.Job, "team": e.Team, "kind": e.Kind})
		if err != nil {
			return err
		}
		l.toTeam(e.Team, "job", data)
	case lead.KindMessage:
		var m api.Message
		if err := json.Unmarshal(e.Body, &m); err != nil {
			return err
		}
		return l.eachView(func(who api.Who) (any, bool) { return m.For(who, e.At) }, "message")
	case lead.KindClock:
		clock := l.history.Data.Clock
		return l.eachView(func(who api.Who) (any, bool) { return api.ClockFor(clock, who.Team, l.core.Now()), true }, "clock")
	}
	return nil
}

// toTeam sends a frame to a team and to staff. l.mu is held.
func (l *live) toTeam(team, kind string, data []byte) {
	for _, reader := range []board.Reader{{Role: board.Member, Team: team}, {Role: board.Staff}} {
		if s := l.boards[reader.Key()]; s != nil {
			l.send(s, reader.Key(), kind, data)
		}
	}
}

// eachView sends to each view that has a reader what that reader may see. l.mu is held.
func (l *live) eachView(what func(api.Who) (any, bool), kind string) error {
	views := map[string]api.Who{}
	for _, r := range l.readers {
		views[r.reader.Key()] = r.who
	}
	for key, who := range views {
		v, ok := what(who)
		s := l.boards[key]
		if !ok || s == nil {
			continue
		}
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		l.send(s, key, kind, data)
	}
	return nil
}

// progressed tells a team of the progress of its job.
func (l *live) progressed(job string, p *api.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	team, known := l.running[job]
	if !known {
		return
	}
	data, err := json.Marshal(map[string]any{"id": job, "team": team, "kind": "progress", "progress": p})
	if err == nil {
		l.toTeam(team, "job", data)
	}
}
