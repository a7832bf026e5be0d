package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// Options are for New.
type Options struct {
	Core   *lead.Core
	Secret []byte // of the portal's folder
	// Base is the portal's address, where providers send browsers back to.
	Base      string
	Providers []Provider
	Client    *http.Client // to providers; nil for one with a time-out
}

// A Service has the ways into a portal. It is safe for concurrent use.
type Service struct {
	o     Options
	vault *vault
	// slots bound how many passwords are hashed at once: each takes 19 MiB.
	slots     chan struct{}
	providers map[string]*provider
}

var _ api.Logins = (*Service)(nil)

// New is a service on a portal's state.
func New(o Options) (*Service, error) {
	v, err := newVault(o.Secret)
	if err != nil {
		return nil, err
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 10 * time.Second}
	}
	s := &Service{o: o, vault: v, slots: make(chan struct{}, 2), providers: map[string]*provider{}}
	for _, p := range o.Providers {
		s.providers[p.ID] = &provider{Provider: p}
	}
	return s, nil
}

func refused(code, format string, args ...any) error {
	return &api.RefusedError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// errWrong does not say whether the login, the password or the code was wrong.
var errWrong = refused("login", "the login, the password or the code is wrong")

// free is how many wrong tries have no delay; longest is the longest delay.
const (
	free    = 3
	longest = 15 * time.Minute
)

// delay is how long the next try waits after some failures.
func delay(failed int64) time.Duration {
	if failed < free {
		return 0
	}
	return min(longest, time.Second<<min(failed-free, 20))
}

// slow hashes with a slot.
func (s *Service) slow(ctx context.Context, do func()) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		do()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to check a password: %w", ctx.Err())
	}
}

// nobody is a kept form that no login has: an unknown login takes as long as a known one.
var nobody = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// A kept is a row of the table passwords.
type kept struct {
	account, hash, totp, role string
	used, failed              int64
	until                     time.Time
}

func keptOf(tx *store.Tx, login string) (k kept, err error) {
	err = tx.Row("SELECT p.account, p.hash, p.totp, p.used, p.failed, p.until, a.role FROM passwords p JOIN accounts a ON a.id = p.account WHERE p.login = ?", []any{login}, &k.account, &k.hash, &k.totp, &k.used, &k.failed, &k.until, &k.role)
	return k, err
}

// Password implements api.Logins.
func (s *Service) Password(ctx context.Context, login, password, code string) (cookie string, err error) {
	login = lead.Folded(strings.TrimSpace(login))
	var k kept
	err = s.o.Core.Read(ctx, func(tx *store.Tx) error {
		k, err = keptOf(tx, login)
		return err
	})
	known := err == nil
	if err != nil && !errors.Is(err, store.ErrNone) {
		return "", err
	}
	if !known {
		k.hash = nobody
	}
	if wait := k.until.Sub(s.o.Core.Now()); wait > 0 {
		return "", &api.RefusedError{Code: "wait", Text: "too many wrong tries", Wait: wait}
	}
	right := false
	if err := s.slow(ctx, func() { right = matches(password, k.hash) }); err != nil {
		return "", err
	}
	if !known {
		return "", errWrong
	}
	wrong := false
	err = s.o.Core.Write(ctx, "password", func(tx *store.Tx) error {
		now, k, err := keptNow(tx, s.o.Core, login)
		if err != nil {
			return err
		}
		used, ok, err := s.coded(k, code, now)
		if err != nil {
			return err
		}
		if wrong = !right || !ok; wrong {
			_, err := tx.Exec("UPDATE passwords SET failed = failed + 1, until = ? WHERE login = ?", now.Add(delay(k.failed+1)), login)
			return err
		}
		if _, err := tx.Exec("UPDATE passwords SET failed = 0, until = 0, used = ? WHERE login = ?", used, login); err != nil {
			return err
		}
		cookie, _, err = s.o.Core.OpenSession(tx, k.account)
		return err
	})
	if err == nil && wrong {
		err = errWrong
	}
	return cookie, err
}

func keptNow(tx *store.Tx, core *lead.Core, login string) (time.Time, kept, error) {
	k, err := keptOf(tx, login)
	return core.Now(), k, err
}

// coded checks the authenticator's code of an account that has one. Staff without one is
// refused.
func (s *Service) coded(k kept, given string, now time.Time) (used int64, ok bool, err error) {
	if k.totp == "" {
		return k.used, !api.Role(k.role).Staff(), nil
	}
	secret, err := s.vault.open(k.account, k.totp)
	if err != nil {
		return 0, false, err
	}
	used = codeStep(secret, strings.TrimSpace(given), k.used, now)
	return used, used > 0, nil
}
