package isuumo

import "github.com/iikanji/iikanji/internal/load/scenario"

// The steps: one per route.
const (
	stepInitialize scenario.Step = iota
	stepChair
	stepChairPost
	stepChairSearch
	stepChairLow
	stepChairCondition
	stepBuy
	stepEstate
	stepEstatePost
	stepEstateSearch
	stepEstateLow
	stepEstateCondition
	stepDocument
	stepNazotte
	stepRecommended
)

var stepNames = []string{
	"POST /initialize",
	"GET /api/chair/:id",
	"POST /api/chair",
	"GET /api/chair/search",
	"GET /api/chair/low_priced",
	"GET /api/chair/search/condition",
	"POST /api/chair/buy/:id",
	"GET /api/estate/:id",
	"POST /api/estate",
	"GET /api/estate/search",
	"GET /api/estate/low_priced",
	"GET /api/estate/search/condition",
	"POST /api/estate/req_doc/:id",
	"POST /api/estate/nazotte",
	"GET /api/recommended_estate/:id",
}
