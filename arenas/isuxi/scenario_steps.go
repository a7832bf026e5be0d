package isuxi

import "github.com/iikanji/iikanji/internal/load/scenario"

// The steps: one for each kind of request.
const (
	stepTop scenario.Step = iota
	stepProfile
	stepEntries
	stepEntry
	stepFriends
	stepFootprints
	stepLogin
	stepPostLogin
	stepLogout
	stepPostProfile
	stepPostEntry
	stepPostComment
	stepPostFriend
	stepInitialize
	stepStatic
)

var stepNames = []string{
	"GET /",
	"GET /profile/:account",
	"GET /diary/entries/:account",
	"GET /diary/entry/:id",
	"GET /friends",
	"GET /footprints",
	"GET /login",
	"POST /login",
	"GET /logout",
	"POST /profile/:account",
	"POST /diary/entry",
	"POST /diary/comment/:id",
	"POST /friends/:account",
	"GET /initialize",
	"GET /css/*",
}
