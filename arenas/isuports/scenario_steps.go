package isuports

import "github.com/iikanji/iikanji/internal/load/scenario"

// The steps: one per API. The steps that score come first, so that each is also
// its own event.
const (
	stepTenantAdd scenario.Step = iota
	stepPlayersAdd
	stepCompetitionAdd
	stepScore
	stepFinish
	stepBilling
	stepDisqualify
	stepAdminBilling
	stepPlayers
	stepCompetitions
	stepPlayer
	stepRanking
	stepPlayerCompetitions
	scoringSteps // number of the steps above

	stepMe         = scoringSteps
	stepInitialize = scoringSteps + 1
	stepStatic     = scoringSteps + 2
)

var stepNames = []string{
	"POST /api/admin/tenants/add",
	"POST /api/organizer/players/add",
	"POST /api/organizer/competitions/add",
	"POST /api/organizer/competition/:id/score",
	"POST /api/organizer/competition/:id/finish",
	"GET /api/organizer/billing",
	"POST /api/organizer/player/:id/disqualified",
	"GET /api/admin/tenants/billing",
	"GET /api/organizer/players",
	"GET /api/organizer/competitions",
	"GET /api/player/player/:id",
	"GET /api/player/competition/:id/ranking",
	"GET /api/player/competitions",
	"GET /api/me",
	"POST /initialize",
	"GET /*",
}
