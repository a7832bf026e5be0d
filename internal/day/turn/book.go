package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A Book is the folder of a site's turn.
type Book struct {
	Dir string // made when it is first written
	Now func() time.Time
}

// Folder is the folder of the turn in a history.
func Folder(history string) string { return filepath.Join(history, "turn") }

// A Lease is a person's turn.
type Lease struct {
	Who   string    `json:"who"`
	Why   string    `json:"why,omitempty"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// Work is a command that measures or changes the site.
type Work struct {
	Who    string    `json:"who"`
	What   string    `json:"what"` // the command, as in "bench"
	Since  time.Time `json:"since"`
	PID    int       `json:"pid"`
	Yields bool      `json:"yields,omitempty"` // it gives way within one run, as a search does
}

// A Want is a person who waits for the turn.
type Want struct {
	Who string    `json:"who"`
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at"` // renewed while the person waits
}

// A State is whose turn it is. What is over is left out.
type State struct {
	Lease *Lease `json:"lease,omitempty"`
	Work  *Work  `json:"work,omitempty"`
	Want  *Want  `json:"want,omitempty"`
}

// Version is the version of turn.json; readers refuse a larger one.
const Version = 1

// turnDoc is turn.json.
type turnDoc struct {
	Version int    `json:"version"`
	Lease   *Lease `json:"lease,omitempty"`
	Want    *Want  `json:"want,omitempty"`
	// ToldLease and ToldWork are when the lease and the command began that the team was told of,
	// since they are long.
	ToldLease time.Time `json:"told_lease,omitzero"`
	ToldWork  time.Time `json:"told_work,omitzero"`
}

// Names of the files.
const (
	turnFile = "turn.json"
	workFile = "work.json"
	logFile  = "log.jsonl"
)

// wantTime is how long a want counts that is not renewed: the person's command was killed.
const wantTime = 5 * time.Second

// lockWait limits the wait for the lock of the folder, which is held for milliseconds.
const lockWait = 10 * time.Second

// lock locks the folder. The lock ends with the process, too.
func (b *Book) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the turn: %w", err)
	}
	d, err := os.Open(b.Dir)
	if err != nil {
		return nil, fmt.Errorf("locking the turn: %w", err)
	}
	until := time.NewTimer(lockWait)
	defer until.Stop()
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() {
				_ = syscall.Flock(int(d.Fd()), syscall.LOCK_UN) // a child that is being started has a copy of the descriptor
				_ = d.Close()
			}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("locking the turn: %w", err), d.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), d.Close())
		case <-until.C:
			return nil, errors.Join(fmt.Errorf("locking the turn: another process has held %s for %v", b.Dir, lockWait), d.Close())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// State reads whose turn it is. It writes nothing and takes no lock of the folder.
func (b *Book) State() (State, error) {
	doc, err := b.read()
	if err != nil {
		return State{}, err
	}
	work, err := b.working()
	if err != nil {
		return State{}, err
	}
	return b.state(doc, work), nil
}

// state leaves out what is over.
func (b *Book) state(doc turnDoc, work *Work) State {
	s, now := State{Work: work}, b.Now()
	if doc.Lease != nil && now.Before(doc.Lease.Until) {
		s.Lease = doc.Lease
	}
	if doc.Want != nil && now.Sub(doc.Want.At) < wantTime {
		s.Want = doc.Want
	}
	return s
}

// read reads turn.json.
func (b *Book) read() (doc turnDoc, err error) {
	text, err := os.ReadFile(filepath.Join(b.Dir, turnFile))
	if errors.Is(err, fs.ErrNotExist) {
		return turnDoc{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		return turnDoc{}, fmt.Errorf("reading whose turn it is: %w", err)
	}
	if doc.Version > Version {
		return turnDoc{}, fmt.Errorf("%s has version %d, this iikanji reads up to %d: use the newer iikanji that wrote it",
			filepath.Join(b.Dir, turnFile), doc.Version, Version)
	}
	return doc, nil
}

// working is the command that works now, nil for none. A command without the lock on its
// file has ended.
func (b *Book) working() (*Work, error) {
	f, err := os.Open(filepath.Join(b.Dir, workFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading which command works: %w", err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		return nil, syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("reading which command works: %w", err)
	}
	w := &Work{What: "a command"}
	if text, err := os.ReadFile(f.Name()); err == nil {
		_ = json.Unmarshal(text, w) // it is being written: the command is not known yet
	}
	return w, nil
}

// write replaces turn.json. The caller holds the lock.
func (b *Book) write(doc turnDoc) error {
	doc.Version = Version
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding whose turn it is: %w", err)
	}
	path := filepath.Join(b.Dir, turnFile)
	f, err := os.CreateTemp(b.Dir, ".turn.*.tmp")
	if err != nil {
		return fmt.Errorf("writing whose turn it is: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing whose turn it is: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// An Entry is one line of the log.
type Entry struct {
	At    time.Time `json:"at"`
	What  string    `json:"what"` // take, give, from (taken from another)
	Who   string    `json:"who"`
	Why   string    `json:"why,omitempty"`
	From  string    `json:"from,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// note appends to the log. The caller holds the lock.
func (b *Book) note(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding a line of the log of turns: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(b.Dir, logFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("writing the log of turns: %w", err)
	}
	return nil
}

// Log reads the log, oldest first. Damaged lines are left out.
func (b *Book) Log() ([]Entry, error) {
	text, err := os.ReadFile(filepath.Join(b.Dir, logFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log of turns: %w", err)
	}
	var all []Entry
	for line := range strings.Lines(string(text)) {
		var e Entry
		if json.Unmarshal([]byte(line), &e) == nil {
			all = append(all, e)
		}
	}
	return all, nil
}

// Had is who had the turn at a time, by the log; "" for nobody.
func Had(log []Entry, at time.Time) string {
	who, until := "", time.Time{}
	for _, e := range log {
		if e.At.After(at) {
			break
		}
		if who, until = e.Who, e.Until; e.What == "give" {
			who = ""
		}
	}
	if !at.Before(until) {
		return ""
	}
	return who
}
