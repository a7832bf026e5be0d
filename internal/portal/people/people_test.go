package people

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A hall is a portal without processes, at an instant that the test chooses.
type hall struct {
	*Service
	t    *testing.T
	core *lead.Core
	at   time.Time
	n    int
}

const head = `name = "Cup"
local = true
[[divisions]]
id = "student"
rule = "all student"
[[rounds]]
id = "final"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
[problem.p]
command = ["true"]
[registration]
open = 2027-01-10T10:00:00Z
close = 2027-01-20T10:00:00Z
join_close = 2027-01-25T10:00:00Z
edit_close = 2027-01-28T10:00:00Z
`

func newHall(t *testing.T, rules string) *hall {
	t.Helper()
	h := &hall{t: t, at: time.Date(2027, 1, 12, 0, 0, 0, 0, time.UTC)}
	now := func() time.Time { return h.at }
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), store.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h.core = lead.New(lead.Options{Store: s, Carry: carry.NewMemory(now), Now: now})
	if _, err := h.core.AddContest(t.Context(), []byte(head+rules), "cup.toml"); err != nil {
		t.Fatal(err)
	}
	h.Service = New(h.core)
	return h
}

// person makes an account.
func (h *hall) person() api.Who {
	h.t.Helper()
	h.n++
	id, err := h.core.AddAccount(h.t.Context(), fmt.Sprint("person ", h.n), api.Spectator, "")
	if err != nil {
		h.t.Fatal(err)
	}
	return api.Who{Account: id, Role: api.Spectator}
}

// now is a person with its teams as they are.
func (h *hall) now(who api.Who) api.Who {
	h.t.Helper()
	token, err := h.core.AddToken(h.t.Context(), lead.ScopeRun, who.Account, time.Hour)
	if err != nil {
		h.t.Fatal(err)
	}
	out, ok, err := h.core.ByToken(h.t.Context(), lead.ScopeRun, token)
	if err != nil || !ok {
		h.t.Fatal(ok, err)
	}
	return out.At("cup")
}

