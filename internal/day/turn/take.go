package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Limits of a lease.
const (
	DefaultTime = 15 * time.Minute
	MaxTime     = 12 * time.Hour
)

// A BusyError is a turn that is another's.
type BusyError struct {
	State State
	Now   time.Time
}

func (e *BusyError) Error() string {
	switch s := e.State; {
	case s.Lease != nil && s.Work != nil && s.Work.Who == s.Lease.Who:
		return fmt.Sprintf("it is the turn of %s until %s, who runs %s", leaseText(s.Lease), e.until(s.Lease.Until), s.Work.What)
	case s.Work != nil:
		return fmt.Sprintf("%s runs %s since %s (process %d)", s.Work.Who, s.Work.What, s.Work.Since.Local().Format("15:04"), s.Work.PID)
	case s.Lease != nil:
		return fmt.Sprintf("it is the turn of %s until %s", leaseText(s.Lease), e.until(s.Lease.Until))
	case s.Want != nil:
		return fmt.Sprintf("%s waits for the turn", s.Want.Who)
	}
	return "it is the turn of another"
}

func (e *BusyError) until(t time.Time) string {
	return fmt.Sprintf("%s (%s)", t.Local().Format("15:04"), t.Sub(e.Now).Round(time.Second))
}

func leaseText(l *Lease) string {
	if l.Why == "" {
		return l.Who
	}
	return fmt.Sprintf("%s (%s)", l.Who, l.Why)
}

// Hints tells how to get the turn.
func (e *BusyError) Hints() []string {
	switch s := e.State; {
	case s.Work != nil && s.Work.Yields:
		return []string{"iikanji turn take lets it end after its present run"}
	case s.Lease != nil:
		return []string{fmt.Sprintf("ask %s, or iikanji turn take --from %s", s.Lease.Who, s.Lease.Who)}
	case s.Work != nil:
		return []string{fmt.Sprintf("wait for its end, or iikanji turn take --from %s waits and keeps the turn for you", s.Work.Who)}
	}
	return nil
}

// A Request is what a person asks for.
type Request struct {
	Who, Why string
	For      time.Duration // 0 for DefaultTime
	From     string        // whose turn may be taken; "" for a free one only
	// Waits is called once if the turn has to be waited for, with the command that
	// works; nil for no one.
	Waits func(Work)
}

// pollTime is how often a person who waits looks.
const pollTime = 200 * time.Millisecond

// Take gives the turn to a person. A search that works gives way, and another command of
// the person in From is waited for: two never work at once.
func (b *Book) Take(ctx context.Context, r Request) (*Lease, error) {
	told := false
	for {
		lease, work, err := b.take(ctx, r)
		if lease != nil || err != nil {
			return lease, err
		}
		if !told && r.Waits != nil {
			r.Waits(*work)
		}
		told = true
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), b.forget(context.WithoutCancel(ctx), r.Who))
		case <-time.After(pollTime):
		}
	}
}

// take tries once. It returns the command to wait for, if it gives way or may be taken from.
func (b *Book) take(ctx context.Context, r Request) (*Lease, *Work, error) {
	unlock, err := b.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	doc, err := b.read()
	if err != nil {
		return nil, nil, err
	}
	work, err := b.working()
	if err != nil {
		return nil, nil, err
	}
	s, now := b.state(doc, work), b.Now()
	switch {
	case s.Lease != nil && s.Lease.Who != r.Who && s.Lease.Who != r.From,
		s.Want != nil && s.Want.Who != r.Who && s.Want.Who != r.From,
		work != nil && work.Who != r.Who && !work.Yields && work.Who != r.From:
		return nil, nil, &BusyError{s, now}
	case work != nil && work.Who != r.Who:
		doc.Want = &Want{r.Who, r.Why, now}
		return nil, work, b.write(doc)
	}
	d := r.For
	if d <= 0 {
		d = DefaultTime
	}
	lease := &Lease{Who: r.Who, Why: r.Why, Since: now, Until: now.Add(min(d, MaxTime))}
	if s.Lease != nil && s.Lease.Who == r.Who { // one turn that is made longer
		lease.Since = s.Lease.Since
	}
	e := Entry{At: now, What: "take", Who: r.Who, Why: r.Why, Until: lease.Until}
	if s.Lease != nil && s.Lease.Who != r.Who {
		e.What, e.From = "from", s.Lease.Who
	}
	if err := b.note(e); err != nil {
		return nil, nil, err
	}
	doc.Lease, doc.Want = lease, nil
	return lease, nil, b.write(doc)
}

// LongLease returns the lease that is at least this long, and notes it, so that a team is told
// of it once; nil for none.
func (b *Book) LongLease(ctx context.Context, least time.Duration) (l *Lease, err error) {
	err = b.tellOnce(ctx, func(doc *turnDoc, s State) bool {
		if s.Lease == nil || s.Lease.Until.Sub(s.Lease.Since) < least || s.Lease.Since.Equal(doc.ToldLease) {
			return false
		}
		l, doc.ToldLease = s.Lease, s.Lease.Since
		return true
	})
	return l, err
}

