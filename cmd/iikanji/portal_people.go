package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/iikanji/iikanji/internal/load/webpush"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/login"
	"github.com/iikanji/iikanji/internal/portal/notify"
)

// peopleOf makes the ways into a portal, and what tells people what happened.
func (c *portalUpCmd) peopleOf(core *lead.Core, secret, base string) (*login.Service, *notify.Service, error) {
	providers, err := readProviders(c.OIDC)
	if err != nil {
		return nil, nil, err
	}
	logins, err := login.New(login.Options{Core: core, Secret: []byte(secret), Base: base, Providers: providers})
	if err != nil {
		return nil, nil, err
	}
	text, err := c.kept("push.key", func() (string, error) {
		keys, err := webpush.NewKeys()
		if err != nil {
			return "", err
		}
		return keys.Text()
	})
	if err != nil {
		return nil, nil, err
	}
	keys, err := webpush.ReadKeys(text)
	if err != nil {
		return nil, nil, fmt.Errorf("the portal's file push.key: %w", err)
	}
	o := notify.Options{Core: core, Secret: []byte(secret), Base: base, Keys: keys}
	if c.Mail != "" {
		if o.Mail, err = notify.ReadMail(c.Mail, os.Getenv("IIKANJI_PORTAL_MAIL")); err != nil {
			return nil, nil, usageError("--mail: %v", err)
		}
	}
	return logins, notify.New(o), nil
}

// readProviders reads a file of sign-in services; "" is none. Secrets are in files of their own
// or in variables of the environment.
func readProviders(path string) ([]login.Provider, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the sign-in services: %w", err)
	}
	var file struct {
		Provider []struct {
			ID, Title, Issuer, Client string
			SecretFile                string `toml:"secret_file"`
		}
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("reading the sign-in services of %s: %w", path, err)
	}
	var out []login.Provider
	for i, p := range file.Provider {
		u, err := url.Parse(p.Issuer)
		if err != nil || u.Scheme != "https" || p.Client == "" || p.ID == "" || strings.ContainsAny(p.ID, "/?#") || p.ID == "password" || p.ID == "create" {
			return nil, fmt.Errorf("%s: [[provider]] %d needs id, client and issuer = \"https://…\"", path, i+1)
		}
		secret, err := os.ReadFile(p.SecretFile)
		if err != nil {
			return nil, fmt.Errorf("%s: reading secret_file of %s: %w", path, p.ID, err)
		}
		title := p.Title
		if title == "" {
			title = p.ID
		}
		out = append(out, login.Provider{ID: p.ID, Title: title, Issuer: p.Issuer, Client: p.Client, Secret: strings.TrimSpace(string(secret))})
	}
	return out, nil
}

type portalAccountCmd struct {
	New    portalAccountNewCmd    `cmd:"" help:"Make an account of staff with its login link."`
	Forget portalAccountForgetCmd `cmd:"" help:"Put a pseudonym in a person's place; results stay."`
}

// Help returns the long help of the command.
func (portalAccountCmd) Help() string { return portalAccountNewCmd{}.Help() }

type portalAccountNewCmd struct {
	Name string `arg:"" help:"Name of the person."`
	Role string `help:"What the person does: viewer, support, judge, operator or organiser." default:"viewer" enum:"viewer,support,judge,operator,organiser"`
	JSON bool   `help:"Print one JSON document."`
	portalDir
}

// Help returns the long help of the command.
func (portalAccountNewCmd) Help() string {
	return `Makes an account of staff and prints its login link, which works once.
On the page of the account, its person sets a password with an authenticator.

Examples:
  iikanji portal account new aoi --role judge

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalAccountNewCmd) Run(ctx context.Context, e *env) (err error) {
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	id, err := core.AddAccount(ctx, c.Name, api.Role(c.Role), "")
	if err != nil {
		return err
	}
	token, err := core.AddToken(ctx, lead.ScopeLogin, id, 7*24*time.Hour)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, map[string]string{"account": id, "login": token})
	}
	out := &output{w: e.Stdout}
	out.line("account  %s\nlogin    %s", id, c.link("/login?token="+token))
	return out.err
}

type portalAccountForgetCmd struct {
	Account string `arg:"" help:"Id of the account."`
	portalDir
}

// Help returns the long help of the command.
func (portalAccountForgetCmd) Help() string {
	return `Removes what a portal knows of a person: name, mail address, logins, sessions, addresses
of notices. Results of the team stay. There is no way back.

Examples:
  iikanji portal account forget ACCOUNT

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalAccountForgetCmd) Run(ctx context.Context, e *env) (err error) {
	core, end, err := c.core(ctx, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := core.Forget(ctx, "", c.Account); err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	out.line("forgotten")
	return out.err
}
