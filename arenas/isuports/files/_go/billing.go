package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

const (
	playerYen  = 100
	visitorYen = 10
)

type billingReportView struct {
	CompetitionID     string `json:"competition_id"`
	CompetitionTitle  string `json:"competition_title"`
	PlayerCount       int64  `json:"player_count"`  // players with a score
	VisitorCount      int64  `json:"visitor_count"` // other players who saw the ranking before the end
	BillingPlayerYen  int64  `json:"billing_player_yen"`
	BillingVisitorYen int64  `json:"billing_visitor_yen"`
	BillingYen        int64  `json:"billing_yen"`
}

// visitRow is the first visit of a player.
type visitRow struct {
	PlayerID string `db:"player_id"`
	First    int64  `db:"min_created_at"`
}

// billingReport computes what a tenant owes for a competition. db is the tenant's.
func (a *app) billingReport(ctx context.Context, db *sqlx.DB, tenantID int64, competitionID string) (*billingReportView, error) {
	comp, err := retrieveCompetition(ctx, db, competitionID)
	if err != nil {
		return nil, err
	}
	var visits []visitRow
	if err := a.admin.SelectContext(ctx, &visits,
		"SELECT player_id, MIN(created_at) AS min_created_at FROM visit_history WHERE tenant_id = ? AND competition_id = ? GROUP BY player_id",
		tenantID, comp.ID); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the visits of competition %s: %w", comp.ID, err)
	}
	billed := map[string]string{}
	for _, visit := range visits {
		if comp.FinishedAt.Valid && comp.FinishedAt.Int64 < visit.First {
			continue // the competition was over
		}
		billed[visit.PlayerID] = "visitor"
	}

	lock, err := lockTenant(tenantID)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	var scored []string
	if err := db.SelectContext(ctx, &scored, "SELECT DISTINCT(player_id) FROM player_score WHERE tenant_id = ? AND competition_id = ?",
		tenantID, comp.ID); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the players of competition %s: %w", comp.ID, err)
	}
	for _, id := range scored {
		billed[id] = "player"
	}

	var players, visitors int64
	if comp.FinishedAt.Valid { // an open competition is not billed
		for _, kind := range billed {
			switch kind {
			case "player":
				players++
			case "visitor":
				visitors++
			}
		}
	}
	return &billingReportView{comp.ID, comp.Title, players, visitors, playerYen * players, visitorYen * visitors,
		playerYen*players + visitorYen*visitors}, nil
}

// organizerBilling reports each competition of the tenant, the newest first.
func (a *app) organizerBilling(c echo.Context) error {
	v, err := a.organizer(c)
	if err != nil {
		return err
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := c.Request().Context()
	var competitions []competitionRow
	if err := db.SelectContext(ctx, &competitions, "SELECT * FROM competition WHERE tenant_id = ? ORDER BY created_at DESC", v.tenant.ID); err != nil {
		return fmt.Errorf("reading the competitions: %w", err)
	}
	reports := make([]billingReportView, 0, len(competitions))
	for _, comp := range competitions {
		report, err := a.billingReport(ctx, db, v.tenant.ID, comp.ID)
		if err != nil {
			return err
		}
		reports = append(reports, *report)
	}
	return answer(c, map[string]any{"reports": reports})
}
