package isuxi

import (
	"net/url"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// testSlow: the untouched app is as slow as the rules describe it, on the small data.
func testSlow(t *testing.T, up *stack.Stack) {
	site := apptest.On(t, up)
	set := smallSize.draw().dataset().Sets[0]
	me := set.Users[0]
	c := site.NewClient(t)
	form := url.Values{"email": {me.Email}, "password": {me.Account}}
	c.Send("POST", "/login", apptest.WithBody(formType, form.Encode())).Want(t, 200, "")
	relations, footprints := smallSize.Users*smallSize.Draws*19/10, smallSize.Users*smallSize.Footprints
	for path, least := range map[string]apptest.Work{
		// The friend checks, ten friends' entries and comments, their names; all relations and all footprints.
		"/":              {Selects: 300, Prepares: 300, Scanned: relations + footprints},
		"/friends":       {Selects: 2 + len(set.Friends), Prepares: 2 + len(set.Friends), Scanned: relations},
		"/footprints":    {Selects: 2 + allFootprints, Prepares: 2 + allFootprints, Scanned: footprints},
		me.entriesPath(): {Selects: 3 + pageEntries, Prepares: 3 + pageEntries},
		me.profilePath(): {Selects: 4, Prepares: 4},
	} {
		got := site.WorkOf(t, func() { c.Get(path).Want(t, 200, "") })
		if got.Selects < least.Selects || got.Prepares < least.Prepares || got.Scanned < least.Scanned {
			t.Errorf("%s: %+v, want at least %+v", path, got, least)
		}
	}
}