// signUp makes a team and returns its leader.
func (h *hall) signUp(name string) (api.Who, *api.Mine) {
	h.t.Helper()
	who := h.person()
	m, err := h.SignUp(h.t.Context(), who, "cup", api.SignUp{Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.now(who), m
}

func (h *hall) refused(err error, code string) {
	h.t.Helper()
	var r *api.RefusedError
	if !errors.As(err, &r) || r.Code != code {
		h.t.Errorf("got %v, want it refused with %q", err, code)
	}
}

func (h *hall) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// board are the names of the teams on the board.
func (h *hall) board() (out []string) {
	h.t.Helper()
	var history lead.History
	_, err := h.core.Follow(h.t.Context(), "cup_final", &history)
	h.ok(err)
	for _, team := range history.Data.Teams {
		out = append(out, team.Name+team.Gone)
	}
	slices.Sort(out)
	return out
}

var organiser = api.Who{Account: "o", Role: api.Organiser}

// TestSignUp: a team within the times and rules of the contest, with its leader; names that look
// alike are one.
func TestSignUp(t *testing.T) {
	h := newHall(t, "terms = \"be kind\"\n[[registration.questions]]\nid = \"shirt\"\ntext = \"Size?\"\nrequired = true\n")
	ctx, who := t.Context(), h.person()
	try := func(in api.SignUp) error {
		_, err := h.SignUp(ctx, who, "cup", in)
		return err
	}
	answers := map[string]string{"shirt": "M\x1b[2J", "other": "dropped"}
	h.refused(try(api.SignUp{Name: "a", Answers: answers}), "terms")
	h.refused(try(api.SignUp{Name: "a", Terms: true}), "answers")
	h.refused(try(api.SignUp{Name: " ", Terms: true, Answers: answers}), "name")
	h.refused(try(api.SignUp{Name: "a", Terms: true, Answers: answers, Division: "none"}), "division")
	h.refused(try(api.SignUp{Name: "a", Terms: true, Answers: answers, Division: "student"}), "division")
	for _, at := range []string{"2027-01-10T09:59:59Z", "2027-01-20T10:00:00Z"} {
		h.at, _ = time.Parse(time.RFC3339, at)
		h.refused(try(api.SignUp{Name: "a", Terms: true, Answers: answers}), "registration-closed")
	}
	h.at = time.Date(2027, 1, 12, 0, 0, 0, 0, time.UTC)
	if _, err := h.SignUp(ctx, organiser, "cup", api.SignUp{Name: "a"}); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("staff signs up: %v", err)
	}
	m, err := h.SignUp(ctx, who, "cup", api.SignUp{Name: "ＡＢＣ\u202e", Terms: true, Answers: answers, Division: "student", Declares: []string{"student", "a b"}})
	h.ok(err)
	if m.State != "" || !m.Leads || m.Answers["shirt"] != "M·[2J" || len(m.Answers) != 1 || m.Name != "ＡＢＣ·" || len(m.People[0].Declares) != 1 {
		t.Errorf("the team is %+v", m)
	}
	if who = h.now(who); who.Role != api.Leader || who.Team != m.Team {
		t.Errorf("the leader is %+v", who)
	}
	h.refused(try(api.SignUp{Name: "other", Terms: true, Answers: answers}), "member")
	other := h.person()
	_, err = h.SignUp(ctx, other, "cup", api.SignUp{Name: "abc·", Terms: true, Answers: answers})
	h.refused(err, "name")
	if got := h.board(); !slices.Equal(got, []string{"ＡＢＣ·"}) {
		t.Errorf("the board has %q", got)
	}
}

// TestHostileNames: what is kept has no control or hidden character and a bounded length, or is
// refused.
func TestHostileNames(t *testing.T) {
	h := newHall(t, "")
	for i, name := range []string{"", "\u200b", "\u3164\u3164", strings.Repeat("a", 33), strings.Repeat("a\u0301\u0302\u0303\u0304", 30), strings.Repeat("\ufdfa", 30), "\xff\xfe"} {
		_, err := h.SignUp(t.Context(), h.person(), "cup", api.SignUp{Name: name})
		if name == "\xff\xfe" {
			h.ok(err) // it is kept as U+FFFD
			continue
		}
		if err == nil {
			t.Errorf("name %d, %q, was taken", i, name)
		}
		h.refused(err, "name")
	}
	for _, name := range []string{"<script>alert(1)</script>", "=1+1", "'; DROP TABLE teams; --", "a\r\nBcc: x", "👨‍👩‍👧‍👦", "{{.Secret}}", "../../etc/passwd", "@everyone"} {
		_, m := h.signUp(name)
		if strings.ContainsAny(m.Name, "\r\n\x00") {
			t.Errorf("%q is kept as %q", name, m.Name)
		}
	}
}

// TestPlaces: no more teams than places, also when many sign up at once; reserved ones are for
// codes; those who wait get a free place in their order, and staff admits them.
func TestPlaces(t *testing.T) {
	h := newHall(t, "teams = 5\nreserved = 2\n")
	ctx := t.Context()
	code, err := h.Code(ctx, organiser, "cup", 2, "sponsors")
	h.ok(err)
	_, err = h.Code(ctx, organiser, "cup", 1, "too many")
	h.refused(err, "places")
	if _, err := h.Code(ctx, api.Who{Account: "v", Role: api.Viewer}, "cup", 1, ""); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a viewer makes a code: %v", err)
	}
	var people []api.Who
	for range 8 {
		people = append(people, h.person())
	}
	var all sync.WaitGroup
	for i, who := range people {
		all.Go(func() {
			if _, err := h.SignUp(ctx, who, "cup", api.SignUp{Name: fmt.Sprint("team ", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	c, err := h.Contest(ctx, organiser, "cup")
	h.ok(err)
	if len(c.Teams) != 3 || c.Waiting != 5 || c.Free != 0 || len(h.board()) != 3 {
		t.Fatalf("%d teams take part, %d wait; the board has %q", len(c.Teams), c.Waiting, h.board())
	}
	for i, want := range []string{"", "", "code"} {
		_, err := h.SignUp(ctx, h.person(), "cup", api.SignUp{Name: fmt.Sprint("sponsor ", i), Code: code})
		if want == "" {
			h.ok(err)
		} else {
			h.refused(err, want)
		}
	}
	applied, err := h.Applied(ctx, organiser, "cup")
	h.ok(err)
	first, next := api.Applied{}, api.Applied{}
	for _, a := range applied {
		if a.State == "" && !a.Coded {
			first = a
		}
		if a.Place == 1 {
			next = a
		}
	}
	h.refused(h.Decide(ctx, organiser, "cup", api.Decision{Team: first.Team, Act: "withdraw"}), "reason")
	h.ok(h.Decide(ctx, organiser, "cup", api.Decision{Team: first.Team, Act: "withdraw", Reason: "moved away"}))
	applied, err = h.Applied(ctx, organiser, "cup")
	h.ok(err)
	for _, a := range applied {
		if a.Team == next.Team && a.State != "" || a.Team == first.Team && (a.State != withdrawn || a.Reason != "moved away") {
			t.Errorf("after a withdrawal %s is %q (%s)", a.Name, a.State, a.Reason)
		}
	}
}

// TestApproval: a team that waits for staff is not on the board, keeps its place, and is told
// why it was refused.
func TestApproval(t *testing.T) {
	h := newHall(t, "teams = 1\napproval = true\nwaiting = false\n")
	ctx := t.Context()
	who, m := h.signUp("one")
	if m.State != asked || len(h.board()) != 0 {
		t.Errorf("the team is %q, the board has %q", m.State, h.board())
	}
	_, err := h.SignUp(ctx, h.person(), "cup", api.SignUp{Name: "two"})
	h.refused(err, "full")
	h.refused(h.Decide(ctx, organiser, "cup", api.Decision{Team: m.Team, Act: "restore", Reason: "x"}), "state")
	h.ok(h.Decide(ctx, organiser, "cup", api.Decision{Team: m.Team, Act: "refuse", Reason: "not of the company"}))
	c, err := h.Contest(ctx, who, "cup")
	h.ok(err)
	if c.Mine == nil || c.Mine.State != denied || c.Mine.Reason != "not of the company" {
		t.Errorf("the team sees %+v", c.Mine)
	}
	h.ok(h.Decide(ctx, organiser, "cup", api.Decision{Team: m.Team, Act: "admit"}))
	if got := h.board(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the board has %q", got)
	}
}

// TestLists: by code and by list; an address counts if it was proven.
func TestLists(t *testing.T) {
	h := newHall(t, "entry = \"code\"\n")
	_, err := h.SignUp(t.Context(), h.person(), "cup", api.SignUp{Name: "a"})
	h.refused(err, "code")
	_, err = h.SignUp(t.Context(), h.person(), "cup", api.SignUp{Name: "a", Code: "guess"})
	h.refused(err, "code")
	h = newHall(t, "entry = \"list\"\n")
	h.ok(h.List(t.Context(), organiser, "cup", []string{" Aoi@Example.com ", "", "b@example.com", "aoi@example.com"}))
	aoi, other := h.person(), h.person()
	h.ok(h.core.Write(t.Context(), "contact", func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT INTO contacts (account, mail, lang, created) VALUES (?, 'aoi@example.com', '', 0)", aoi.Account)
		return err
	}))
	_, err = h.SignUp(t.Context(), other, "cup", api.SignUp{Name: "a"})
	h.refused(err, "list")
	_, err = h.SignUp(t.Context(), aoi, "cup", api.SignUp{Name: "a"})
	h.ok(err)
}

// TestInvitation: a link joins until the team is full; a new link voids the one before; only
// its digest is kept.
func TestInvitation(t *testing.T) {
	h := newHall(t, "members = 2\n")
	ctx := t.Context()
	who, m := h.signUp("one")
	first, err := h.Invite(ctx, who, "cup")
	h.ok(err)
	second, err := h.Invite(ctx, who, "cup")
	h.ok(err)
	if len(first) < 50 || first == second {
		t.Errorf("the links are %q and %q", first, second)
	}
	bo := h.person()
	if _, err := h.Accept(ctx, bo, first, nil); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("a void link: %v", err)
	}
	kept := 0
	h.ok(h.core.Read(ctx, func(tx *store.Tx) error {
		return tx.Row("SELECT COUNT(*) FROM invitations WHERE digest = ?", []any{second}, &kept)
	}))
	if kept != 0 {
		t.Error("the token itself is kept")
	}
	i, err := h.Invitation(ctx, api.Who{}, second)
	if err != nil || i.Team.Name != "one" || i.Most != 2 {
		t.Errorf("the link leads to %+v, %v", i, err)
	}
	if _, err := h.Accept(ctx, api.Who{}, second, nil); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a spectator joins: %v", err)
	}
	joined, err := h.Accept(ctx, bo, second, nil)
	h.ok(err)
	if joined.Team != m.Team || joined.Leads || len(joined.People) != 2 || joined.Invited {
		t.Errorf("joined %+v", joined)
	}
	if _, err := h.Accept(ctx, h.person(), second, nil); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("a link of a full team: %v", err)
	}
	_, err = h.Invite(ctx, who, "cup")
	h.refused(err, "team-full")
	if _, err := h.Invite(ctx, h.now(bo), "cup"); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a member invites: %v", err)
	}
}

// TestTeam: leaving, removing, handing over, changing and withdrawing, each by whom it may.
func TestTeam(t *testing.T) {
	h := newHall(t, "teams = 1\n")
	ctx := t.Context()
	who, m := h.signUp("one")
	_, waits := h.signUp("two")
	token, err := h.Invite(ctx, who, "cup")
	h.ok(err)
	bo, cy := h.person(), h.person()
	for _, p := range []api.Who{bo, cy} {
		_, err := h.Accept(ctx, p, token, nil)
		h.ok(err)
	}
	bo, cy = h.now(bo), h.now(cy)
	if _, err := h.Edit(ctx, bo, "cup", api.Edit{Name: "mine"}); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a member renames: %v", err)
	}
	for _, err := range []error{h.Remove(ctx, bo, "cup", cy.Account), h.HandOver(ctx, bo, "cup", bo.Account), h.Withdraw(ctx, bo, "cup", "")} {
		if !errors.Is(err, api.ErrForbidden) {
			t.Errorf("a member does what the leader may: %v", err)
		}
	}
	_, err = h.Edit(ctx, who, "cup", api.Edit{Name: "TWO"})
	h.refused(err, "name")
	_, err = h.Edit(ctx, who, "cup", api.Edit{Division: "student"})
	h.refused(err, "division")
	_, err = h.Edit(ctx, who, "cup", api.Edit{Name: "uno", Division: "newcomer"})
	h.ok(err)
	h.refused(h.Leave(ctx, who, "cup"), "leader")
	h.ok(h.Remove(ctx, who, "cup", cy.Account))
	if cy = h.now(cy); cy.Team != "" || cy.Role != api.Spectator {
		t.Errorf("a removed member is %+v", cy)
	}
	h.ok(h.HandOver(ctx, who, "cup", bo.Account))
	who, bo = h.now(who), h.now(bo)
	if who.Role != api.Member || bo.Role != api.Leader {
		t.Errorf("after handing over: %s and %s", who.Role, bo.Role)
	}
	h.ok(h.Leave(ctx, who, "cup"))
	h.at = time.Date(2027, 1, 29, 0, 0, 0, 0, time.UTC) // nothing is changed any more, but a team may withdraw
	h.refused(h.Leave(ctx, bo, "cup"), "registration-closed")
	h.ok(h.Withdraw(ctx, bo, "cup", "no time"))
	applied, err := h.Applied(ctx, organiser, "cup")
	h.ok(err)
	for _, a := range applied {
		if a.Team == m.Team && a.State != withdrawn || a.Team == waits.Team && a.State != "" {
			t.Errorf("%s is %q", a.Name, a.State)
		}
	}
	h.refused(h.Withdraw(ctx, bo, "cup", ""), "team-gone")
}

