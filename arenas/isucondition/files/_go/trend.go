package main

import (
	"net/http"
	"sort"

	"github.com/labstack/echo/v4"
)

type trendResponse struct {
	Character string           `json:"character"`
	Info      []trendCondition `json:"info"`
	Warning   []trendCondition `json:"warning"`
	Critical  []trendCondition `json:"critical"`
}

type trendCondition struct {
	IsuID     int   `json:"isu_id"`
	Timestamp int64 `json:"timestamp"`
}

// getTrend answers the newest state of every ISU by character. It needs no session.
func (a *app) getTrend(c echo.Context) error {
	var characters []string
	if err := a.db.Select(&characters, "SELECT `character` FROM `isu` WHERE `character` IS NOT NULL GROUP BY `character`"); err != nil {
		return serverError(c, "reading the characters", err)
	}

	trend := []trendResponse{}
	for _, character := range characters {
		item, err := a.trendOf(character)
		if err != nil {
			return serverError(c, "computing the trend", err)
		}
		trend = append(trend, item)
	}
	return c.JSON(http.StatusOK, trend)
}

// trendOf collects the ISUs of one character by the level of their newest condition.
func (a *app) trendOf(character string) (trendResponse, error) {
	item := trendResponse{Character: character, Info: []trendCondition{}, Warning: []trendCondition{}, Critical: []trendCondition{}}

	var isus []isuRow
	if err := a.db.Select(&isus, "SELECT * FROM `isu` WHERE `character` = ?", character); err != nil {
		return item, err
	}
	for _, isu := range isus {
		var conditions []conditionRow
		if err := a.db.Select(&conditions,
			"SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? ORDER BY `timestamp` DESC", isu.JIAIsuUUID); err != nil {
			return item, err
		}
		if len(conditions) == 0 {
			continue
		}
		newest := conditions[0]
		level, err := conditionLevel(newest.Condition)
		if err != nil {
			return item, err
		}
		point := trendCondition{IsuID: isu.ID, Timestamp: newest.Timestamp.Unix()}
		switch level {
		case levelInfo:
			item.Info = append(item.Info, point)
		case levelWarning:
			item.Warning = append(item.Warning, point)
		case levelCritical:
			item.Critical = append(item.Critical, point)
		}
	}

	for _, list := range [][]trendCondition{item.Info, item.Warning, item.Critical} {
		sort.Slice(list, func(i, j int) bool { return list[i].Timestamp > list[j].Timestamp })
	}
	return item, nil
}
