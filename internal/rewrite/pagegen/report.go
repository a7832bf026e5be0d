package pagegen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// LearnedFile is the name of the file in Plan.Folder with what was learned.
const LearnedFile = "learned.json"

// reportEvery is the least time between two writings of the file.
const reportEvery = time.Second

// A Learned is what an app has seen since it started.
type Learned struct {
	Kept  []string `json:"kept"`           // Plan.Kept
	Rows  int      `json:"rows,omitempty"` // of Plan.Table
	Pairs []Pair   `json:"pairs"`
	// Unstable counts, by route, pages that changed without any write.
	Unstable map[string]int `json:"unstable,omitempty"`
	// Stale are pages that changed without being dropped.
	Stale []Stale `json:"stale,omitempty"`
}

// learned is what was seen so far, and whether it is new.
func (l *learner) learned() (Learned, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dirty := l.dirty
	l.dirty = false
	out := Learned{Kept: l.plan.Kept, Rows: len(l.plan.Table), Unstable: map[string]int{}, Stale: slices.Clone(l.stale)}
	for route, n := range l.unstable {
		out.Unstable[route] = n
	}
	for _, p := range l.pairs {
		out.Pairs = append(out.Pairs, *p)
	}
	slices.SortFunc(out.Pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.Write, b.Write), cmp.Compare(a.Page, b.Page)) })
	return out, dirty
}

// report writes the file, if its last writing is some time ago.
func (s *Store) report() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.reported) < reportEvery {
		return
	}
	l, dirty := s.seen.learned()
	if !dirty {
		return
	}
	s.reported = time.Now()
	if err := s.save(l); err != nil {
		fmt.Fprintln(os.Stderr, "pagegen: writing what was learned:", err)
	}
}

func (s *Store) save(l Learned) error {
	text, err := json.MarshalIndent(l, "", "\t")
	if err != nil {
		return err
	}
	next := s.path("." + LearnedFile)
	if err := os.WriteFile(next, text, 0o644); err != nil {
		return err
	}
	return os.Rename(next, s.path(LearnedFile))
}

// distrust reports a page that changed without being dropped, and has every write drop
// all pages from now on.
func (s *Store) distrust(p *Stale) {
	fmt.Fprintf(os.Stderr, "pagegen: fault: %s changed without being dropped, after %s; from now on every write drops all pages\n", p.Page, p.Write)
	s.distrusts.Store(true)
	if err := s.dropAll(); err != nil {
		fmt.Fprintln(os.Stderr, "pagegen:", err)
	}
	s.mu.Lock()
	s.reported = time.Time{} // the file is written at once
	s.mu.Unlock()
}
