package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	// conditionLimit is the number of conditions on one page of the history.
	conditionLimit = 20
	// dropProbability is the share of reports that are discarded unread:
	// the database could not store all of them in time.
	dropProbability = 0.9

	levelInfo     = "info"
	levelWarning  = "warning"
	levelCritical = "critical"
)

// conditionRow is a row of isu_condition.
type conditionRow struct {
	ID         int       `db:"id"`
	JIAIsuUUID string    `db:"jia_isu_uuid"`
	Timestamp  time.Time `db:"timestamp"`
	IsSitting  bool      `db:"is_sitting"`
	Condition  string    `db:"condition"`
	Message    string    `db:"message"`
	CreatedAt  time.Time `db:"created_at"`
}

type conditionResponse struct {
	JIAIsuUUID     string `json:"jia_isu_uuid"`
	IsuName        string `json:"isu_name"`
	Timestamp      int64  `json:"timestamp"`
	IsSitting      bool   `json:"is_sitting"`
	Condition      string `json:"condition"`
	ConditionLevel string `json:"condition_level"`
	Message        string `json:"message"`
}

func (r *conditionRow) response(name, level string) *conditionResponse {
	return &conditionResponse{
		JIAIsuUUID:     r.JIAIsuUUID,
		IsuName:        name,
		Timestamp:      r.Timestamp.Unix(),
		IsSitting:      r.IsSitting,
		Condition:      r.Condition,
		ConditionLevel: level,
		Message:        r.Message,
	}
}

// conditionLevel is the level of a condition, by the number of its bad states.
func conditionLevel(condition string) (string, error) {
	switch strings.Count(condition, "=true") {
	case 0:
		return levelInfo, nil
	case 1, 2:
		return levelWarning, nil
	case 3:
		return levelCritical, nil
	default:
		return "", fmt.Errorf("condition %q has too many bad states", condition)
	}
}

// isConditionFormat reports whether a condition has the form "is_dirty=B,is_overweight=B,is_broken=B".
func isConditionFormat(condition string) bool {
	keys := []string{"is_dirty=", "is_overweight=", "is_broken="}
	parts := strings.Split(condition, ",")
	if len(parts) != len(keys) {
		return false
	}
	for i, part := range parts {
		value, ok := strings.CutPrefix(part, keys[i])
		if !ok || value != "true" && value != "false" {
			return false
		}
	}
	return true
}

// postIsuCondition takes the reports of an ISU.
func (a *app) postIsuCondition(c echo.Context) error {
	if rand.Float64() < dropProbability {
		return c.NoContent(http.StatusAccepted)
	}

	uuid := c.Param("jia_isu_uuid")
	var reports []struct {
		IsSitting bool   `json:"is_sitting"`
		Condition string `json:"condition"`
		Message   string `json:"message"`
		Timestamp int64  `json:"timestamp"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&reports); err != nil || len(reports) == 0 {
		return c.String(http.StatusBadRequest, "bad request body")
	}
	for _, r := range reports {
		if !isConditionFormat(r.Condition) {
			return c.String(http.StatusBadRequest, "bad request body")
		}
	}

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var count int
	if err := tx.Get(&count, "SELECT COUNT(*) FROM `isu` WHERE `jia_isu_uuid` = ?", uuid); err != nil {
		return serverError(c, "looking up the ISU", err)
	}
	if count == 0 {
		return c.String(http.StatusNotFound, "not found: isu")
	}
	for _, r := range reports {
		_, err := tx.Exec(
			"INSERT INTO `isu_condition` (`jia_isu_uuid`, `timestamp`, `is_sitting`, `condition`, `message`) VALUES (?, ?, ?, ?, ?)",
			uuid, time.Unix(r.Timestamp, 0), r.IsSitting, r.Condition, r.Message)
		if err != nil {
			return serverError(c, "storing a condition", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.NoContent(http.StatusAccepted)
}

// getIsuConditions answers a page of an ISU's history, the newest first:
// start_time <= timestamp < end_time.
func (a *app) getIsuConditions(c echo.Context) error {
	user, err := a.userID(c)
	if err != nil {
		return refuse(c, err)
	}
	end, err := strconv.ParseInt(c.QueryParam("end_time"), 10, 64)
	if err != nil {
		return c.String(http.StatusBadRequest, "bad format: end_time")
	}
	levels := c.QueryParam("condition_level")
	if levels == "" {
		return c.String(http.StatusBadRequest, "missing: condition_level")
	}
	wanted := map[string]bool{}
	for _, level := range strings.Split(levels, ",") {
		wanted[level] = true
	}
	var start time.Time
	if text := c.QueryParam("start_time"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return c.String(http.StatusBadRequest, "bad format: start_time")
		}
		start = storable(seconds)
	}

	uuid := c.Param("jia_isu_uuid")
	var name string
	err = a.db.Get(&name, "SELECT `name` FROM `isu` WHERE `jia_isu_uuid` = ? AND `jia_user_id` = ?", uuid, user)
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "not found: isu")
	} else if err != nil {
		return serverError(c, "reading the ISU", err)
	}

	page, err := a.conditions(uuid, name, wanted, start, storable(end))
	if err != nil {
		return serverError(c, "reading the history", err)
	}
	return c.JSON(http.StatusOK, page)
}

// conditions reads the history before end, keeps the wanted levels and cuts a page off.
func (a *app) conditions(uuid, name string, wanted map[string]bool, start, end time.Time) ([]*conditionResponse, error) {
	var rows []conditionRow
	var err error
	if start.IsZero() {
		err = a.db.Select(&rows,
			"SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? AND `timestamp` < ? ORDER BY `timestamp` DESC", uuid, end)
	} else {
		err = a.db.Select(&rows,
			"SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? AND `timestamp` < ? AND ? <= `timestamp` ORDER BY `timestamp` DESC", uuid, end, start)
	}
	if err != nil {
		return nil, err
	}

	page := []*conditionResponse{}
	for _, row := range rows {
		level, err := conditionLevel(row.Condition)
		if err != nil {
			continue
		}
		if wanted[level] {
			page = append(page, row.response(name, level))
		}
	}
	if len(page) > conditionLimit {
		page = page[:conditionLimit]
	}
	return page, nil
}

// storable is the time of Unix seconds, moved into the years that a DATETIME can store.
func storable(seconds int64) time.Time {
	first := time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
	return time.Unix(min(max(seconds, first), last), 0)
}
