package api

import (
	"context"
	"time"
)

// A Subscription is an address to which an account is told what happens. Secret is that of a
// webhook's signatures, shown when it is made.
type Subscription struct {
	ID      string   `json:"id"`
	Channel string   `json:"channel"` // push, mail, webhook, discord or slack
	Address string   `json:"address"`
	Kinds   []string `json:"kinds"`
	Secret  string   `json:"secret,omitempty"`
}

// A NewSubscription is the wish for one. Point and Auth are the keys of a browser, in base64.
type NewSubscription struct {
	Channel string   `json:"channel"`
	Address string   `json:"address,omitempty"`
	Point   string   `json:"p256dh,omitempty"`
	Auth    string   `json:"auth,omitempty"`
	Kinds   []string `json:"kinds,omitempty"`
}

// A Delivery is a notice that has not arrived. State is due (it is tried again) or dead.
type Delivery struct {
	Message string    `json:"message"`
	Name    string    `json:"name"` // of the person
	Kind    string    `json:"kind"`
	State   string    `json:"state"`
	Tries   int       `json:"tries"`
	Due     time.Time `json:"due"`
	Why     string    `json:"why"`
}

// Notices tell people what happens outside of the pages.
type Notices interface {
	// Key is the public key that browsers subscribe with; "" without push.
	Key() string
	// Mails reports whether mail is sent.
	Mails() bool
	Subscriptions(ctx context.Context, who Who) ([]Subscription, error)
	Subscribe(ctx context.Context, who Who, n NewSubscription) (*Subscription, error)
	Unsubscribe(ctx context.Context, who Who, id string) error
	// Test sends a notice to all addresses of the caller.
	Test(ctx context.Context, who Who) error
	Undelivered(ctx context.Context, who Who) ([]Delivery, error)
}

// noticeRoutes are the routes of subscriptions and deliveries.
func (s *Server) noticeRoutes() []Route {
	n := s.o.Notices
	if n == nil {
		return nil
	}
	const at = "/api/v1/me/subscriptions"
	return []Route{
		{"GET", at, Login, 0, func(c *Call) error { return answer(c)(n.Subscriptions(c.R.Context(), c.Who)) }},
		{"POST", at, Login, 20, body(func(ctx context.Context, c *Call, in NewSubscription) (any, error) {
			return n.Subscribe(ctx, c.Who, in)
		})},
		{"POST", at + "/remove", Login, 20, body(func(ctx context.Context, c *Call, in struct {
			ID string `json:"id"`
		}) (any, error) {
			return done, n.Unsubscribe(ctx, c.Who, in.ID)
		})},
		{"GET", "/api/v1/deliveries", Staffed, 0, func(c *Call) error { return answer(c)(n.Undelivered(c.R.Context(), c.Who)) }},
	}
}
