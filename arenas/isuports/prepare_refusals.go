package isuports

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkRefusals sends requests that must be refused. t is a tenant of the check.
func (ct *contest) checkRefusals(ctx context.Context, a admin, t *tenant) error {
	o, err := ct.organizer(t)
	if err != nil {
		return err
	}
	defer o.close()
	players, err := o.addPlayers(ctx, []string{"reader", "out"})
	if err != nil {
		return err
	}
	c, err := o.addCompetition(ctx, "refusals")
	if err != nil {
		return err
	}
	g, err := ct.guest(players[0])
	if err != nil {
		return err
	}
	defer g.close()
	for _, check := range []func() error{
		func() error { return ct.refusedTenants(ctx, a, t) },
		func() error { return o.allRefused(ctx, refusedToOrganizers(c.id)) },
		func() error { return g.allRefused(ctx, refusedToPlayers(c.id, g.player.id)) },
		func() error { return o.refusedUploads(ctx, c, g.player) },
		func() error { return ct.refusedSessions(ctx, o, g) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// refusedTenants checks names of tenants and the parameters of billing. All are of
// the admin.
func (ct *contest) refusedTenants(ctx context.Context, a admin, t *tenant) error {
	names := [][2]string{{t.name, "tenant-duplicate"}, {ct.data.Tenants[0].Name, "tenant-duplicate"}}
	for _, name := range []string{"Upper-case", "under_score", "-dash", "dash-", "1st", "", "x", strings.Repeat("long", 16)} {
		names = append(names, [2]string{name, "tenant-name"})
	}
	for _, n := range names {
		name, check := n[0], n[1]
		form := url.Values{"name": {name}, "display_name": {"refused"}}
		r := &scenario.Request{Step: stepTenantAdd, Method: http.MethodPost, Path: "/api/admin/tenants/add", ContentType: formType,
			Body: []byte(form.Encode())}
		if err := a.refused(ctx, r, check, http.StatusBadRequest); err != nil {
			return err
		}
	}
	return a.allRefused(ctx, []refusable{
		{stepAdminBilling, http.MethodGet, "/api/admin/tenants/billing?before=today", "before", http.StatusBadRequest},
		{stepPlayers, http.MethodGet, "/api/organizer/players", "role", http.StatusForbidden},
	})
}

// refusedToOrganizers lists what an organizer must not do. The admin's APIs do not
// exist on the hosts of tenants.
func refusedToOrganizers(competition string) []refusable {
	const get, post = http.MethodGet, http.MethodPost
	return []refusable{
		{stepTenantAdd, post, "/api/admin/tenants/add", "admin-host", http.StatusNotFound},
		{stepAdminBilling, get, "/api/admin/tenants/billing", "admin-host", http.StatusNotFound},
		{stepDisqualify, post, "/api/organizer/player/" + noID + "/disqualified", "player-unknown", http.StatusNotFound},
		{stepFinish, post, "/api/organizer/competition/" + noID + "/finish", "competition-unknown", http.StatusNotFound},
		{stepPlayerCompetitions, get, "/api/player/competitions", "role", http.StatusForbidden},
		{stepRanking, get, rankingPath(competition, 0), "role", http.StatusForbidden},
	}
}

// refusedToPlayers lists what a player must not do.
func refusedToPlayers(competition, player string) []refusable {
	const get, post = http.MethodGet, http.MethodPost
	return []refusable{
		{stepPlayer, get, "/api/player/player/" + noID, "player-unknown", http.StatusNotFound},
		{stepRanking, get, rankingPath(noID, 0), "competition-unknown", http.StatusNotFound},
		{stepPlayers, get, "/api/organizer/players", "role", http.StatusForbidden},
		{stepBilling, get, "/api/organizer/billing", "role", http.StatusForbidden},
		{stepPlayersAdd, post, "/api/organizer/players/add", "role", http.StatusForbidden},
		{stepCompetitionAdd, post, "/api/organizer/competitions/add", "role", http.StatusForbidden},
		{stepFinish, post, "/api/organizer/competition/" + competition + "/finish", "role", http.StatusForbidden},
		{stepDisqualify, post, "/api/organizer/player/" + player + "/disqualified", "role", http.StatusForbidden},
	}
}

// refusedUploads checks the rules of CSVs. A refused file must leave the scores as
// they were.
func (o organizer) refusedUploads(ctx context.Context, c *competition, p *player) error {
	if err := o.upload(ctx, c, []row{{p, 5}}); err != nil {
		return err
	}
	const header = "player_id,score\n"
	good := p.id + ",1\n"
	for _, f := range []struct {
		competition, csv, check string
		status                  int
	}{
		{noID, header + good, "competition-unknown", http.StatusNotFound},
		{c.id, header + good + noID + ",1\n", "csv-player", http.StatusBadRequest},
		{c.id, "score,player_id\n1," + p.id + "\n", "csv-header", http.StatusBadRequest},
		{c.id, "player_id,score,extra\n" + p.id + ",1,1\n", "csv-header", http.StatusBadRequest},
		{c.id, header + good + p.id + ",many\n", "csv-score", http.StatusBadRequest},
	} {
		if err := o.uploadRefused(ctx, f.competition, f.csv, f.check, f.status); err != nil {
			return err
		}
	}
	if err := o.finish(ctx, c); err != nil {
		return err
	}
	if err := o.uploadRefused(ctx, c.id, header+good, "csv-finished", http.StatusBadRequest); err != nil {
		return err
	}
	return o.ct.glance(ctx, p, c)
}

// strangeKey makes the key of another site, once per process.
var strangeKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// refusedSessions checks sessions that are not valid, and their order with other
// refusals: a session of another tenant is 401 even where its role would be 403.
func (ct *contest) refusedSessions(ctx context.Context, o organizer, g guest) error {
	strange, err := strangeKey()
	if err != nil {
		return fmt.Errorf("making a key of another site: %w", err)
	}
	now := time.Now()
	organizes := claimsOf(roleOrganizer, roleOrganizer, o.tenant.name, now)
	bad, err := badTokens(ct.key, strange, organizes, now)
	if err != nil {
		return err
	}
	for _, b := range bad {
		if err := ct.refusedSession(ctx, o.tenant.name, b); err != nil {
			return err
		}
	}
	for _, other := range []struct {
		host, check string
		claims      claims
	}{
		{"no-such-tenant", "tenant-unknown", claimsOf(roleOrganizer, roleOrganizer, "no-such-tenant", now)},
		{ct.data.Tenants[0].Name, "token-tenant", organizes},
		{o.tenant.name, "token-tenant", claimsOf(roleAdmin, roleAdmin, adminTenant, now)},
	} {
		token, err := other.claims.signed(ct.key)
		if err != nil {
			return err
		}
		if err := ct.refusedSession(ctx, other.host, badToken{other.check, token}); err != nil {
			return err
		}
	}
	return ct.refusedGuest(ctx, g.player.tenant)
}

// refusedSession reads as an organizer with a session that is not valid.
func (ct *contest) refusedSession(ctx context.Context, host string, b badToken) error {
	account := ct.browser(host, b.token, 0)
	defer account.close()
	return account.refused(ctx, &scenario.Request{Step: stepPlayers, Path: "/api/organizer/players"}, b.check, http.StatusUnauthorized)
}

// refusedGuest reads as a player that the tenant does not have.
func (ct *contest) refusedGuest(ctx context.Context, t *tenant) error {
	g, err := ct.guest(&player{tenant: t, id: noID})
	if err != nil {
		return err
	}
	defer g.close()
	return g.refused(ctx, &scenario.Request{Step: stepPlayerCompetitions, Path: "/api/player/competitions"}, "player-gone", http.StatusUnauthorized)
}
