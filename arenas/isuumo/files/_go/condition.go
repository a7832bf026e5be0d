package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// Range is min <= value < max; -1 stands for an open end.
type Range struct {
	ID  int64 `json:"id"`
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

type RangeCondition struct {
	Prefix string   `json:"prefix"`
	Suffix string   `json:"suffix"`
	Ranges []*Range `json:"ranges"`
}

type ListCondition struct {
	List []string `json:"list"`
}

type ChairSearchCondition struct {
	Width   RangeCondition `json:"width"`
	Height  RangeCondition `json:"height"`
	Depth   RangeCondition `json:"depth"`
	Price   RangeCondition `json:"price"`
	Color   ListCondition  `json:"color"`
	Feature ListCondition  `json:"feature"`
	Kind    ListCondition  `json:"kind"`
}

type EstateSearchCondition struct {
	DoorWidth  RangeCondition `json:"doorWidth"`
	DoorHeight RangeCondition `json:"doorHeight"`
	Rent       RangeCondition `json:"rent"`
	Feature    ListCondition  `json:"feature"`
}

var (
	chairSearchCondition  ChairSearchCondition
	estateSearchCondition EstateSearchCondition
)

// loadConditions reads the files that name the search conditions.
func loadConditions() error {
	if err := loadJSON("../fixture/chair_condition.json", &chairSearchCondition); err != nil {
		return err
	}
	return loadJSON("../fixture/estate_condition.json", &estateSearchCondition)
}

func loadJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func getChairSearchCondition(c echo.Context) error {
	return c.JSON(http.StatusOK, chairSearchCondition)
}

func getEstateSearchCondition(c echo.Context) error {
	return c.JSON(http.StatusOK, estateSearchCondition)
}

// getRange returns the range of an id, which is its index in the list.
func getRange(cond RangeCondition, rangeID string) (*Range, error) {
	index, err := strconv.Atoi(rangeID)
	if err != nil {
		return nil, err
	}
	if index < 0 || len(cond.Ranges) <= index {
		return nil, fmt.Errorf("range id %d is not in the list", index)
	}
	return cond.Ranges[index], nil
}

// search collects the conditions of a search, and their parameters.
type search struct {
	conditions []string
	params     []any
}

// addRange adds the condition of a range, if the request has it.
func (s *search) addRange(column string, cond RangeCondition, rangeID string) error {
	if rangeID == "" {
		return nil
	}
	r, err := getRange(cond, rangeID)
	if err != nil {
		return fmt.Errorf("%s: %w", column, err)
	}
	if r.Min != -1 {
		s.conditions = append(s.conditions, column+" >= ?")
		s.params = append(s.params, r.Min)
	}
	if r.Max != -1 {
		s.conditions = append(s.conditions, column+" < ?")
		s.params = append(s.params, r.Max)
	}
	return nil
}

// addEqual adds a condition of equality, if the request has it.
func (s *search) addEqual(column, value string) {
	if value == "" {
		return
	}
	s.conditions = append(s.conditions, column+" = ?")
	s.params = append(s.params, value)
}

// addFeatures adds a condition for each feature of a list, all of which are required.
func (s *search) addFeatures(features string) {
	if features == "" {
		return
	}
	for _, feature := range strings.Split(features, ",") {
		s.conditions = append(s.conditions, "features LIKE CONCAT('%', ?, '%')")
		s.params = append(s.params, feature)
	}
}

func (s *search) where() string {
	return strings.Join(s.conditions, " AND ")
}
