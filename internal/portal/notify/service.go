package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/load/webpush"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// Options are for New.
type Options struct {
	Core   *lead.Core
	Secret []byte // of the portal's folder: secrets of webhooks derive from it
	Base   string // the portal's address, for links
	Keys   *webpush.Keys
	Mail   *Mail // nil: no mail is sent
	// Client sends pushes and webhooks; nil for one that reaches public addresses alone.
	Client *http.Client
	// Services are hosts of further push services, and Hooks allows webhooks at http addresses of
	// this machine: for tests and trainings.
	Services []string
	Hooks    bool
	// Faster divides the times between tries: for tests.
	Faster int
}

// A Service tells people what happened. It is safe for concurrent use.
type Service struct {
	o      Options
	client *http.Client
	wake   chan struct{}
}

var _ api.Notices = (*Service)(nil)

// New is a service on a portal's state.
func New(o Options) *Service {
	o.Faster = max(o.Faster, 1)
	s := &Service{o: o, client: o.Client, wake: make(chan struct{}, 1)}
	if s.client == nil {
		s.client = strict()
	}
	return s
}

// Run plans and sends until ctx ends.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	for ctx.Err() == nil {
		err := s.Plan(ctx)
		sent := 0
		if err == nil {
			sent, err = s.Send(ctx)
		}
		if err != nil && ctx.Err() == nil {
			log.Warn("telling people what happened", "error", err)
		}
		if sent > 0 && err == nil {
			continue
		}
		timer := time.NewTimer(2 * time.Second / time.Duration(s.o.Faster))
		select {
		case <-timer.C:
		case <-s.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// awake makes Run look at once.
func (s *Service) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Kinds of notices.
const (
	KindMessage = "message" // an announcement, an answer, or for staff a question
	KindClock   = "clock"   // an act on the clock
	KindTeam    = "team"    // another state of the own team
	KindResult  = "result"  // of an own run
	KindTest    = "test"
)

// usual are the kinds of a new subscription.
var usual = []string{KindMessage, KindClock, KindTeam}

// Channels.
const (
	channelPush = "push"
	channelMail = "mail"
	channelHook = "webhook"
	// Webhooks of chats, known by their addresses.
	channelDiscord = "discord"
	channelSlack   = "slack"
)

func refused(code, format string, args ...any) error {
	return &api.RefusedError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Key implements api.Notices.
func (s *Service) Key() string {
	if s.o.Keys == nil {
		return ""
	}
	return s.o.Keys.Public()
}

// Mails implements api.Notices.
func (s *Service) Mails() bool { return s.o.Mail != nil }

// mostSubscriptions is how many an account has.
const mostSubscriptions = 20

// Subscribe implements api.Notices.
func (s *Service) Subscribe(ctx context.Context, who api.Who, n api.NewSubscription) (out *api.Subscription, err error) {
	if who.Account == "" {
		return nil, api.ErrForbidden
	}
	kinds := []string{}
	for _, k := range n.Kinds {
		if slices.Contains([]string{KindMessage, KindClock, KindTeam, KindResult}, k) && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		kinds = usual
	}
	out = &api.Subscription{ID: s.o.Core.NewID(), Channel: n.Channel, Address: n.Address, Kinds: kinds}
	body := ""
	switch n.Channel {
	case channelPush:
		body, err = s.checkPush(n)
	case channelHook:
		if err = s.checkHook(n.Address); err != nil {
			break
		}
		if chat := chatOf(n.Address); chat != "" {
			n.Channel, out.Channel = chat, chat
		} else {
			out.Secret = s.hookSecret(out.ID)
		}
	case channelMail:
		err = s.checkMail(ctx, who, &out.Address)
	default:
		err = refused("channel", "there is no such channel")
	}
	if err != nil {
		return nil, err
	}
	return out, s.o.Core.Write(ctx, "subscribe", func(tx *store.Tx) error {
		if _, err := tx.Exec("DELETE FROM subscriptions WHERE account = ? AND channel = ? AND address = ?", who.Account, n.Channel, out.Address); err != nil {
			return err
		}
		have := 0
		if err := tx.Row("SELECT COUNT(*) FROM subscriptions WHERE account = ?", []any{who.Account}, &have); err != nil {
			return err
		}
		if have >= mostSubscriptions {
			return refused("subscriptions", "an account has at most %d subscriptions", mostSubscriptions)
		}
		_, err := tx.Exec("INSERT INTO subscriptions (id, account, channel, address, body, kinds, created) VALUES (?, ?, ?, ?, ?, ?, ?)", out.ID, who.Account, n.Channel, out.Address, body, strings.Join(kinds, " "), s.o.Core.Now())
		return err
	})
}

// checkMail is the mail address of an account; it was proven by a sign-in or a link.
func (s *Service) checkMail(ctx context.Context, who api.Who, address *string) error {
	if s.o.Mail == nil {
		return refused("channel", "this portal sends no mail")
	}
	err := s.o.Core.Read(ctx, func(tx *store.Tx) error {
		return tx.Row("SELECT mail FROM contacts WHERE account = ?", []any{who.Account}, address)
	})
	if err != nil {
		return refused("mail", "the account has no proven mail address")
	}
	return nil
}

// hookSecret is the key of a webhook's signatures. It is derived, not kept.
func (s *Service) hookSecret(id string) string {
	mac := hmac.New(sha256.New, s.o.Secret)
	mac.Write([]byte("webhook\x00" + id))
	return hex.EncodeToString(mac.Sum(nil))
}

// Subscriptions implements api.Notices.
func (s *Service) Subscriptions(ctx context.Context, who api.Who) (out []api.Subscription, err error) {
	err = s.o.Core.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT id, channel, address, kinds FROM subscriptions WHERE account = ? ORDER BY created, id", []any{who.Account}, func(scan func(...any) error) error {
			x, kinds := api.Subscription{}, ""
			err := scan(&x.ID, &x.Channel, &x.Address, &kinds)
			if x.Kinds = strings.Fields(kinds); x.Channel != channelMail { // the rest of an endpoint is a secret
				if u, bad := url.Parse(x.Address); bad == nil {
					x.Address = u.Host
				}
			}
			out = append(out, x)
			return err
		})
	})
	return out, err
}

