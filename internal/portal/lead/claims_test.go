package lead

import (
	"errors"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// TestClaims: of two members of staff one answers a question. A claim ends by itself, and no team
// sees whose it is.
func TestClaims(t *testing.T) {
	h := newHall(t, 1)
	account := func(name string) api.Who {
		t.Helper()
		id, err := h.AddAccount(t.Context(), name, api.Support, "")
		h.check(err)
		return api.Who{Account: id, Name: name, Role: api.Support}
	}
	aoi, ren, team := account("aoi"), account("ren"), api.Who{Account: "m", Role: api.Member, Team: h.teams[0]}
	q, err := h.Say(t.Context(), team, api.Say{Round: "hall_day", Kind: "question", Text: "may we?"})
	h.check(err)
	claim := func(who api.Who) error { return h.ClaimQuestion(t.Context(), who, "hall_day", q.ID) }
	answer := func(who api.Who) error {
		_, err := h.Say(t.Context(), who, api.Say{Round: "hall_day", Kind: "answer", To: q.ID, Text: "yes"})
		return err
	}
	claimer := func() string {
		t.Helper()
		all, err := h.Messages(t.Context(), "hall_day")
		h.check(err)
		for _, m := range all {
			if shown, ok := m.For(team, h.Now()); ok && shown.Claim != "" {
				t.Errorf("the team sees %q", shown.Claim)
			}
			if m.ID == q.ID {
				return m.Claim
			}
		}
		return "none"
	}
	if got := claimer(); got != "" {
		t.Errorf("a new question is of %q", got)
	}
	h.check(claim(aoi))
	h.check(claim(aoi))
	if got := claimer(); got != "aoi" {
		t.Errorf("the question is of %q", got)
	}
	refusal := (*api.RefusedError)(nil)
	if err := claim(ren); !errors.As(err, &refusal) || refusal.Code != "claimed" {
		t.Errorf("a second claim: %v", err)
	}
	if err := answer(ren); !errors.As(err, &refusal) || refusal.Code != "claimed" {
		t.Errorf("an answer of another one: %v", err)
	}
	if err := h.ClaimQuestion(t.Context(), aoi, "hall_day", "none"); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("a claim of nothing: %v", err)
	}
	h.at = h.at.Add(claimLasts + time.Second)
	if got := claimer(); got != "" {
		t.Errorf("an old claim is of %q", got)
	}
	h.check(claim(ren))
	if err := answer(aoi); err == nil {
		t.Error("the first one answers after the second one claimed it")
	}
	h.check(answer(ren))
}
