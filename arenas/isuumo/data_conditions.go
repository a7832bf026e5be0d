package isuumo

import "encoding/json"

// A Range is half-open: Min <= value < Max. Each bound may be -1, for none.
type Range struct {
	ID  int64 `json:"id"` // the index in its list
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// A RangeCondition offers the ranges of a number.
type RangeCondition struct {
	Prefix string  `json:"prefix"`
	Suffix string  `json:"suffix"` // the unit
	Ranges []Range `json:"ranges"`
}

// A ListCondition offers labels.
type ListCondition struct {
	List []string `json:"list"`
}

// ChairConditions are what users can search chairs by.
type ChairConditions struct {
	Width   RangeCondition `json:"width"`
	Height  RangeCondition `json:"height"`
	Depth   RangeCondition `json:"depth"`
	Price   RangeCondition `json:"price"`
	Color   ListCondition  `json:"color"`
	Feature ListCondition  `json:"feature"`
	Kind    ListCondition  `json:"kind"`
}

// EstateConditions are what users can search estates by.
type EstateConditions struct {
	DoorWidth  RangeCondition `json:"doorWidth"`
	DoorHeight RangeCondition `json:"doorHeight"`
	Rent       RangeCondition `json:"rent"`
	Feature    ListCondition  `json:"feature"`
}

// The files in webapp with the conditions. The app and the benchmarker use the
// same ones.
const (
	chairConditionsFile  = "fixture/chair_condition.json"
	estateConditionsFile = "fixture/estate_condition.json"
)

func chairConditions() ChairConditions {
	return conditions[ChairConditions](chairConditionsFile)
}

func estateConditions() EstateConditions {
	return conditions[EstateConditions](estateConditionsFile)
}

// conditions reads an embedded file. It panics if the file is damaged.
func conditions[T any](name string) (c T) {
	if err := json.Unmarshal(webapp.MustRead(name), &c); err != nil {
		panic("BUG: " + name + ": " + err.Error())
	}
	return c
}

// Has reports whether a value is in the range.
func (r Range) Has(v int64) bool {
	return (r.Min == -1 || r.Min <= v) && (r.Max == -1 || v < r.Max)
}
