package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

// rankingPage is the number of ranks in an answer.
const rankingPage = 100

type playerScoreView struct {
	CompetitionTitle string `json:"competition_title"`
	Score            int64  `json:"score"`
}

// playerDetail answers a player with the score in each competition.
func (a *app) playerDetail(c echo.Context) error {
	v, err := a.player(c)
	if err != nil {
		return err
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := c.Request().Context()
	if err := authorizePlayer(ctx, db, v.playerID); err != nil {
		return err
	}
	p, err := retrievePlayer(ctx, db, c.Param("player_id"))
	if err != nil {
		return notFound(err, "player")
	}
	var competitions []competitionRow
	if err := db.SelectContext(ctx, &competitions, "SELECT * FROM competition WHERE tenant_id = ? ORDER BY created_at ASC", v.tenant.ID); err != nil {
		return fmt.Errorf("reading the competitions: %w", err)
	}

	lock, err := lockTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer lock.Close()
	var rows []playerScoreRow
	for _, comp := range competitions {
		var row playerScoreRow
		// The last row of a file counts.
		err := db.GetContext(ctx, &row,
			"SELECT * FROM player_score WHERE tenant_id = ? AND competition_id = ? AND player_id = ? ORDER BY row_num DESC LIMIT 1",
			v.tenant.ID, comp.ID, p.ID)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the score of player %s in competition %s: %w", p.ID, comp.ID, err)
		}
		rows = append(rows, row)
	}
	scores := make([]playerScoreView, 0, len(rows))
	for _, row := range rows {
		comp, err := retrieveCompetition(ctx, db, row.CompetitionID)
		if err != nil {
			return err
		}
		scores = append(scores, playerScoreView{comp.Title, row.Score})
	}
	return answer(c, map[string]any{"player": p.view(), "scores": scores})
}

type rankView struct {
	Rank        int64  `json:"rank"`
	Score       int64  `json:"score"`
	PlayerID    string `json:"player_id"`
	DisplayName string `json:"player_display_name"`
	rowNum      int64
}

// ranking answers a part of a competition's ranking, and stores the visit.
func (a *app) ranking(c echo.Context) error {
	v, err := a.player(c)
	if err != nil {
		return err
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := c.Request().Context()
	if err := authorizePlayer(ctx, db, v.playerID); err != nil {
		return err
	}
	comp, err := retrieveCompetition(ctx, db, c.Param("competition_id"))
	if err != nil {
		return notFound(err, "competition")
	}
	if err := a.storeVisit(ctx, v, comp); err != nil {
		return err
	}
	var after int64
	if text := c.QueryParam("rank_after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			return fmt.Errorf("rank_after is %q: %w", text, err)
		}
	}

	// Without the lock, an upload could show a part of its rows.
	lock, err := lockTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer lock.Close()
	ranks, err := readRanks(ctx, db, comp)
	if err != nil {
		return err
	}
	page := make([]rankView, 0, rankingPage)
	for i, rank := range ranks {
		if int64(i) < after {
			continue
		}
		rank.Rank = int64(i + 1)
		page = append(page, rank)
		if len(page) >= rankingPage {
			break
		}
	}
	return answer(c, map[string]any{"competition": comp.view(), "ranks": page})
}

// storeVisit stores that a player saw a ranking.
func (a *app) storeVisit(ctx context.Context, v *viewer, comp *competitionRow) error {
	now := time.Now().Unix()
	var tenant tenantRow
	if err := a.admin.GetContext(ctx, &tenant, "SELECT * FROM tenant WHERE id = ?", v.tenant.ID); err != nil {
		return fmt.Errorf("reading tenant %d: %w", v.tenant.ID, err)
	}
	if _, err := a.admin.ExecContext(ctx,
		"INSERT INTO visit_history (player_id, tenant_id, competition_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
		v.playerID, tenant.ID, comp.ID, now, now); err != nil {
		return fmt.Errorf("storing the visit of %s to %s: %w", v.playerID, comp.ID, err)
	}
	return nil
}

// readRanks returns the whole ranking in its order, without the numbers.
func readRanks(ctx context.Context, db *sqlx.DB, comp *competitionRow) ([]rankView, error) {
	var rows []playerScoreRow
	if err := db.SelectContext(ctx, &rows, "SELECT * FROM player_score WHERE tenant_id = ? AND competition_id = ? ORDER BY row_num DESC",
		comp.TenantID, comp.ID); err != nil {
		return nil, fmt.Errorf("reading the scores of competition %s: %w", comp.ID, err)
	}
	ranks := make([]rankView, 0, len(rows))
	seen := make(map[string]bool, len(rows))
	for _, row := range rows {
		// The rows come in reverse, and the last row of a player counts.
		if seen[row.PlayerID] {
			continue
		}
		seen[row.PlayerID] = true
		p, err := retrievePlayer(ctx, db, row.PlayerID)
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, rankView{Score: row.Score, PlayerID: p.ID, DisplayName: p.DisplayName, rowNum: row.RowNum})
	}
	sort.Slice(ranks, func(i, j int) bool {
		if ranks[i].Score == ranks[j].Score {
			return ranks[i].rowNum < ranks[j].rowNum
		}
		return ranks[i].Score > ranks[j].Score
	})
	return ranks, nil
}

// playerCompetitions lists the competitions of the player's tenant, the newest first.
func (a *app) playerCompetitions(c echo.Context) error {
	v, err := a.player(c)
	if err != nil {
		return err
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := authorizePlayer(c.Request().Context(), db, v.playerID); err != nil {
		return err
	}
	return answerCompetitions(c, db, v)
}

type tenantView struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
}

type meView struct {
	Tenant   tenantView  `json:"tenant"`
	Me       *playerView `json:"me"`
	Role     string      `json:"role"`
	LoggedIn bool        `json:"logged_in"`
}

// me answers who sent the request. Without a valid session this is nobody.
func (a *app) me(c echo.Context) error {
	tenant, err := a.tenantOf(c)
	if err != nil {
		return err
	}
	shown := tenantView{tenant.Name, tenant.DisplayName}
	v, err := a.parseViewer(c)
	var refused *echo.HTTPError
	if errors.As(err, &refused) && refused.Code == http.StatusUnauthorized {
		return answer(c, meView{shown, nil, roleNone, false})
	}
	if err != nil {
		return err
	}
	if v.role == roleAdmin || v.role == roleOrganizer {
		return answer(c, meView{shown, nil, v.role, true})
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	p, err := retrievePlayer(c.Request().Context(), db, v.playerID)
	if errors.Is(err, sql.ErrNoRows) {
		return answer(c, meView{shown, nil, roleNone, false})
	}
	if err != nil {
		return err
	}
	player := p.view()
	return answer(c, meView{shown, &player, v.role, true})
}
