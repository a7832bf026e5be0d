package isuxi

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// ease makes the app fast enough for many runs: MariaDB prepares no statements, and the
// friends of a user are read once for a request.
var ease = []arenatest.Edit{
	{File: "go/main.go", Old: "	c.Loc = time.Local\n", New: "	c.Loc = time.Local\n	c.InterpolateParams = true\n"},
	{File: "go/friend.go", Old: "	\"github.com/gorilla/mux\"\n", New: "	\"github.com/gorilla/context\"\n	\"github.com/gorilla/mux\"\n"},
	{File: "go/friend.go", Old: "	var count int\n", New: `	known, ok := context.GetOk(r, "friends")
	if !ok {
		known = a.friends(me)
		context.Set(r, "friends", known)
	}
	if _, is := known.(map[int]time.Time)[another]; is || known != nil {
		return is
	}
	var count int
`},
}

// faults are all planted faults.
var faults = slices.Concat(frameFaults, topFaults, listFaults, privateFaults, writeFaults, refusalFaults, loadFaults)

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step scenario.Step) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, stepNames[step])}
}

// Patterns of the paths.
const (
	atLogin      = "/login"
	atLogout     = "/logout"
	atTop        = "/"
	atProfile    = "/profile/*"
	atEntries    = "/diary/entries/*"
	atEntry      = "/diary/entry/*"
	atPostEntry  = "/diary/entry"
	atComment    = "/diary/comment/*"
	atFootprints = "/footprints"
	atFriends    = "/friends"
	atPostFriend = "/friends/*"
	atInitialize = "/initialize"
	prepare      = scenario.Prepare
	load         = scenario.Load
	anyTime      = scenario.Phase("")
	html         = "text/html; charset=utf-8"
	emptyPage    = "<html><head><link rel=\"stylesheet\" href=\"" + stylePath + "\"></head><body></body></html>"
)

// answered changes the answers of a status.
func answered(phase scenario.Phase, method, pattern string, status int, change func(x *arenatest.Exchange)) func() arenatest.Hook {
	return func() arenatest.Hook { return arenatest.When(phase, method, pattern, arenatest.After(status, change)) }
}

// replaced replaces a text in pages.
func replaced(pattern, old, by string) func() arenatest.Hook {
	return answered(anyTime, "GET", pattern, 200, func(x *arenatest.Exchange) {
		x.Reply = []byte(strings.ReplaceAll(string(x.Reply), old, by))
	})
}

// rewritten replaces what an expression matches in pages, the first time only.
func rewritten(pattern, expression, by string) func() arenatest.Hook {
	re := regexp.MustCompile(expression)
	return answered(anyTime, "GET", pattern, 200, func(x *arenatest.Exchange) {
		if at := re.FindSubmatchIndex(x.Reply); at != nil {
			var text []byte
			text = re.Expand(text, []byte(by), x.Reply, at)
			x.Reply = slices.Concat(x.Reply[:at[0]], text, x.Reply[at[1]:])
		}
	})
}

// given answers with another status.
func given(phase scenario.Phase, method, pattern string, status, instead int) func() arenatest.Hook {
	return answered(phase, method, pattern, status, func(x *arenatest.Exchange) { x.Give(instead, html, emptyPage) })
}

// sent changes the form of a request.
func sent(phase scenario.Phase, pattern string, change func(form url.Values)) func() arenatest.Hook {
	return func() arenatest.Hook {
		return arenatest.When(phase, "POST", pattern, arenatest.Before(func(x *arenatest.Exchange) {
			if form, err := url.ParseQuery(string(x.Body)); err == nil {
				change(form)
				x.Body = []byte(form.Encode())
			}
		}))
	}
}

// swallowed answers a request without the app.
func swallowed(phase scenario.Phase, pattern, location string) func() arenatest.Hook {
	return func() arenatest.Hook {
		return arenatest.When(phase, "POST", pattern, func(x *arenatest.Exchange, _ func()) {
			x.Give(http.StatusSeeOther, html, "")
			x.Answer.Set("Location", location)
		})
	}
}

// edited breaks the app's source in one place.
func edited(file, old, by string) []arenatest.Edit {
	return []arenatest.Edit{{File: "go/" + file, Old: old, New: by}}
}

