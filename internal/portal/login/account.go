package login

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// loginName is a login as it is kept.
func loginName(text string) (string, error) {
	login := lead.Folded(plain.Line(strings.TrimSpace(text)))
	if n := utf8.RuneCountInString(login); n < 2 || n > 60 || strings.ContainsAny(login, " "+string(plain.Mark)) {
		return "", refused("login-name", "a login has 2 to 60 characters and no space")
	}
	return login, nil
}

// taking reports whether a contest takes people in now.
func (s *Service) taking(tx *store.Tx) (taking bool, err error) {
	var ids []string
	err = tx.Each("SELECT id FROM contests", nil, func(scan func(...any) error) error {
		id := ""
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	for _, id := range ids {
		c, err := s.o.Core.ContestIn(tx, id)
		if err != nil {
			return false, err
		}
		taking = taking || c.Registration.Opened(c.Registration.JoinClose, s.o.Core.Now())
	}
	return taking, err
}

// Taking implements api.Logins.
func (s *Service) Taking(ctx context.Context) (taking bool, err error) {
	err = s.o.Core.Read(ctx, func(tx *store.Tx) error {
		taking, err = s.taking(tx)
		return err
	})
	return taking, err
}

// Create implements api.Logins.
func (s *Service) Create(ctx context.Context, name, login, password string) (cookie string, err error) {
	if login, err = loginName(login); err != nil {
		return "", err
	}
	if name = strings.TrimSpace(plain.Line(name)); name == "" {
		name = login
	}
	if err := goodPassword(login, password); err != nil {
		return "", err
	}
	kept := ""
	if err := s.slow(ctx, func() { kept = hash(password) }); err != nil {
		return "", err
	}
	err = s.o.Core.Write(ctx, "account", func(tx *store.Tx) error {
		taking, err := s.taking(tx)
		if err != nil {
			return err
		}
		if !taking {
			return refused("registration-closed", "no contest takes people in now")
		}
		account, err := s.o.Core.CreateAccount(tx, name, api.Spectator)
		if err != nil {
			return err
		}
		if err := setPassword(tx, account, login, kept, ""); err != nil {
			return err
		}
		cookie, _, err = s.o.Core.OpenSession(tx, account)
		return err
	})
	return cookie, err
}

// setPassword writes the password of an account in place of an earlier one.
func setPassword(tx *store.Tx, account, login, kept, totp string) error {
	n := 0
	if err := tx.Row("SELECT COUNT(*) FROM passwords WHERE login = ? AND account <> ?", []any{login, account}, &n); err != nil {
		return err
	}
	if n > 0 {
		return refused("login-name", "another account has this login")
	}
	if _, err := tx.Exec("DELETE FROM passwords WHERE account = ?", account); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO passwords (login, account, hash, totp, used, failed, until) VALUES (?, ?, ?, ?, 0, 0, 0)", login, account, kept, totp)
	return err
}

// SetPassword implements api.Logins. All other sessions of the account end.
func (s *Service) SetPassword(ctx context.Context, who api.Who, cookie string, p api.NewPassword) (err error) {
	login, err := loginName(p.Login)
	if err != nil {
		return err
	}
	if err := goodPassword(login, p.Password); err != nil {
		return err
	}
	if p.Secret == "" && who.Role.Staff() {
		return refused("authenticator", "staff needs an authenticator")
	}
	sealed := ""
	if p.Secret != "" {
		if codeStep(p.Secret, strings.TrimSpace(p.Code), 0, s.o.Core.Now()) == 0 {
			return refused("authenticator", "the code is not the authenticator's")
		}
		sealed = s.vault.seal(who.Account, p.Secret)
	}
	kept := ""
	if err := s.slow(ctx, func() { kept = hash(p.Password) }); err != nil {
		return err
	}
	return s.o.Core.Write(ctx, "set-password", func(tx *store.Tx) error {
		if err := setPassword(tx, who.Account, login, kept, sealed); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM sessions WHERE account = ? AND digest <> ?", who.Account, lead.Digest(cookie)); err != nil {
			return err
		}
		return s.o.Core.Audit(tx, who.Account, "password", who.Account)
	})
}

// sessionName is how many characters of a session's digest name it.
const sessionName = 16

// Sessions implements api.Logins.
func (s *Service) Sessions(ctx context.Context, who api.Who, cookie string) (out []api.Session, err error) {
	own := lead.Digest(cookie)
	err = s.o.Core.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT digest, created, expires FROM sessions WHERE account = ? AND expires > ? ORDER BY created DESC", []any{who.Account, s.o.Core.Now()}, func(scan func(...any) error) error {
			digest, x := "", api.Session{}
			err := scan(&digest, &x.Created, &x.Expires)
			x.ID, x.Own = digest[:min(sessionName, len(digest))], digest == own
			out = append(out, x)
			return err
		})
	})
	return out, err
}

// EndSession implements api.Logins.
func (s *Service) EndSession(ctx context.Context, who api.Who, id string) error {
	return s.o.Core.Write(ctx, "end-session", func(tx *store.Tx) error {
		n, err := tx.Exec("DELETE FROM sessions WHERE account = ? AND SUBSTR(digest, 1, 16) = ?", who.Account, id)
		if err == nil && n == 0 {
			err = api.ErrNotFound
		}
		return err
	})
}

// flowTime is how long a sign-in at a provider may take.
const flowTime = 10 * time.Minute

// NewSecret implements api.Logins.
func (*Service) NewSecret() string { return NewSecret() }
