package lead

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A Core acts on a portal's state. It is safe for concurrent use.
type Core struct {
	store   *store.Store
	carry   carry.Carrier
	now     func() time.Time
	point   func(string)
	newID   func() string
	secret  []byte
	faster  int
	process string // of the portal: names its keys
	check   func(*contest.Contest) error

	mu       sync.Mutex
	contests map[string]*contest.Contest // by digest
	rounds   map[string]*Round
	woken    chan struct{}

	// What the order of the queue depends on beside SQL. The leader learns it from events.
	queueMu sync.Mutex
	used    queue.Used
	upper   int             // starts of higher lanes in a row while lower ones wait
	waits   []time.Duration // of the latest starts
	runs    []time.Duration // lengths of the latest runs
	correct queue.Correction
}

// Options are for New. Now, Point and NewID have defaults.
type Options struct {
	Store *store.Store
	Carry carry.Carrier
	// Secret makes the seeds of jobs.
	Secret []byte
	Now    func() time.Time
	// Point is called where a crash must do no harm.
	Point func(name string)
	NewID func() string
	// Check refuses a contest that this program cannot run though its file is right; nil for none.
	Check func(*contest.Contest) error
	// Faster divides the times of leases and offers: for tests. It has to be that of the
	// carrier.
	Faster int
}

// New returns a Core.
func New(o Options) *Core {
	c := &Core{store: o.Store, carry: o.Carry, now: o.Now, point: o.Point, newID: o.NewID, secret: o.Secret, faster: max(o.Faster, 1), check: o.Check, process: RandomID(),
		contests: map[string]*contest.Contest{}, rounds: map[string]*Round{}, woken: make(chan struct{}, 1)}
	if c.now == nil {
		c.now = time.Now
	}
	if c.point == nil {
		c.point = func(string) {}
	}
	if c.newID == nil {
		c.newID = RandomID
	}
	if c.check == nil {
		c.check = func(*contest.Contest) error { return nil }
	}
	return c
}

// span is one of the times below, divided for tests.
func (c *Core) span(d time.Duration) time.Duration { return d / time.Duration(c.faster) }

// RandomID is an id that nobody can guess: 128 random bits.
func RandomID() string { return strings.ToLower(rand.Text()) }

// Digest is the stored form of a secret.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Now is the portal's time.
func (c *Core) Now() time.Time { return c.now().UTC() }

// Wake makes the leader look for work at once.
func (c *Core) Wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// seed is the seed of a job: nobody can compute it without the portal's secret.
func (c *Core) seed(job string) uint64 {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte(job))
	return binary.BigEndian.Uint64(mac.Sum(nil)) >> 1 // 63 bits: some databases and tools have no more
}

// ErrSecret is a secret that is not the one of the database.
var ErrSecret = errors.New("the secret of this folder is not the one of its database: seeds, authenticators and webhooks would be wrong")

// SameSecret keeps the digest of the portal's secret at the first time, and compares it later: a folder
// and a database that do not belong together are refused with ErrSecret.
func (c *Core) SameSecret(ctx context.Context) error {
	const key = "portal secret" // no account has this row: its name is empty
	mine, kept := Digest(key+"\x00"+string(c.secret)), ""
	read := func(tx *store.Tx) error {
		return tx.Row("SELECT job FROM idempotency WHERE account = '' AND name = ?", []any{key}, &kept)
	}
	err := c.store.Write(ctx, "secret", func(tx *store.Tx) error {
		err := read(tx)
		if errors.Is(err, store.ErrNone) {
			_, err = tx.Exec("INSERT INTO idempotency (account, name, job, at) VALUES ('', ?, ?, ?)", key, mine, c.Now())
			kept = mine
		}
		return err
	})
	if store.IsDuplicate(err) { // another portal was first
		err = c.store.Read(ctx, read)
	}
	if err == nil && kept != mine {
		err = ErrSecret
	}
	return err
}

// A Round is a round with its clock and state, as one transaction read them. It is not
// changed.
type Round struct {
	ID        string // contest_round
	Contest   *contest.Contest
	Round     *contest.Round
	Clock     *contest.Clock
	State     contest.State
	Version   int64
	Published time.Time
}

// Problem is what the round's teams make fast.
func (r *Round) Problem() *contest.Problem { return r.Contest.Problem(r.Round.Problem) }

// RoundID is the id of a contest's round. No id of a file has a "_".
func RoundID(contest, round string) string { return contest + "_" + round }

// Round reads a round.
func (c *Core) Round(ctx context.Context, id string) (r *Round, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		r, err = c.round(tx, id)
		return err
	})
	return r, err
}

// RoundIDs lists the ids of all rounds.
func (c *Core) RoundIDs(ctx context.Context) (ids []string, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		ids, err = roundIDs(tx)
		return err
	})
	return ids, err
}

func roundIDs(tx *store.Tx) (ids []string, err error) {
	err = tx.Each("SELECT id FROM rounds ORDER BY id", nil, func(scan func(...any) error) error {
		id := ""
		if err := scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

// round reads a round; one whose version did not change is kept.
func (c *Core) round(tx *store.Tx, id string) (*Round, error) {
	r := &Round{ID: id}
	name, state := "", ""
	err := tx.Row("SELECT contest, state, version, published FROM rounds WHERE id = ?", []any{id}, &name, &state, &r.Version, &r.Published)
	if err != nil {
		return nil, notFound(err)
	}
	r.State = contest.State(state)
	c.mu.Lock()
	kept := c.rounds[id]
	c.mu.Unlock()
	if kept != nil && kept.Version == r.Version {
		return kept, nil
	}
	if r.Contest, err = c.contest(tx, name); err != nil {
		return nil, err
	}
	if r.Round = r.Contest.Round(strings.TrimPrefix(id, name+"_")); r.Round == nil {
		return nil, fmt.Errorf("round %s is not in its contest's file", id)
	}
	if r.Clock, err = clockOf(tx, r); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rounds[id] = r
	return r, nil
}

// contest reads a contest; its file is parsed once.
func (c *Core) contest(tx *store.Tx, id string) (*contest.Contest, error) {
	digest := ""
	if err := tx.Row("SELECT digest FROM contests WHERE id = ?", []any{id}, &digest); err != nil {
		return nil, notFound(err)
	}
	c.mu.Lock()
	kept := c.contests[id+digest]
	c.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	file := ""
	if err := tx.Row("SELECT file FROM contests WHERE id = ?", []any{id}, &file); err != nil {
		return nil, err
	}
	parsed, err := contest.Parse(id+".toml", []byte(file))
	if err != nil {
		return nil, fmt.Errorf("reading contest %s: %w", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.contests[id+digest] = parsed
	return parsed, nil
}