// frameFaults are in what all pages have, and in sessions.
var frameFaults = []arenatest.Fault{
	{Name: "style sheet with another byte", Want: by("asset-crc"), Spoil: answered(anyTime, "GET", stylePath, 200, func(x *arenatest.Exchange) { x.Reply[99]++ })},
	{Name: "style sheet that is longer", Want: by("style-length"), Spoil: answered(anyTime, "GET", stylePath, 200, func(x *arenatest.Exchange) { x.Reply = append(x.Reply, '\n') })},
	{Name: "page without a style", Want: by("page-style"), Spoil: replaced(atTop, stylePath, "/none.css")},
	{Name: "initialize fails", Want: on(iikanji.FaultStatus, stepInitialize), Spoil: given(anyTime, "GET", atInitialize, 200, 500)},
	{Name: "login page without a password", Want: by("login-form"), Spoil: replaced(atLogin, `type="password"`, `type="text"`)},
	{Name: "any password", Want: by("login-password"), Spoil: given(prepare, "POST", atLogin, 401, 200)},
	{Name: "no session is needed", Want: by("redirect-status"), Spoil: given(prepare, "GET", atFriends, 302, 200)},
	{Name: "login leads to the profile", Want: by("redirect-path"), Spoil: answered(anyTime, "POST", atLogin, 303, func(x *arenatest.Exchange) { x.Answer.Set("Location", "/friends") })},
	{Name: "logged out and in", Want: by("redirect-status"), Spoil: answered(anyTime, "GET", atLogout, 302, func(x *arenatest.Exchange) { x.Answer.Del("Set-Cookie") })},
}

// topFaults are in the top page.
var topFaults = []arenatest.Fault{
	{Name: "another address", Want: by("profile-fields"), Spoil: replaced(atTop, `<dd id="prof-email">`, `<dd id="prof-email">x`)},
	{Name: "a friend more", Want: by("top-friends"), Spoil: rewritten(atTop, `(\d+)人`, `1${1}人`)},
	{Name: "newest own entries instead of the oldest", Want: by("top-entries"), Edits: edited("index.go", "ORDER BY created_at LIMIT 5", "ORDER BY created_at DESC LIMIT 5")},
	{Name: "footprint missing", Want: by("top-footprints"), Spoil: rewritten(atTop, `<li class="footprints-footprint">.*</li>`, "")},
	{Name: "comments are not cut", Want: by("top-comments"), Spoil: replaced(atTop, "...", "")},
	{Name: "comments have another hour", Want: by("top-comments"), Spoil: replaced(atTop, "投稿時刻:20", "投稿時刻:19")},
	{Name: "entries of anybody", Want: by("top-friend-entries"), Edits: edited("index.go", "if !a.isFriend(r, e.UserID) {", "if e.UserID == 0 {")},
	{Name: "entries among the newest hundred", Want: by("top-friend-entries"), Edits: edited("index.go", "entries ORDER BY created_at DESC LIMIT 1000", "entries ORDER BY created_at DESC LIMIT 100")},
	{Name: "comments of other names", Want: by("top-friend-comments"), Spoil: replaced(atTop, "さん</a>へのコメント", "</a>へのコメント")},
	{Name: "comments on private entries of strangers", Want: by("top-friend-comments"), Edits: edited("index.go", "if e.Private && !a.permitted(r, e.UserID) {", "if e.Private && e.ID == 0 {")},
}

// listFaults are in the other pages.
var listFaults = []arenatest.Fault{
	{Name: "friend missing", Want: by("friends-list"), Spoil: rewritten(atFriends, `<dt class="friend-date">.*</dd>`, "")},
	{Name: "friends by another name", Want: by("friends-list"), Spoil: rewritten(atFriends, `(<dd class="friend-friend"><a href="[^"]*">)`, "${1}x")},
	{Name: "footprint of another minute", Want: by("footprints-list"), Spoil: rewritten(atFootprints, `(footprints-footprint">[^:]*):..`, "$1:99")},
	{Name: "each visit is a footprint", Want: by("footprints-list", "footprints-today"), Edits: edited("footprint.go",
		"GROUP BY user_id, owner_id, DATE(created_at) ORDER BY updated DESC LIMIT 50", "GROUP BY id ORDER BY updated DESC LIMIT 50")},
	{Name: "no footprints are left", Want: by("footprints-today"), Edits: edited("footprint.go", "if me.ID == id {", "if me.ID == id || id > 0 {")},
	{Name: "entry missing", Want: by("entries-list"), Spoil: rewritten(atEntries, `(?s)<div class="entry">.*?"entry-comments">[^\n]*\n</div>`, "")},
	{Name: "comments are not counted", Want: by("entries-comments"), Spoil: rewritten(atEntries, `コメント: (\d)`, "コメント: 1$1")},
	{Name: "line of an entry missing", Want: by("entries-content"), Spoil: rewritten(atEntries, `<br />\n.*<br />`, "<br />")},
	{Name: "newest comment first", Want: by("entry-comments"), Edits: edited("diary.go", "SELECT * FROM comments WHERE entry_id = ?\"", "SELECT * FROM comments WHERE entry_id = ? ORDER BY id DESC\"")},
	{Name: "entry cut", Want: by("entry-content"), Spoil: rewritten(atEntry, `<br />\n.*<br />`, "<br />")},
	{Name: "entry of another day", Want: by("entry-fields"), Spoil: replaced(atEntry, "投稿時刻:20", "投稿時刻:19")},
}