// Unsubscribe implements api.Notices.
func (s *Service) Unsubscribe(ctx context.Context, who api.Who, id string) error {
	return s.o.Core.Write(ctx, "unsubscribe", func(tx *store.Tx) error {
		n, err := tx.Exec("DELETE FROM subscriptions WHERE account = ? AND id = ?", who.Account, id)
		if err == nil && n == 0 {
			err = api.ErrNotFound
		}
		return err
	})
}

// Undelivered implements api.Notices.
func (s *Service) Undelivered(ctx context.Context, who api.Who) (out []api.Delivery, err error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	err = s.o.Core.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT d.message, d.kind, d.state, d.tries, d.due, d.why, COALESCE(a.name, '') FROM deliveries d LEFT JOIN accounts a ON a.id = d.account WHERE d.state <> 'sent' AND (d.tries > 0 OR d.state = 'dead') ORDER BY d.created DESC LIMIT 200", nil, func(scan func(...any) error) error {
			x := api.Delivery{}
			err := scan(&x.Message, &x.Kind, &x.State, &x.Tries, &x.Due, &x.Why, &x.Name)
			out = append(out, x)
			return err
		})
	})
	return out, err
}

// line is a text for a heading: one line without what hides, at most n characters.
func line(text string, n int) string { return plain.Cut(plain.Line(strings.TrimSpace(text)), n) }

// keyOf decodes a key of a browser.
func keyOf(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// Test implements api.Notices.
func (s *Service) Test(ctx context.Context, who api.Who) error {
	err := s.o.Core.Write(ctx, "test-notice", func(tx *store.Tx) error {
		subs, err := subscribers(tx, "WHERE s.account = ?", who.Account)
		if err != nil {
			return err
		}
		id := "test/" + s.o.Core.NewID()
		for _, x := range subs {
			if err := s.deliver(tx, id, x, Notice{Kind: KindTest, ID: id, At: s.o.Core.Now(), URL: s.o.Base + "/me"}); err != nil {
				return err
			}
		}
		return nil
	})
	s.awake()
	return err
}
