package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/portal/store"
)

const (
	// giveUp is how long a delivery is tried, and how old an event may be to be told at all.
	giveUp = 24 * time.Hour
	// claimed is how long a delivery belongs to a process that sends it.
	claimed = time.Minute
	// together is how many are sent at the same time.
	together = 8
	tryTime  = 15 * time.Second
	mostWait = time.Hour
)

// A deadError is a failure that another try does not mend. gone: the address does not exist any
// more.
type deadError struct {
	why  string
	gone bool
}

func (e *deadError) Error() string { return e.why }

// backoff is how long to wait after some tries: 10 s, 20 s, 40 s … up to an hour.
func backoff(tries int64) time.Duration { return min(mostWait, 10*time.Second<<min(tries-1, 16)) }

// A due is a delivery that is sent.
type due struct {
	message, address string
	tries            int64
	created          time.Time
	to               subscriber
	notice           Notice
}

// Send sends what is due and returns how many were tried.
func (s *Service) Send(ctx context.Context) (int, error) {
	all, err := s.claim(ctx)
	if err != nil {
		return 0, err
	}
	slots := make(chan struct{}, together)
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, d := range all {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = s.settle(ctx, d, s.send(ctx, d))
		})
	}
	wait.Wait()
	return len(all), errors.Join(errs...)
}

// claim takes deliveries that are due for this process.
func (s *Service) claim(ctx context.Context) (all []due, err error) {
	err = s.o.Core.Write(ctx, "claim-delivery", func(tx *store.Tx) error {
		all = nil
		now := s.o.Core.Now()
		err := tx.Each("SELECT message, address, account, body, tries, created FROM deliveries WHERE state = 'due' AND due <= ? ORDER BY due, message, address LIMIT 64", []any{now}, func(scan func(...any) error) error {
			d, body := due{}, ""
			if err := scan(&d.message, &d.address, &d.to.account, &body, &d.tries, &d.created); err != nil {
				return err
			}
			all = append(all, d)
			return json.Unmarshal([]byte(body), &all[len(all)-1].notice)
		})
		if err != nil {
			return err
		}
		mine := all[:0]
		for _, d := range all {
			n, err := tx.Exec("UPDATE deliveries SET due = ?, tries = tries + 1 WHERE message = ? AND address = ? AND state = 'due' AND tries = ?", now.Add(claimed), d.message, d.address, d.tries)
			if err != nil {
				return err
			}
			if d.tries++; n == 1 {
				mine = append(mine, d)
			}
		}
		all = mine
		for i := range all {
			if err := s.whom(tx, &all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// whom finds the address of a delivery as it is now; none is left if it was given up.
func (s *Service) whom(tx *store.Tx, d *due) error {
	subs, err := subscribers(tx, "WHERE s.id = ?", d.address)
	if err != nil {
		return err
	}
	if len(subs) == 1 {
		d.to = subs[0]
		return nil
	}
	if d.address != "mail-"+d.to.account {
		return nil
	}
	err = tx.Row("SELECT mail FROM contacts WHERE account = ?", []any{d.to.account}, &d.to.address)
	if errors.Is(err, store.ErrNone) {
		return nil
	}
	d.to.id, d.to.channel = d.address, channelMail
	return err
}

// send sends one delivery.
func (s *Service) send(ctx context.Context, d due) error {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	switch d.to.channel {
	case channelPush:
		return s.push(ctx, d)
	case channelHook:
		return s.hook(ctx, d)
	case channelDiscord, channelSlack:
		return s.chat(ctx, d)
	case channelMail:
		return s.mail(ctx, d)
	}
	return &deadError{why: "the subscription is gone"}
}

// settle notes how a delivery went.
func (s *Service) settle(ctx context.Context, d due, failed error) error {
	ctx = context.WithoutCancel(ctx) // what was sent is noted also at the end of the process
	return s.o.Core.Write(ctx, "sent", func(tx *store.Tx) error {
		now := s.o.Core.Now()
		set := func(state string, due time.Time, why string) error {
			_, err := tx.Exec("UPDATE deliveries SET state = ?, due = ?, why = ? WHERE message = ? AND address = ? AND state = 'due'", state, due, line(why, 300), d.message, d.address)
			return err
		}
		var dead *deadError
		switch {
		case failed == nil:
			return set("sent", now, "")
		case errors.As(failed, &dead):
			if dead.gone {
				if _, err := tx.Exec("DELETE FROM subscriptions WHERE id = ?", d.address); err != nil {
					return err
				}
			}
			return set("dead", now, dead.why)
		case now.Sub(d.created) > giveUp:
			return set("dead", now, "given up after 24 hours: "+failed.Error())
		}
		return set("due", now.Add(backoff(d.tries)/time.Duration(s.o.Faster)), failed.Error())
	})
}

// errAddress is an address that nothing is sent to.
var errAddress = errors.New("the address is not a public one")

// strict is a client that reaches public addresses alone, whatever a name resolves to, and
// follows no redirect.
func strict() *http.Client {
	d := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !public(at.Addr()) {
			return errAddress
		}
		return nil
	}}
	return &http.Client{Timeout: tryTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true}}
}

// special are networks that are neither private nor public (RFC 6890).
var special = []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16")}

// public reports whether an address is one of the internet.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	for _, p := range special {
		if p.Contains(ip) {
			return false
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate()
}

// answered reads what a server answered to a push or a webhook.
func answered(res *http.Response, err error) error {
	if errors.Is(err, errAddress) {
		return &deadError{why: errAddress.Error()}
	}
	if err != nil {
		return fmt.Errorf("no answer: %w", plainError(err))
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		return &deadError{fmt.Sprintf("the server answers %d", res.StatusCode), true}
	case res.StatusCode >= 300 && res.StatusCode < 500 && res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusRequestTimeout:
		return &deadError{why: fmt.Sprintf("the server answers %d", res.StatusCode)}
	}
	return fmt.Errorf("the server answers %d", res.StatusCode)
}

// plainError is an error without the address of the request, which is a secret.
func plainError(err error) error {
	var in interface{ Unwrap() error }
	if errors.As(err, &in) {
		if u := in.Unwrap(); u != nil {
			return u
		}
	}
	return err
}
