// Package peopletest has those who take part in the contest of package apitest, on a real
// database, for tests of pages and routes.
//
//	h := peopletest.New(t, apitest.Middle)
//	server, err := api.NewServer(api.Options{People: h.People, Logins: h.Logins, Notices: h.Notices, …})
package peopletest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/webpush"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/api/apitest"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/login"
	"github.com/iikanji/iikanji/internal/portal/notify"
	"github.com/iikanji/iikanji/internal/portal/people"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A Hall has the services of a portal.
type Hall struct {
	Core    *lead.Core
	People  *people.Service
	Logins  *login.Service
	Notices *notify.Service
	// Account is a person without a team, Leads one who leads Team.
	Account, Leads, Team string
}

// New makes a hall at an instant. Its database ends with the test.
func New(t testing.TB, at time.Time) *Hall {
	t.Helper()
	now := func() time.Time { return at }
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), store.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := &Hall{Core: lead.New(lead.Options{Store: s, Carry: carry.NewMemory(now), Now: now})}
	h.People = people.New(h.Core)
	keys, err := webpush.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	h.Notices = notify.New(notify.Options{Core: h.Core, Secret: []byte("s"), Base: "http://127.0.0.1", Keys: keys})
	if h.Logins, err = login.New(login.Options{Core: h.Core, Secret: []byte("s"), Providers: []login.Provider{{ID: "corp", Title: "Corp", Issuer: "http://127.0.0.1:1"}}}); err != nil {
		t.Fatal(err)
	}
	if err := h.fill(t); err != nil {
		t.Fatal(err)
	}
	return h
}

// fill makes the contest with some teams and people, whose names are hostile.
func (h *Hall) fill(t testing.TB) (err error) {
	ctx := t.Context()
	if _, err := h.Core.AddContest(ctx, []byte(apitest.File), "cup.toml"); err != nil {
		return err
	}
	for _, into := range []*string{&h.Leads, &h.Account} {
		if *into, err = h.Core.AddAccount(ctx, "<b>bold</b> 花子", api.Spectator, ""); err != nil {
			return err
		}
	}
	mine, err := h.People.SignUp(ctx, api.Who{Account: h.Leads}, "cup", api.SignUp{Name: "<script>alert(1)</script>", Terms: true, Answers: map[string]string{"shirt": "<b>bold</b>"}})
	if err != nil {
		return err
	}
	h.Team = mine.Team
	if err := h.People.Seek(ctx, api.Who{Account: h.Account}, "cup", 3, "<b>bold</b>"); err != nil {
		return err
	}
	return nil
}

// Who is an account as it is now, in the contest.
func (h *Hall) Who(t testing.TB, account string) api.Who {
	t.Helper()
	token, err := h.Core.AddToken(t.Context(), lead.ScopeRun, account, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	who, ok, err := h.Core.ByToken(t.Context(), lead.ScopeRun, token)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return who
}
