package lead

import (
	"context"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// What other rooms of a portal write, they write by these: in one transaction with its event
// and its line of the audit log.

// Write runs a transaction.
func (c *Core) Write(ctx context.Context, name string, do func(*store.Tx) error) error {
	return c.store.Write(ctx, name, do)
}

// Read reads a consistent state.
func (c *Core) Read(ctx context.Context, do func(*store.Tx) error) error {
	return c.store.Read(ctx, do)
}

// Event writes an event in the transaction of its cause.
func (c *Core) Event(tx *store.Tx, e Event) error { return c.event(tx, e) }

// Audit adds a line to the audit log.
func (c *Core) Audit(tx *store.Tx, who, what, body string) error { return c.audit(tx, who, what, body) }

// ContestIn reads a contest; api.ErrNotFound if there is none.
func (c *Core) ContestIn(tx *store.Tx, id string) (*contest.Contest, error) { return c.contest(tx, id) }

// NewID is a new id.
func (c *Core) NewID() string { return c.newID() }

// RoundsOf lists the ids of the rounds of a contest.
func RoundsOf(tx *store.Tx, contestID string) (out []string, err error) {
	all, err := roundIDs(tx)
	for _, id := range all {
		if name, _, _ := strings.Cut(id, "_"); name == contestID {
			out = append(out, id)
		}
	}
	return out, err
}

// TeamChanged tells each round of a contest that a team was made or changed. Body may be nil.
func (c *Core) TeamChanged(tx *store.Tx, contestID, team string, body []byte) error {
	rounds, err := RoundsOf(tx, contestID)
	if err != nil {
		return err
	}
	for _, round := range rounds {
		if err := c.event(tx, Event{Round: round, Kind: KindTeam, Team: team, Body: body}); err != nil {
			return err
		}
	}
	return nil
}

// States of a team that does not play yet, or not at all; they are values of teams.gone.
const (
	TeamAsked   = "asked"   // staff has to admit it
	TeamWaiting = "waiting" // for a place
	TeamRefused = "refused"
)

// onBoard is the condition of teams that boards have.
const onBoard = "gone NOT IN ('asked', 'waiting', 'refused')"

// Folded is a name as names are compared: NFKC and without case.
func Folded(name string) string { return cases.Fold().String(norm.NFKC.String(name)) }

// CreateTeam writes a team in a state ("" for one that plays). Names are unique in a contest.
func (c *Core) CreateTeam(tx *store.Tx, t NewTeam, state string) (id string, err error) {
	name, err := TeamName(t.Name)
	if err != nil {
		return "", err
	}
	if t.Division == "" {
		t.Division = "general"
	}
	id = c.newID()
	if _, err := c.contest(tx, t.Contest); err != nil {
		return "", err
	}
	n := 0
	if err := tx.Row("SELECT COUNT(*) FROM teams WHERE contest = ? AND folded = ?", []any{t.Contest, Folded(name)}, &n); err != nil {
		return "", err
	}
	if n > 0 {
		return "", errName
	}
	if _, err := tx.Exec("INSERT INTO teams (id, contest, name, folded, division, gone, gone_at, created) VALUES (?, ?, ?, ?, ?, ?, 0, ?)",
		id, t.Contest, name, Folded(name), t.Division, state, c.Now()); err != nil {
		return "", err
	}
	return id, c.TeamChanged(tx, t.Contest, id, nil)
}

// errName is a name that another team has.
var errName = refused("name", "another team has this name")

// AddMember makes an account a member of a team, or its leader.
func (c *Core) AddMember(tx *store.Tx, contestID, team, account string, leads bool, declares string) error {
	if _, err := tx.Exec("INSERT INTO members (contest, account, team, leads, declares, joined) VALUES (?, ?, ?, ?, ?, ?)", contestID, account, team, leads, declares, c.Now()); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE accounts SET team = ? WHERE id = ? AND role IN (?, ?, ?)", team, account, string(api.Spectator), string(api.Member), string(api.Leader))
	return err
}

// CreateAccount writes an account.
func (c *Core) CreateAccount(tx *store.Tx, name string, role api.Role) (id string, err error) {
	id = c.newID()
	_, err = tx.Exec("INSERT INTO accounts (id, name, role, team, created) VALUES (?, ?, ?, '', ?)", id, cleaned(name, 60), string(role), c.Now())
	return id, err
}

// OpenSession writes a session of an account; its secrets are for the cookie and the forms.
func (c *Core) OpenSession(tx *store.Tx, account string) (cookie, form string, err error) {
	cookie, form = RandomID()+RandomID(), RandomID()
	_, err = tx.Exec("INSERT INTO sessions (digest, account, form, created, expires) VALUES (?, ?, ?, ?, ?)", Digest(cookie), account, form, c.Now(), c.Now().Add(SessionTime))
	return cookie, form, err
}

// A TeamEvent is another state of a team: the body of an event of KindTeam that has one.
type TeamEvent struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason,omitempty"`
}

// Forget puts a pseudonym in the place of a person; results stay.
func (c *Core) Forget(ctx context.Context, by, account string) error {
	return c.store.Write(ctx, "forget", func(tx *store.Tx) error {
		n, err := tx.Exec("UPDATE accounts SET name = ? WHERE id = ?", "former member "+account[:min(6, len(account))], account)
		if err != nil {
			return err
		}
		if n == 0 {
			return api.ErrNotFound
		}
		for _, table := range []string{"passwords", "identities", "contacts", "sessions", "tokens", "subscriptions", "seekers"} {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE account = ?", account); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("UPDATE deliveries SET body = '{}' , state = 'dead', why = 'forgotten' WHERE account = ?", account); err != nil {
			return err
		}
		return c.audit(tx, by, "forget", account)
	})
}