// TestSeekers: people who look for a team see each other's names, not their accounts; a draw
// makes teams of them, and shows them before.
func TestSeekers(t *testing.T) {
	h := newHall(t, "members = 3\n")
	ctx := t.Context()
	var people []api.Who
	for i := range 7 {
		p := h.person()
		people = append(people, p)
		h.ok(h.Seek(ctx, p, "cup", 1+i%5, "hello"))
	}
	h.refused(h.Seek(ctx, people[0], "cup", 6, ""), "level")
	h.ok(h.Seek(ctx, people[0], "cup", 5, "changed"))
	c, err := h.Contest(ctx, people[1], "cup")
	h.ok(err)
	for _, s := range c.Seekers {
		if s.Own != (s.Account != "") {
			t.Errorf("a person sees the account of %s", s.Name)
		}
	}
	if c, err = h.Contest(ctx, api.Who{Role: api.Spectator}, "cup"); err != nil || c.Seekers != nil {
		t.Errorf("a spectator sees %v, %v", c.Seekers, err)
	}
	shown, err := h.Draw(ctx, organiser, "cup", 7, false)
	h.ok(err)
	if len(shown) != 3 || shown[0].Team != "" || len(h.board()) != 0 {
		t.Errorf("a preview: %+v", shown)
	}
	made, err := h.Draw(ctx, organiser, "cup", 7, true)
	h.ok(err)
	for i := range made {
		if len(made[i].Members) != len(shown[i].Members) || made[i].Members[0].Account != shown[i].Members[0].Account {
			t.Errorf("the draw differs from its preview: %+v", made[i])
		}
		if who := h.now(api.Who{Account: made[i].Members[0].Account}); who.Role != api.Leader {
			t.Errorf("the first of a team is %s", who.Role)
		}
	}
	if len(h.board()) != 3 {
		t.Errorf("the board has %q", h.board())
	}
	if again, err := h.Draw(ctx, organiser, "cup", 8, true); err != nil || len(again) != 0 {
		t.Errorf("a draw of no one: %v, %v", again, err)
	}
}
