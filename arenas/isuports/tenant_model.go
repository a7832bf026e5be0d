package isuports

import (
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A tenant is what the benchmarker knows of a tenant.
type tenant struct {
	id            int64
	name, display string
	truth         *Tenant // nil for a tenant that this run added

	mu           sync.Mutex
	players      map[string]*player
	competitions map[string]*competition
	changed      bool // its billing is not that of the initial data any more
}

// A player is what the benchmarker knows of a player. Its account is made once.
type player struct {
	tenant   *tenant
	id, name string

	mu      sync.Mutex
	token   string
	watches bool // a permanent worker reads as this player
}

// newTenant returns a tenant that this run added.
func newTenant(id int64, name, display string) *tenant {
	return &tenant{id: id, name: name, display: display, players: map[string]*player{}, competitions: map[string]*competition{}}
}

// initialTenant returns a tenant of the initial data.
func initialTenant(truth *Tenant) *tenant {
	t := newTenant(truth.ID, truth.Name, truth.DisplayName)
	t.truth = truth
	for _, c := range truth.Competitions {
		t.competitions[c.ID] = &competition{tenant: t, id: c.ID, title: c.Title, truth: true, finishing: c.Finished, finished: c.Finished,
			billing: c.Billing}
	}
	return t
}

// touch records that the tenant's billing changes from now on.
func (t *tenant) touch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed = true
}

// billing returns the sum that the initial data gives, and whether it still holds.
func (t *tenant) billing() (yen int64, exact bool) {
	if t.truth == nil {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.truth.Billing, !t.changed
}

// learn returns the player of an answer. A known player must have the known name.
func (t *tenant) learn(res *scenario.Response, shown shownPlayer) (*player, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.players[shown.id]
	if p == nil {
		p = &player{tenant: t, id: shown.id, name: shown.name}
		t.players[shown.id] = p
	}
	if p.name != shown.name {
		return nil, scenario.Wrong(res, "player-name", "player %s has the name %.40q, want %q", p.id, shown.name, p.name)
	}
	return p, nil
}

// knownPlayers returns the number of players that every list must show.
func (t *tenant) knownPlayers() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.players)
}

// named returns the known player of an id, nil for an unknown one.
func (t *tenant) named(id string) *player {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.players[id]
}

// held adds a competition.
func (t *tenant) held(c *competition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.competitions[c.id] = c
}

// competition returns the known competition of an id, nil for an unknown one.
func (t *tenant) competition(id string) *competition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.competitions[id]
}

// allCompetitions returns the known competitions by id.
func (t *tenant) allCompetitions() map[string]*competition {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]*competition, len(t.competitions))
	for id, c := range t.competitions {
		all[id] = c
	}
	return all
}

// A competition is what the benchmarker knows of a competition.
type competition struct {
	tenant    *tenant
	id, title string
	truth     bool  // of the initial data: its scores are not known
	billing   int64 // of the initial data

	mu         sync.Mutex
	boards     []*board  // of every upload that was begun
	settled    int       // readers see this board or a later one
	finishing  bool      // a finish was sent
	finished   bool      // and confirmed
	finishedAt time.Time // when it was confirmed
}

// newCompetition returns a competition that this run added.
func newCompetition(t *tenant, id, title string) *competition {
	return &competition{tenant: t, id: id, title: title, boards: []*board{newBoard(nil)}}
}

// before returns the first half of what a reader may see. Call it before the
// request, and within when the answer has arrived.
func (c *competition) before() sight {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sight{oldest: c.settled, finished: c.finished}
}

// within completes what a reader may see.
func (c *competition) within(s sight) sight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.boards != nil {
		s.boards, s.newest = c.boards, len(c.boards)-1
	}
	s.finishing = c.finishing
	return s
}

// offer records an upload before it is sent. Call confirmed when it has succeeded:
// no reader may see an older board from then on.
func (c *competition) offer(b *board) (confirmed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := len(c.boards)
	c.boards = append(c.boards[:version:version], b) // readers hold the former slice
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.settled = max(c.settled, version)
	}
}

// latest returns the board of the newest confirmed upload.
func (c *competition) latest() *board {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.boards[c.settled]
}

// finish records that the competition is being finished, before the request.
func (c *competition) finish() (confirmed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishing = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.finished, c.finishedAt = true, time.Now()
	}
}
