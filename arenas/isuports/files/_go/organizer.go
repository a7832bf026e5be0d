package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

// playerRow is a row of player.
type playerRow struct {
	TenantID       int64  `db:"tenant_id"`
	ID             string `db:"id"`
	DisplayName    string `db:"display_name"`
	IsDisqualified bool   `db:"is_disqualified"`
	CreatedAt      int64  `db:"created_at"`
	UpdatedAt      int64  `db:"updated_at"`
}

type playerView struct {
	ID             string `json:"id"`
	DisplayName    string `json:"display_name"`
	IsDisqualified bool   `json:"is_disqualified"`
}

func (p *playerRow) view() playerView { return playerView{p.ID, p.DisplayName, p.IsDisqualified} }

// competitionRow is a row of competition.
type competitionRow struct {
	TenantID   int64         `db:"tenant_id"`
	ID         string        `db:"id"`
	Title      string        `db:"title"`
	FinishedAt sql.NullInt64 `db:"finished_at"`
	CreatedAt  int64         `db:"created_at"`
	UpdatedAt  int64         `db:"updated_at"`
}

type competitionView struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	IsFinished bool   `json:"is_finished"`
}

func (c *competitionRow) view() competitionView {
	return competitionView{c.ID, c.Title, c.FinishedAt.Valid}
}

func retrievePlayer(ctx context.Context, db sqlx.ExtContext, id string) (*playerRow, error) {
	p := new(playerRow)
	if err := sqlx.GetContext(ctx, db, p, "SELECT * FROM player WHERE id = ?", id); err != nil {
		return nil, fmt.Errorf("reading player %s: %w", id, err)
	}
	return p, nil
}

func retrieveCompetition(ctx context.Context, db sqlx.ExtContext, id string) (*competitionRow, error) {
	c := new(competitionRow)
	if err := sqlx.GetContext(ctx, db, c, "SELECT * FROM competition WHERE id = ?", id); err != nil {
		return nil, fmt.Errorf("reading competition %s: %w", id, err)
	}
	return c, nil
}

// notFound turns an error of a row that is missing into a 404.
func notFound(err error, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return refuse(http.StatusNotFound, "%s not found", what)
	}
	return err
}

// organizerPlayers lists the players of the tenant, the newest first.
func (a *app) organizerPlayers(c echo.Context) error {
	v, err := a.organizer(c)
	if err != nil {
		return err
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer db.Close()
	var rows []playerRow
	if err := db.SelectContext(c.Request().Context(), &rows,
		"SELECT * FROM player WHERE tenant_id = ? ORDER BY created_at DESC", v.tenant.ID); err != nil {
		return fmt.Errorf("reading the players: %w", err)
	}
	players := make([]playerView, 0, len(rows))
	for _, p := range rows {
		players = append(players, p.view())
	}
	return answer(c, map[string]any{"players": players})
}

// addPlayers registers players.
func (a *app) addPlayers(c echo.Context) error {
	v, err := a.organizer(c)
	if err != nil {
		return err
	}
	form, err := c.FormParams()
	if err != nil {
		return fmt.Errorf("reading the form: %w", err)
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := c.Request().Context()
	names := form["display_name[]"]
	players := make([]playerView, 0, len(names))
	for _, name := range names {
		id, err := a.dispenseID(ctx)
		if err != nil {
			return err
		}
		now := time.Now().Unix()
		if _, err := db.ExecContext(ctx,
			"INSERT INTO player (id, tenant_id, display_name, is_disqualified, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
			id, v.tenant.ID, name, false, now, now); err != nil {
			return fmt.Errorf("storing player %s: %w", id, err)
		}
		p, err := retrievePlayer(ctx, db, id)
		if err != nil {
			return err
		}
		players = append(players, p.view())
	}
	return answer(c, map[string]any{"players": players})
}

// disqualifyPlayer excludes a player from the pages of players.
func (a *app) disqualifyPlayer(c echo.Context) error {
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
	id := c.Param("player_id")
	if _, err := db.ExecContext(ctx, "UPDATE player SET is_disqualified = ?, updated_at = ? WHERE id = ?",
		true, time.Now().Unix(), id); err != nil {
		return fmt.Errorf("disqualifying player %s: %w", id, err)
	}
	p, err := retrievePlayer(ctx, db, id)
	if err != nil {
		return notFound(err, "player")
	}
	return answer(c, map[string]any{"player": p.view()})
}

// addCompetition opens a competition.
func (a *app) addCompetition(c echo.Context) error {
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
	title := c.FormValue("title")
	now := time.Now().Unix()
	id, err := a.dispenseID(ctx)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx,
		"INSERT INTO competition (id, tenant_id, title, finished_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
		id, v.tenant.ID, title, sql.NullInt64{}, now, now); err != nil {
		return fmt.Errorf("storing competition %s: %w", id, err)
	}
	return answer(c, map[string]any{"competition": competitionView{id, title, false}})
}

// finishCompetition ends a competition: it takes no further scores, and is billed.
func (a *app) finishCompetition(c echo.Context) error {
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
	id := c.Param("competition_id")
	if _, err := retrieveCompetition(ctx, db, id); err != nil {
		return notFound(err, "competition")
	}
	now := time.Now().Unix()
	if _, err := db.ExecContext(ctx, "UPDATE competition SET finished_at = ?, updated_at = ? WHERE id = ?", now, now, id); err != nil {
		return fmt.Errorf("finishing competition %s: %w", id, err)
	}
	return answer(c, nil)
}

// organizerCompetitions lists the competitions of the tenant, the newest first.
func (a *app) organizerCompetitions(c echo.Context) error {
	v, err := a.organizer(c)
	if err != nil {
		return err
	}
	db, err := a.connectTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer db.Close()
	return answerCompetitions(c, db, v)
}

// answerCompetitions answers the list that organizers and players get.
func answerCompetitions(c echo.Context, db *sqlx.DB, v *viewer) error {
	var rows []competitionRow
	if err := db.SelectContext(c.Request().Context(), &rows,
		"SELECT * FROM competition WHERE tenant_id = ? ORDER BY created_at DESC", v.tenant.ID); err != nil {
		return fmt.Errorf("reading the competitions: %w", err)
	}
	competitions := make([]competitionView, 0, len(rows))
	for _, comp := range rows {
		competitions = append(competitions, comp.view())
	}
	return answer(c, map[string]any{"competitions": competitions})
}
