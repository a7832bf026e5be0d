package main

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

// playerScoreRow is a row of player_score.
type playerScoreRow struct {
	TenantID      int64  `db:"tenant_id"`
	ID            string `db:"id"`
	PlayerID      string `db:"player_id"`
	CompetitionID string `db:"competition_id"`
	Score         int64  `db:"score"`
	RowNum        int64  `db:"row_num"`
	CreatedAt     int64  `db:"created_at"`
	UpdatedAt     int64  `db:"updated_at"`
}

// uploadScores replaces the scores of a competition by those of a CSV file.
func (a *app) uploadScores(c echo.Context) error {
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
	comp, err := retrieveCompetition(ctx, db, c.Param("competition_id"))
	if err != nil {
		return notFound(err, "competition")
	}
	if comp.FinishedAt.Valid {
		return c.JSON(http.StatusBadRequest, failure{Message: "competition is finished"})
	}
	header, err := c.FormFile("scores")
	if err != nil {
		return fmt.Errorf("reading the field scores: %w", err)
	}
	file, err := header.Open()
	if err != nil {
		return fmt.Errorf("opening the uploaded file: %w", err)
	}
	defer file.Close()
	table := csv.NewReader(file)
	columns, err := table.Read()
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	if !slices.Equal(columns, []string{"player_id", "score"}) {
		return refuse(http.StatusBadRequest, "invalid header")
	}

	// Without the lock, a reader would see a ranking with some rows only.
	lock, err := lockTenant(v.tenant.ID)
	if err != nil {
		return err
	}
	defer lock.Close()
	rows, err := a.readScores(ctx, db, table, comp)
	if err != nil {
		return err
	}
	if err := replaceScores(ctx, db, comp, rows); err != nil {
		return err
	}
	return answer(c, map[string]int64{"rows": int64(len(rows))})
}

// readScores reads the rows of a CSV file and checks them.
func (a *app) readScores(ctx context.Context, db *sqlx.DB, table *csv.Reader, comp *competitionRow) ([]playerScoreRow, error) {
	var rows []playerScoreRow
	for number := int64(1); ; number++ {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading row %d: %w", number, err)
		}
		playerID := row[0]
		if _, err := retrievePlayer(ctx, db, playerID); errors.Is(err, sql.ErrNoRows) {
			return nil, refuse(http.StatusBadRequest, "row %d has the unknown player %q", number, playerID)
		} else if err != nil {
			return nil, err
		}
		score, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "row %d has the score %q", number, row[1])
		}
		id, err := a.dispenseID(ctx)
		if err != nil {
			return nil, err
		}
		now := time.Now().Unix()
		rows = append(rows, playerScoreRow{comp.TenantID, id, playerID, comp.ID, score, number, now, now})
	}
}

// replaceScores stores the rows instead of the former ones.
func replaceScores(ctx context.Context, db *sqlx.DB, comp *competitionRow, rows []playerScoreRow) error {
	if _, err := db.ExecContext(ctx, "DELETE FROM player_score WHERE tenant_id = ? AND competition_id = ?", comp.TenantID, comp.ID); err != nil {
		return fmt.Errorf("deleting the former scores: %w", err)
	}
	for _, row := range rows {
		if _, err := db.NamedExecContext(ctx,
			"INSERT INTO player_score (id, tenant_id, player_id, competition_id, score, row_num, created_at, updated_at)"+
				" VALUES (:id, :tenant_id, :player_id, :competition_id, :score, :row_num, :created_at, :updated_at)", row); err != nil {
			return fmt.Errorf("storing score %d: %w", row.RowNum, err)
		}
	}
	return nil
}
