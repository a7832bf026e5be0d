package isutrain

import "github.com/iikanji/iikanji/internal/load/scenario"

// The steps: one for each request of the APIs, and for the static files.
const (
	stepSearch scenario.Step = iota
	stepSeats
	stepReserve
	stepCommit
	stepCancel
	stepList
	stepDetail
	stepSignup
	stepLogin
	stepLogout
	stepAuth
	stepStations
	stepSettings
	stepInitialize
	stepStatic
	stepCard
	stepPaymentInitialize
	stepResult
)

var stepNames = []string{
	"GET /api/train/search",
	"GET /api/train/seats",
	"POST /api/train/reserve",
	"POST /api/train/reservation/commit",
	"POST /api/user/reservations/:id/cancel",
	"GET /api/user/reservations",
	"GET /api/user/reservations/:id",
	"POST /api/auth/signup",
	"POST /api/auth/login",
	"POST /api/auth/logout",
	"GET /api/auth",
	"GET /api/stations",
	"GET /api/settings",
	"POST /initialize",
	"GET /*",
	"payment: POST /card",
	"payment: POST /initialize",
	"payment: GET /result",
}
