package isuports

import (
	"context"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	apiPlayers = 100
	apiScored  = apiPlayers - 1 // the last player only visits
	apiOut     = 97             // index of the player who is disqualified
	apiReaders = 4

	// apart separates the times of two rows that are listed by their seconds.
	apart = 1100 * time.Millisecond
)

// An apiCheck is the check of all APIs on a tenant of its own, whose content is
// known exactly.
type apiCheck struct {
	organizer
	players []*player
	guests  []guest // of the first players
	visitor guest
	out     guest // disqualified
	first   *competition
	second  *competition
	scores  []row // of the first competition
	outAt   time.Time
	ended   time.Time // when the first competition was finished
}

// checkAPIs calls all APIs and checks their answers exactly.
func (ct *contest) checkAPIs(ctx context.Context, t *tenant) error {
	o, err := ct.organizer(t)
	if err != nil {
		return err
	}
	k := &apiCheck{organizer: o}
	defer k.close()
	for _, step := range []func(ctx context.Context) error{k.identities, k.register, k.firstUpload, k.secondUpload, k.readScores,
		k.end, k.addLater, k.lists, k.afterDelay} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (k *apiCheck) close() {
	k.organizer.close()
	for _, g := range append(k.guests, k.visitor, k.out) {
		if g.account != nil {
			g.close()
		}
	}
}

// identities checks GET /api/me for the organizer and for accounts without a
// session.
func (k *apiCheck) identities(ctx context.Context) error {
	want := identity{tenant: k.tenant.name, display: k.tenant.display, role: roleOrganizer, loggedIn: true}
	if err := k.me(ctx, want); err != nil {
		return err
	}
	stranger := k.ct.browser(k.tenant.name, "", 0)
	defer stranger.close()
	want.role, want.loggedIn = "none", false
	return stranger.me(ctx, want)
}

// register adds players and a competition, and disqualifies one player.
func (k *apiCheck) register(ctx context.Context) (err error) {
	rng := k.ct.s.Rand("check of all APIs")
	names := make([]string, apiPlayers)
	for i := range names {
		names[i] = personName(rng)
	}
	if k.players, err = k.addPlayers(ctx, names); err != nil {
		return err
	}
	listed, err := k.organizer.players(ctx)
	if err != nil {
		return err
	}
	if len(listed) != apiPlayers {
		return k.wrong(stepPlayers, "players-list", "%d players in the list, want %d", len(listed), apiPlayers)
	}
	if k.first, err = k.addCompetition(ctx, competitionTitle(rng)); err != nil {
		return err
	}
	if err := k.disqualify(ctx, k.players[apiOut]); err != nil {
		return err
	}
	k.outAt = time.Now()
	return k.logIn()
}

// logIn opens the browsers of the players who read.
func (k *apiCheck) logIn() (err error) {
	k.guests = make([]guest, apiReaders)
	for i := range k.guests {
		if k.guests[i], err = k.ct.guest(k.players[i]); err != nil {
			return err
		}
	}
	if k.visitor, err = k.ct.guest(k.players[apiScored]); err != nil {
		return err
	}
	k.out, err = k.ct.guest(k.players[apiOut])
	return err
}

// wrong returns a failed check of several answers.
func (k *apiCheck) wrong(step scenario.Step, check, format string, args ...any) error {
	f := scenario.Wrong(nil, check, format, args...)
	f.Step = step
	return f
}

func (k *apiCheck) firstUpload(ctx context.Context) error {
	for i, p := range k.players[:apiScored] {
		k.scores = append(k.scores, row{p, int64(100 + i)})
	}
	return k.upload(ctx, k.first, k.scores)
}

// secondUpload uploads the same scores again while players read the ranking.
func (k *apiCheck) secondUpload(ctx context.Context) error {
	uploaded := make(chan struct{})
	return parallel.Do(ctx, 1+apiReaders, func(ctx context.Context, i int) error {
		if i == apiReaders {
			defer close(uploaded)
			return k.upload(ctx, k.first, k.scores)
		}
		for last := false; ; {
			if _, err := k.guests[i].ranking(ctx, k.first, 0); err != nil || last {
				return err
			}
			select {
			case <-uploaded:
				last = true
			default:
			}
		}
	})
}

// readScores reads what a player with a score and one without a score see.
func (k *apiCheck) readScores(ctx context.Context) error {
	want := identity{tenant: k.tenant.name, display: k.tenant.display, role: rolePlayer, loggedIn: true,
		me: shownPlayer{id: k.players[0].id, name: k.players[0].name}}
	if err := k.guests[0].me(ctx, want); err != nil {
		return err
	}
	if err := k.wantScores(ctx, 0, titledScore{k.first.title, k.scores[0].score}); err != nil {
		return err
	}
	if err := k.wantScores(ctx, apiScored); err != nil {
		return err
	}
	_, err := k.visitor.ranking(ctx, k.first, 0)
	return err
}

// wantScores checks the scores on a player's page.
func (k *apiCheck) wantScores(ctx context.Context, i int, want ...titledScore) error {
	d, err := k.guests[0].detail(ctx, k.players[i].id)
	if err == nil && !slices.Equal(d.scores, want) {
		return k.wrong(stepPlayer, "player-scores", "scores of player %s: %+v, want %+v", d.id, d.scores, want)
	}
	return err
}

// end finishes the first competition, which must be seen at once.
func (k *apiCheck) end(ctx context.Context) error {
	if err := k.finish(ctx, k.first); err != nil {
		return err
	}
	k.ended = time.Now()
	_, err := k.guests[0].ranking(ctx, k.first, 0)
	return err
}

// addLater adds a player and a competition in a later second than the first ones,
// and than the end of the first competition. The player's visit is not billed.
func (k *apiCheck) addLater(ctx context.Context) (err error) {
	if !scenario.Sleep(ctx, apart-time.Since(k.ended)) {
		return ctx.Err()
	}
	late, err := k.addPlayers(ctx, []string{""})
	if err != nil {
		return err
	}
	k.players = append(k.players, late...)
	if err := k.ct.glance(ctx, late[0], k.first); err != nil {
		return err
	}
	if k.second, err = k.addCompetition(ctx, competitionTitle(k.ct.s.Rand("second competition"))); err != nil {
		return err
	}
	return k.upload(ctx, k.second, []row{{k.players[0], 7}})
}

// lists checks the orders of all lists.
func (k *apiCheck) lists(ctx context.Context) error {
	listed, err := k.organizer.players(ctx)
	if err != nil {
		return err
	}
	if len(listed) != len(k.players) || listed[0].player != k.players[apiPlayers] {
		return k.wrong(stepPlayers, "players-order", "%d players, the first is %s, want %d, the first is %s, added last", len(listed),
			listed[0].id, len(k.players), k.players[apiPlayers].id)
	}
	byOrganizer, err := k.organizer.competitions(ctx)
	if err != nil {
		return err
	}
	byPlayer, err := k.guests[0].competitions(ctx)
	if err != nil {
		return err
	}
	for step, list := range map[scenario.Step][]shownCompetition{stepCompetitions: byOrganizer, stepPlayerCompetitions: byPlayer} {
		if len(list) != 2 || list[0].id != k.second.id {
			return k.wrong(step, "competitions-order", "competitions %+v, want 2, the first is %s, added last", list, k.second.id)
		}
	}
	return k.wantScores(ctx, 0, titledScore{k.first.title, k.scores[0].score}, titledScore{k.second.title, 7})
}

// afterDelay checks what may follow with a delay: billing and disqualification.
func (k *apiCheck) afterDelay(ctx context.Context) error {
	if !scenario.Sleep(ctx, k.ct.span(allowedDelay)-time.Since(k.ended)) {
		return ctx.Err()
	}
	if _, err := k.visitor.ranking(ctx, k.first, 0); err != nil { // the first visit counts, before the end
		return err
	}
	want := map[string]report{k.first.id: reportOf(k.first, apiScored, 1), k.second.id: reportOf(k.second, 0, 0)}
	reports, err := k.billing(ctx, want)
	if err != nil {
		return err
	}
	if len(reports) != 2 || reports[0].competition != k.second.id {
		return k.wrong(stepBilling, "billing-order", "%d reports, want 2, the first one that of the newest competition", len(reports))
	}
	if !scenario.Sleep(ctx, k.ct.span(allowedDelay)-time.Since(k.outAt)) {
		return ctx.Err()
	}
	if err := k.guests[0].checkShownDisqualified(ctx, k.out.player.id); err != nil {
		return err
	}
	return k.out.checkDisqualified(ctx, k.second.id, k.players[0].id)
}