// privateFaults are in what only friends may see.
var privateFaults = []arenatest.Fault{
	{Name: "stranger sees the address", Want: by("profile-fields"), Edits: edited("profile.go", "p.Permitted = a.permitted(r, owner.ID)", "p.Permitted = a.permitted(r, owner.ID) || owner.ID > 0")},
	{Name: "friend sees no address", Want: by("profile-fields"), Spoil: replaced(atProfile, `id="prof-email"`, "")},
	{Name: "nobody can be made a friend", Want: by("profile-friend-form"), Spoil: replaced(atProfile, `id="profile-friend-form"`, "")},
	{Name: "stranger sees private entries in the profile", Want: by("profile-entries"), Edits: edited("profile.go", "AND private = 0 ", "")},
	{Name: "stranger sees private entries in the list", Want: by("entries-list"), Edits: edited("diary.go", "AND private = 0 ", "")},
	{Name: "stranger sees a private entry", Want: by("private-shown"), Spoil: given(prepare, "GET", atEntry, 403, 200)},
	{Name: "stranger comments on a private entry", Want: by("private-comment"), Spoil: given(prepare, "POST", atComment, 403, 200)},
	{Name: "private entry is public", Want: by("private-missing"), Spoil: sent(anyTime, atPostEntry, func(form url.Values) { form.Del("private") })},
	{Name: "titles are not escaped", Want: by("private-missing"), Spoil: answered(anyTime, "GET", atEntries, 200, func(x *arenatest.Exchange) {
		x.Reply = []byte(strings.ReplaceAll(string(x.Reply), "&lt;b&gt;", "<b>"))
	})},
}

// writeFaults are in what is written.
var writeFaults = []arenatest.Fault{
	{Name: "comment is lost", Want: by("friend-comment"), Spoil: sent(prepare, atComment, func(form url.Values) { form.Set("comment", "x") })},
	{Name: "birthday is lost", Want: by("profile-update"), Spoil: sent(prepare, atProfile, func(form url.Values) { form.Set("birthday", "1969-12-31") })},
	{Name: "entry loses a line", Want: by("draft-content"), Spoil: sent(prepare, atPostEntry, func(form url.Values) {
		form.Set("content", strings.Replace(form.Get("content"), "\n", " ", 1))
	})},
	{Name: "friendship is lost", Want: by("friend-listed"), Spoil: swallowed(prepare, atPostFriend, "/friends")},
	{Name: "entry without a title", Want: by("untitled"), Spoil: replaced(atEntries, ">無題の日記<", "><")},
	{Name: "redirect to another entry", Want: by("redirect-path"), Spoil: answered(prepare, "POST", atComment, 303, func(x *arenatest.Exchange) { x.Answer.Set("Location", "/diary/entry/1") })},
}

// refusalFaults are in what must be refused.
var refusalFaults = []arenatest.Fault{
	{Name: "unknown user has a profile", Want: by("missing"), Spoil: given(prepare, "GET", atProfile, 404, 200)},
	{Name: "unknown entry", Want: by("missing"), Spoil: given(prepare, "GET", atEntry, 404, 403)},
	{Name: "comment on nothing", Want: by("missing"), Spoil: given(prepare, "POST", atComment, 404, 200)},
	{Name: "anybody changes a profile", Want: by("profile-foreign"), Spoil: given(prepare, "POST", atProfile, 403, 200)},
	{Name: "friends twice", Want: by("friend-again"), Spoil: given(prepare, "POST", atPostFriend, 200, 303)},
}
