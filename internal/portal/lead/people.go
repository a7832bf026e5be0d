package lead

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"golang.org/x/text/unicode/norm"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// maxName is the longest name of a team, in grapheme clusters.
const maxName = 32

// A NewTeam is a team to be made.
type NewTeam struct {
	Contest  string
	Name     string
	Division string // general if empty
}

// AddTeam makes a team. Names are unique after NFKC and case folding.
func (c *Core) AddTeam(ctx context.Context, t NewTeam) (id string, err error) {
	err = c.store.Write(ctx, "team", func(tx *store.Tx) error {
		id, err = c.CreateTeam(tx, t, "")
		return err
	})
	if store.IsDuplicate(err) {
		err = errName
	}
	return id, err
}

// TeamName is a name of a team as it is kept. Its length is counted in grapheme clusters, and
// bounded in characters: a cluster may have any number of them.
func TeamName(text string) (string, error) {
	name := norm.NFC.String(plain.Line(strings.TrimSpace(text)))
	n := 0
	for g := graphemes.FromString(name); g.Next(); {
		n++
	}
	if n == 0 || n > maxName || utf8.RuneCountInString(name) > 3*maxName || utf8.RuneCountInString(Folded(name)) > 190 {
		return "", refused("name", "a name has 1 to %d characters", maxName)
	}
	if !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) || unicode.IsPunct(r) && r != plain.Mark
	}) {
		return "", refused("name", "a name has a letter, a number or a symbol")
	}
	return name, nil
}

// AddHost adds a host of a team. Its address has to be one that the contest allows. proven is
// set where the machine itself is known: a stack of this process, or a join with its token.
func (c *Core) AddHost(ctx context.Context, contestID, team, name, address string, proven bool) (id string, err error) {
	id = c.newID()
	return id, c.store.Write(ctx, "host", func(tx *store.Tx) error {
		parsed, err := c.contest(tx, contestID)
		if err != nil {
			return err
		}
		if err := allowed(parsed, address); err != nil {
			return err
		}
		at := time.Time{}
		if proven {
			at = c.Now()
		}
		_, err = tx.Exec("INSERT INTO hosts (id, team, name, url, proven) VALUES (?, ?, ?, ?, ?)", id, team, cleaned(name, 60), address, at)
		return err
	})
}

// allowed checks a target: an http address of an IP in the contest's networks. Loopback is for
// local contests alone.
func allowed(c *contest.Contest, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return refused("target", "want http://ADDRESS:PORT, not %q", plain.Line(address))
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return refused("target", "want an IP address, not a name: %q", plain.Line(u.Hostname()))
	}
	ip = ip.Unmap()
	if c.Local && ip.IsLoopback() {
		return nil
	}
	if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || ip.Zone() != "" {
		return refused("target", "%s is no address of a team's host", ip)
	}
	if port := u.Port(); len(c.Targets.Ports) > 0 {
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		known := false
		for _, p := range c.Targets.Ports {
			known = known || port == strconv.Itoa(p)
		}
		if !known {
			return refused("target", "port %s is not among the targets' ports", port)
		}
	}
	for _, text := range c.Targets.Allow {
		if p, err := netip.ParsePrefix(text); err == nil && p.Contains(ip) {
			return nil
		}
	}
	return refused("target", "%s is in none of the contest's networks", ip)
}

// AddAccount makes an account.
func (c *Core) AddAccount(ctx context.Context, name string, role api.Role, team string) (id string, err error) {
	err = c.store.Write(ctx, "account", func(tx *store.Tx) error {
		if id, err = c.CreateAccount(tx, name, role); err != nil || team == "" {
			return err
		}
		contestID := ""
		if err := tx.Row("SELECT contest FROM teams WHERE id = ?", []any{team}, &contestID); err != nil {
			return notFound(err)
		}
		return c.AddMember(tx, contestID, team, id, role == api.Leader, "")
	})
	return id, err
}

// Scopes of tokens.
const (
	ScopeLogin  = "login"  // one login in a browser
	ScopeRun    = "run"    // of a team or account: the API
	ScopeWorker = "worker" // the calls of workers
)

// AddToken makes a token and returns it; only its digest is kept.
func (c *Core) AddToken(ctx context.Context, scope, account string, valid time.Duration) (string, error) {
	token := RandomID() + RandomID()
	return token, c.store.Write(ctx, "token", func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT INTO tokens (digest, scope, account, team, expires, single) VALUES (?, ?, ?, '', ?, ?)",
			Digest(token), scope, account, c.Now().Add(valid), scope == ScopeLogin)
		return err
	})
}

// ByToken is the account of a token of a scope; ok is false if it is not valid.
func (c *Core) ByToken(ctx context.Context, scope, token string) (who api.Who, ok bool, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		account := ""
		err := tx.Row("SELECT account FROM tokens WHERE digest = ? AND scope = ? AND expires > ?", []any{Digest(token), scope, c.Now()}, &account)
		if errors.Is(err, store.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		if ok = true; scope == ScopeWorker {
			return nil
		}
		who, err = accountOf(tx, account)
		return err
	})
	return who, ok, err
}

