package isucondition

import "github.com/iikanji/iikanji/internal/load/scenario"

// The steps: one per route.
const (
	stepInitialize scenario.Step = iota
	stepPage
	stepAsset
	stepAuth
	stepSignout
	stepMe
	stepList
	stepRegister
	stepISU
	stepIcon
	stepGraph
	stepCondition
	stepTrend
	stepPost
)

var stepNames = []string{
	"POST /initialize",
	"GET /",
	"GET /assets/*",
	"POST /api/auth",
	"POST /api/signout",
	"GET /api/user/me",
	"GET /api/isu",
	"POST /api/isu",
	"GET /api/isu/:uuid",
	"GET /api/isu/:uuid/icon",
	"GET /api/isu/:uuid/graph",
	"GET /api/condition/:uuid",
	"GET /api/trend",
	"POST /api/condition/:uuid",
}
