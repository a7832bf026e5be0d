package api

import (
	"context"
	"net/url"
	"time"
)

// A Provider is a service at which people sign in.
type Provider struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// A Session is one browser in which an account is logged in.
type Session struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Own     bool      `json:"own,omitempty"` // that of the request
}

// A NewPassword is a password with an authenticator's secret, which Code proves. Staff needs
// both.
type NewPassword struct {
	Login    string
	Password string
	Secret   string
	Code     string
}

// A Logins has the ways into a portal beside the link that works once. What is refused is a
// *RefusedError.
type Logins interface {
	Providers() []Provider
	// Taking reports whether an account may be made now.
	Taking(ctx context.Context) (bool, error)
	// Password and Create open a session and return its cookie.
	Password(ctx context.Context, login, password, code string) (cookie string, err error)
	Create(ctx context.Context, name, login, password string) (cookie string, err error)
	// Begin is the address of a provider, and a state that the browser keeps. Finish takes the
	// browser back; next is where it was going.
	Begin(ctx context.Context, provider, next string) (address, state string, err error)
	Finish(ctx context.Context, provider, state string, back url.Values) (cookie, next string, err error)
	// NewSecret is a secret for an authenticator.
	NewSecret() string
	SetPassword(ctx context.Context, who Who, cookie string, p NewPassword) error
	Sessions(ctx context.Context, who Who, cookie string) ([]Session, error)
	EndSession(ctx context.Context, who Who, id string) error
}