// LongWork is LongLease for the command that has worked for at least this long.
func (b *Book) LongWork(ctx context.Context, least time.Duration) (w *Work, err error) {
	err = b.tellOnce(ctx, func(doc *turnDoc, s State) bool {
		if s.Work == nil || s.Work.Since.IsZero() || b.Now().Sub(s.Work.Since) < least || s.Work.Since.Equal(doc.ToldWork) {
			return false
		}
		w, doc.ToldWork = s.Work, s.Work.Since
		return true
	})
	return w, err
}

// tellOnce writes what is noted of the present state; note is false for nothing.
func (b *Book) tellOnce(ctx context.Context, note func(doc *turnDoc, s State) bool) error {
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	doc, err := b.read()
	if err != nil {
		return err
	}
	work, err := b.working()
	if err != nil {
		return err
	}
	if !note(&doc, b.state(doc, work)) {
		return nil
	}
	return b.write(doc)
}

// forget removes the want of a person who waits no longer.
func (b *Book) forget(ctx context.Context, who string) error {
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	doc, err := b.read()
	if err != nil || doc.Want == nil || doc.Want.Who != who {
		return err
	}
	doc.Want = nil
	return b.write(doc)
}

// ErrNotYours is the error of a turn that is given back by one who does not have it.
var ErrNotYours = errors.New("you do not have the turn")

// Give gives the turn back.
func (b *Book) Give(ctx context.Context, who string) (*Lease, error) {
	unlock, err := b.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	doc, err := b.read()
	if err != nil {
		return nil, err
	}
	now := b.Now()
	lease := b.state(doc, nil).Lease
	if lease == nil {
		return nil, ErrNotYours
	}
	if lease.Who != who {
		return nil, fmt.Errorf("%w: %w", ErrNotYours, &BusyError{State{Lease: lease}, now})
	}
	if err := b.note(Entry{At: now, What: "give", Who: who}); err != nil {
		return nil, err
	}
	doc.Lease = nil
	return lease, b.write(doc)
}

// A Hold is the turn of a command until Release, or until its process has ended.
type Hold struct {
	book *Book
	who  string
	file *os.File
}

// Work takes the turn for the time of a command. It never waits: the error is a
// *BusyError if another has the turn, or if any command works.
func (b *Book) Work(ctx context.Context, w Work) (*Hold, error) {
	unlock, err := b.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	doc, err := b.read()
	if err != nil {
		return nil, err
	}
	works, err := b.working()
	if err != nil {
		return nil, err
	}
	s, now := b.state(doc, works), b.Now()
	if works != nil || s.Lease != nil && s.Lease.Who != w.Who || s.Want != nil && s.Want.Who != w.Who {
		return nil, &BusyError{s, now}
	}
	w.Since, w.PID = now, os.Getpid()
	return b.hold(w)
}

// hold locks the file of the command and writes it. The caller holds the lock.
func (b *Book) hold(w Work) (*Hold, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encoding a command: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(b.Dir, workFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("taking the turn: %w", err)
	}
	if err = b.claim(f); err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("taking the turn: %w", err), f.Close())
	}
	return &Hold{b, w.Who, f}, nil
}

// claim locks a file that no command holds. A reader of State may hold it for a moment.
func (b *Book) claim(f *os.File) error {
	for end := time.Now().Add(lockWait); ; time.Sleep(time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(end) {
			return err
		}
	}
}

// Release gives the turn of a command back. Releasing twice is allowed.
func (h *Hold) Release() error {
	if h == nil || h.file == nil {
		return nil
	}
	err := errors.Join(syscall.Flock(int(h.file.Fd()), syscall.LOCK_UN), h.file.Close())
	h.file = nil
	if err != nil {
		return fmt.Errorf("giving the turn back: %w", err)
	}
	return nil
}

// A GaveWayError is the cause of a search that ended because a person wants the turn.
type GaveWayError struct{ Want Want }

func (e *GaveWayError) Error() string {
	if e.Want.Why == "" {
		return "gave way to " + e.Want.Who
	}
	return fmt.Sprintf("gave way to %s (%s)", e.Want.Who, e.Want.Why)
}

// Is makes it an interruption.
func (e *GaveWayError) Is(target error) bool { return target == context.Canceled }

// GiveWay returns a *GaveWayError if another person wants the turn.
func (h *Hold) GiveWay() error {
	doc, err := h.book.read()
	if err != nil {
		return nil // it is asked again before the next run
	}
	if want := h.book.state(doc, nil).Want; want != nil && want.Who != h.who {
		return &GaveWayError{*want}
	}
	return nil
}
