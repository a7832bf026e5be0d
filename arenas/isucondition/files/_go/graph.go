package main

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

// Points that a condition adds to the score of its hour, by level.
const (
	scoreInfo     = 3
	scoreWarning  = 2
	scoreCritical = 1
)

type graphItem struct {
	StartAt             int64       `json:"start_at"`
	EndAt               int64       `json:"end_at"`
	Data                *graphPoint `json:"data"`
	ConditionTimestamps []int64     `json:"condition_timestamps"`
}

type graphPoint struct {
	Score      int             `json:"score"`
	Percentage graphPercentage `json:"percentage"`
}

type graphPercentage struct {
	Sitting      int `json:"sitting"`
	IsBroken     int `json:"is_broken"`
	IsDirty      int `json:"is_dirty"`
	IsOverweight int `json:"is_overweight"`
}

// graphHour is one hour of an ISU's history that has conditions.
type graphHour struct {
	start      time.Time
	point      graphPoint
	timestamps []int64
}

// getIsuGraph answers the 24 hours that begin with the hour of datetime.
func (a *app) getIsuGraph(c echo.Context) error {
	user, err := a.userID(c)
	if err != nil {
		return refuse(c, err)
	}
	text := c.QueryParam("datetime")
	if text == "" {
		return c.String(http.StatusBadRequest, "missing: datetime")
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return c.String(http.StatusBadRequest, "bad format: datetime")
	}
	day := time.Unix(seconds, 0).Truncate(time.Hour)

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	uuid := c.Param("jia_isu_uuid")
	var count int
	if err := tx.Get(&count, "SELECT COUNT(*) FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?", user, uuid); err != nil {
		return serverError(c, "looking up the ISU", err)
	}
	if count == 0 {
		return c.String(http.StatusNotFound, "not found: isu")
	}
	graph, err := graphOfDay(tx, uuid, day)
	if err != nil {
		return serverError(c, "computing the graph", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.JSON(http.StatusOK, graph)
}

// graphOfDay groups the whole history into hours and takes 24 of them.
func graphOfDay(tx *sqlx.Tx, uuid string, day time.Time) ([]graphItem, error) {
	hours, err := graphHours(tx, uuid)
	if err != nil {
		return nil, err
	}

	var graph []graphItem
	for start := day; start.Before(day.Add(24 * time.Hour)); start = start.Add(time.Hour) {
		item := graphItem{StartAt: start.Unix(), EndAt: start.Add(time.Hour).Unix(), ConditionTimestamps: []int64{}}
		for i := range hours {
			if hours[i].start.Equal(start) {
				item.Data = &hours[i].point
				item.ConditionTimestamps = hours[i].timestamps
			}
		}
		graph = append(graph, item)
	}
	return graph, nil
}

// graphHours computes every hour of an ISU's history.
func graphHours(tx *sqlx.Tx, uuid string) ([]graphHour, error) {
	rows, err := tx.Queryx("SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? ORDER BY `timestamp` ASC", uuid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	var hours []graphHour
	var inHour []conditionRow
	flush := func() error {
		if len(inHour) == 0 {
			return nil
		}
		hour, err := newGraphHour(inHour)
		hours = append(hours, hour)
		inHour = nil
		return err
	}
	for rows.Next() {
		var row conditionRow
		if err := rows.StructScan(&row); err != nil {
			return nil, err
		}
		hour := row.Timestamp.Truncate(time.Hour)
		if len(inHour) > 0 && !hour.Equal(inHour[0].Timestamp.Truncate(time.Hour)) {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		inHour = append(inHour, row)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return hours, flush()
}

// newGraphHour computes one hour from its conditions; there is at least one.
func newGraphHour(conditions []conditionRow) (graphHour, error) {
	hour := graphHour{start: conditions[0].Timestamp.Truncate(time.Hour)}
	bad := map[string]int{}
	sitting, score := 0, 0
	for _, condition := range conditions {
		if !isConditionFormat(condition.Condition) {
			return hour, errors.New("malformed condition in the database")
		}
		for _, part := range strings.Split(condition.Condition, ",") {
			if name, value, _ := strings.Cut(part, "="); value == "true" {
				bad[name]++
			}
		}
		level, err := conditionLevel(condition.Condition)
		if err != nil {
			return hour, err
		}
		switch level {
		case levelInfo:
			score += scoreInfo
		case levelWarning:
			score += scoreWarning
		case levelCritical:
			score += scoreCritical
		}
		if condition.IsSitting {
			sitting++
		}
		hour.timestamps = append(hour.timestamps, condition.Timestamp.Unix())
	}

	n := len(conditions)
	hour.point = graphPoint{
		Score: score * 100 / 3 / n,
		Percentage: graphPercentage{
			Sitting:      sitting * 100 / n,
			IsBroken:     bad["is_broken"] * 100 / n,
			IsDirty:      bad["is_dirty"] * 100 / n,
			IsOverweight: bad["is_overweight"] * 100 / n,
		},
	}
	return hour, nil
}