// accountOf reads an account with its teams. Team is that which it joined last.
func accountOf(tx *store.Tx, id string) (api.Who, error) {
	who, role := api.Who{Account: id}, ""
	if err := tx.Row("SELECT name, role FROM accounts WHERE id = ?", []any{id}, &who.Name, &role); err != nil {
		return who, notFound(err)
	}
	if who.Role = api.Role(role); who.Role.Staff() {
		return who, nil
	}
	who.Role = api.Spectator
	return who, tx.Each("SELECT contest, team, leads FROM members WHERE account = ? ORDER BY joined, contest", []any{id}, func(scan func(...any) error) error {
		m := api.Membership{}
		err := scan(&m.Contest, &m.Team, &m.Leads)
		who.Teams = append(who.Teams, m)
		who = who.At(m.Contest)
		return err
	})
}

// SessionTime is how long a session is valid.
const SessionTime = 12 * time.Hour

// Login ends a login token and opens a session. The secrets of the session are for its cookie
// and its forms. ok is false for a token that is not valid.
func (c *Core) Login(ctx context.Context, token string) (cookie, form string, ok bool, err error) {
	err = c.store.Write(ctx, "login", func(tx *store.Tx) error {
		account := ""
		ok = false
		err := tx.Row("SELECT account FROM tokens WHERE digest = ? AND scope = 'login' AND expires > ?", []any{Digest(token), c.Now()}, &account)
		if errors.Is(err, store.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM tokens WHERE digest = ? AND single = 1", Digest(token)); err != nil {
			return err
		}
		cookie, form, err = c.OpenSession(tx, account)
		ok = err == nil
		return err
	})
	return cookie, form, ok, err
}

// Session is the account of a session's cookie and the token of its forms; ok is false for
// none.
func (c *Core) Session(ctx context.Context, cookie string) (who api.Who, form string, ok bool, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		account := ""
		err := tx.Row("SELECT account, form FROM sessions WHERE digest = ? AND expires > ?", []any{Digest(cookie), c.Now()}, &account, &form)
		if errors.Is(err, store.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		ok = true
		who, err = accountOf(tx, account)
		return err
	})
	return who, form, ok, err
}

// Logout ends a session.
func (c *Core) Logout(ctx context.Context, cookie string) error {
	return c.store.Write(ctx, "logout", func(tx *store.Tx) error {
		_, err := tx.Exec("DELETE FROM sessions WHERE digest = ?", Digest(cookie))
		return err
	})
}

// FindAccount is the id and the team of the account of a name; api.ErrNotFound if there is
// none.
func (c *Core) FindAccount(ctx context.Context, name string) (id, team string, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		return notFound(tx.Row("SELECT id, team FROM accounts WHERE name = ? ORDER BY created, id", []any{name}, &id, &team))
	})
	return id, team, err
}

// OnlyHost makes one proven address the only host of a team: that of a stack of this machine,
// whose port may have changed. A host with the address stays.
func (c *Core) OnlyHost(ctx context.Context, contestID, team, name, address string) error {
	return c.store.Write(ctx, "host", func(tx *store.Tx) error {
		parsed, err := c.contest(tx, contestID)
		if err != nil {
			return err
		}
		if err := allowed(parsed, address); err != nil {
			return err
		}
		n, err := tx.Exec("UPDATE hosts SET url = ?, proven = ? WHERE team = ?", address, c.Now(), team)
		if err != nil || n > 0 {
			return err
		}
		_, err = tx.Exec("INSERT INTO hosts (id, team, name, url, proven) VALUES (?, ?, ?, ?, ?)", c.newID(), team, name, address, c.Now())
		return err
	})
}

// A MadeTeam is a new team with the secrets of its account.
type MadeTeam struct {
	Team  string `json:"team"`
	Login string `json:"login"` // a login token, valid once
	Token string `json:"token"` // of commands
}

// teamTokens is how long the tokens of a new team are valid.
const teamTokens = 30 * 24 * time.Hour

// NewTeam makes a team with an account and, if an address is given, with a proven host.
func (c *Core) NewTeam(ctx context.Context, t NewTeam, address string) (*MadeTeam, error) {
	team, err := c.AddTeam(ctx, t)
	if err != nil {
		return nil, err
	}
	if address != "" {
		if _, err := c.AddHost(ctx, t.Contest, team, "host", address, true); err != nil {
			return nil, err
		}
	}
	account, err := c.AddAccount(ctx, t.Name, api.Leader, team)
	if err != nil {
		return nil, err
	}
	out := &MadeTeam{Team: team}
	if out.Login, err = c.AddToken(ctx, ScopeLogin, account, teamTokens); err != nil {
		return nil, err
	}
	out.Token, err = c.AddToken(ctx, ScopeRun, account, teamTokens)
	return out, err
}
