package login

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A Provider is a service that knows its users (OpenID Connect Core 1.0).
type Provider struct {
	ID     string // in addresses
	Title  string
	Issuer string // its address
	Client string // the portal's id there
	Secret string
}

// A provider is asked for its addresses and keys at its first use.
type provider struct {
	Provider
	mu     sync.Mutex
	config *oauth2.Config
	tokens *oidc.IDTokenVerifier
}

// ready asks the provider once.
func (s *Service) ready(ctx context.Context, id string) (*provider, error) {
	p := s.providers[id]
	if p == nil {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.config != nil {
		return p, nil
	}
	// The keys are asked for again later: not with the context of this request.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), s.o.Client), p.Issuer)
	if err != nil {
		return nil, fmt.Errorf("asking the sign-in service %s: %w", id, err)
	}
	p.config = &oauth2.Config{ClientID: p.Client, ClientSecret: p.Secret, Endpoint: found.Endpoint(), RedirectURL: s.o.Base + "/login/" + url.PathEscape(id) + "/back", Scopes: []string{oidc.ScopeOpenID, "profile", "email"}}
	p.tokens = found.Verifier(&oidc.Config{ClientID: p.Client, Now: s.o.Core.Now})
	return p, nil
}

// A flow is one sign-in that was begun.
type flow struct {
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Next     string `json:"next"`
}

// Providers implements api.Logins.
func (s *Service) Providers() (out []api.Provider) {
	for _, p := range s.o.Providers {
		out = append(out, api.Provider{ID: p.ID, Title: p.Title})
	}
	return out
}

// Begin implements api.Logins.
func (s *Service) Begin(ctx context.Context, id, next string) (address, state string, err error) {
	p, err := s.ready(ctx, id)
	if err != nil {
		return "", "", err
	}
	state = rand.Text() + rand.Text()
	f := flow{Nonce: rand.Text() + rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next}
	body, err := json.Marshal(f)
	if err != nil {
		return "", "", err
	}
	err = s.o.Core.Write(ctx, "sign-in", func(tx *store.Tx) error {
		if _, err := tx.Exec("DELETE FROM flows WHERE expires < ?", s.o.Core.Now()); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO flows (digest, issuer, body, expires) VALUES (?, ?, ?, ?)", lead.Digest(state), p.Issuer, string(body), s.o.Core.Now().Add(flowTime))
		return err
	})
	return p.config.AuthCodeURL(state, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), state, err
}

// errSignIn is a sign-in that is not one that this browser began, or that the provider refused.
var errSignIn = refused("sign-in", "the sign-in did not succeed: begin it again")

// take ends a flow that was begun: it works once.
func (s *Service) take(ctx context.Context, p *provider, state string) (f flow, err error) {
	err = s.o.Core.Write(ctx, "sign-in-back", func(tx *store.Tx) error {
		body := ""
		err := tx.Row("SELECT body FROM flows WHERE digest = ? AND issuer = ? AND expires > ?", []any{lead.Digest(state), p.Issuer, s.o.Core.Now()}, &body)
		if errors.Is(err, store.ErrNone) {
			return errSignIn
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM flows WHERE digest = ?", lead.Digest(state)); err != nil {
			return err
		}
		return json.Unmarshal([]byte(body), &f)
	})
	return f, err
}

// Finish implements api.Logins. state is that of the browser's cookie.
func (s *Service) Finish(ctx context.Context, id, state string, back url.Values) (cookie, next string, err error) {
	p, err := s.ready(ctx, id)
	if err != nil {
		return "", "", err
	}
	if state == "" || back.Get("state") != state {
		return "", "", errSignIn
	}
	f, err := s.take(ctx, p, state)
	if err != nil {
		return "", "", err
	}
	if back.Get("code") == "" {
		return "", "", errSignIn
	}
	asked := oidc.ClientContext(ctx, s.o.Client)
	tokens, err := p.config.Exchange(asked, back.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return "", "", errSignIn
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := p.tokens.Verify(asked, raw)
	if err != nil || token.Nonce != f.Nonce || token.Subject == "" || len(token.Subject) > 180 {
		return "", "", errSignIn
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return "", "", errSignIn
	}
	cookie, err = s.enter(ctx, p.Issuer, token.Subject, c)
	return cookie, f.Next, err
}

// claims are what a provider tells of a user.
type claims struct {
	Name     string `json:"name"`
	User     string `json:"preferred_username"`
	Mail     string `json:"email"`
	Verified bool   `json:"email_verified"`
}

// enter opens a session of the account of a user; the first time it makes the account.
func (s *Service) enter(ctx context.Context, issuer, subject string, c claims) (cookie string, err error) {
	name := ""
	for _, text := range []string{c.Name, c.User, c.Mail, subject} {
		if name == "" {
			name = strings.TrimSpace(plain.Line(text))
		}
	}
	err = s.o.Core.Write(ctx, "enter", func(tx *store.Tx) error {
		account := ""
		err := tx.Row("SELECT account FROM identities WHERE issuer = ? AND subject = ?", []any{issuer, subject}, &account)
		if errors.Is(err, store.ErrNone) {
			account, err = s.o.Core.CreateAccount(tx, name, api.Spectator)
			if err == nil {
				_, err = tx.Exec("INSERT INTO identities (issuer, subject, account, created) VALUES (?, ?, ?, ?)", issuer, subject, account, s.o.Core.Now())
			}
		}
		if err != nil {
			return err
		}
		if c.Verified && c.Mail != "" && len(c.Mail) < 180 {
			if _, err := tx.Exec("DELETE FROM contacts WHERE account = ?", account); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO contacts (account, mail, lang, created) VALUES (?, ?, '', ?)", account, plain.Line(c.Mail), s.o.Core.Now()); err != nil {
				return err
			}
		}
		cookie, _, err = s.o.Core.OpenSession(tx, account)
		return err
	})
	return cookie, err
}
