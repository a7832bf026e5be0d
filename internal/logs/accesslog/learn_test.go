package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// keys reads paths, "404 /x" for ones that were not found, each so many times,
// and returns the routes that were learned with their counts, in order.
func keys(t *testing.T, paths []string, times int) []string {
	t.Helper()
	var b strings.Builder
	for range times {
		for _, p := range paths {
			status := 200
			if rest, dead := strings.CutPrefix(p, "404 "); dead {
				p, status = rest, 404
			}
			b.WriteString(combinedLine("GET", p, status, 1))
		}
	}
	var all []string
	for _, r := range read(t, Options{}, b.String()).Rows {
		all = append(all, fmt.Sprintf("%s %d", strings.TrimPrefix(r.Key, "GET "), r.Count))
	}
	slices.Sort(all)
	return all
}

// names are different words without the shape of an identifier.
func names(n int) (all []string) {
	for i := range n {
		all = append(all, "n"+strings.Repeat(string(rune('a'+i%26)), 1+i/26%3)+string(rune('a'+i/78%26)))
	}
	return all
}

func under(prefix string, names []string, suffix string) (all []string) {
	for _, n := range names {
		all = append(all, prefix+n+suffix)
	}
	return all
}

// actionsBesideIDs: twelve names stay routes where members have ids.
func actionsBesideIDs() []string {
	all := []string{"/users/:id 800"}
	for _, n := range names(12) {
		all = append(all, "/users/"+n+" 40")
	}
	slices.Sort(all)
	return all
}

func TestLearn(t *testing.T) {
	join := slices.Concat[[]string]
	repeat := func(s string, n int) []string { return slices.Repeat([]string{s}, n) }
	for name, c := range map[string]struct {
		paths []string
		times int
		want  []string
	}{
		"few names are routes":               {under("/api/", names(30), ""), 3, nil},
		"a hundred that are used are routes": {under("/api/", names(100), ""), 5, nil},
		"more are values":                    {under("/u/", names(150), ""), 5, []string{"/u/:any 750"}},
		"rare ones are sooner":               {under("/u/", names(50), ""), 1, []string{"/u/:any 50"}},
		"what is below is seen together": {join(under("/u/", names(150), "/posts"), under("/u/", names(150), "/likes/7")), 1,
			[]string{"/u/:any/likes/:id 150", "/u/:any/posts 150"}},
		"values below values": {under("/a/", under("", names(120), "/"+"x"), ""), 2, []string{"/a/:any/x 240"}},
		"a busy one among values stays": {join(under("/u/", names(150), ""), repeat("/u/me", 100)), 1,
			[]string{"/u/:any 150", "/u/me 100"}},
		"nothing was found under them": {join(under("404 /", names(150), ""), repeat("/login", 9), repeat("/logout", 2)), 1,
			[]string{"/:any 150", "/login 9", "/logout 2"}},
		"files of a folder":  {under("/s/", names(20), ".png"), 1, []string{"/s/:file.png 20"}},
		"few files":          {under("/s/", names(3), ".png"), 1, nil},
		"scripts are routes": {under("/", names(60), ".php"), 9, nil},
		"an id may look like a number": {join(repeat("/c/3f2a1bc", 50), repeat("/c/1234567", 1), repeat("/c/abcdefa", 1)), 1,
			[]string{"/c/:hex 52"}},
		"but numbers are numbers": {join(repeat("/c/3f2a1bc", 50), repeat("/c/1234567", 40)), 1,
			[]string{"/c/:hex 50", "/c/:id 40"}},
		"a token may look like a word": {join(repeat("/t/dQw4w9WgXcQ", 60), repeat("/t/aBcDeFgHiJk", 1)), 1,
			[]string{"/t/:token 61"}},
		"alike below": {join(under("/t/", names(20), "/players"), under("/t/", names(20), "/scores")), 3,
			[]string{"/t/:any/players 60", "/t/:any/scores 60"}},
		"versions are words": {join(under("/api/v", []string{"1", "2", "3", "4", "5"}, "/users"), under("/api/v", []string{"1", "2", "3", "4", "5"}, "/posts")), 3, nil},
		"words beside users": {join(under("/users/", names(60), ""), repeat("/users/settings", 4), repeat("/users/new", 3)), 5,
			[]string{"/users/:any 300", "/users/new 15", "/users/settings 20"}},
		"names below a collection": {under("/users/", names(12), ""), 40, []string{"/users/:any 480"}},
		"actions beside ids":       {join(under("/users/", names(12), ""), repeat("/users/7", 20)), 40, actionsBesideIDs()},
		"one token":                {join(repeat("/w/dQw4w9WgXcQ", 9), repeat("/w/UZZK6ef_eij", 9), repeat("/w/bmhhuFZVMJq", 9), repeat("/w/12345678901", 1)), 1, []string{"/w/:token 28"}},
		"one kind of file": {join(repeat("/a/index-BfX3q9aZ.js", 9), repeat("/a/index-DfXqqaZk.js", 9), repeat("/a/main.js", 9)), 1,
			[]string{"/a/:file.js 18", "/a/main.js 9"}},
		"procedures are words":         {under("/rpc/", []string{"GetUser", "ListUsers", "CreateUser", "DeleteUser", "GetOrder", "ListOrders", "CreateOrder", "CancelOrder"}, ""), 30, nil},
		"names that look like numbers": {join(under("/u/", names(150), ""), repeat("/u/12", 3)), 1, []string{"/u/:any 153"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := keys(t, c.paths, c.times)
			want := c.want
			if want == nil { // every path stays a route
				for _, p := range c.paths {
					want = append(want, fmt.Sprintf("%s %d", p, c.times))
				}
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %.300q\nwant %.300q", got, want)
			}
		})
	}
}

// TestOverflowIsSaid: routes that do not fit are counted in one row with a
// note, and real routes keep their exact counts.
func TestOverflowIsSaid(t *testing.T) {
	var b strings.Builder
	n := 0
	const routes = 30 * 20 * 20
	for k := range 3 * routes {
		i := k % routes
		a, b2, c := 'A'+rune(i%30), 'A'+rune(i/30%20), 'A'+rune(i/600) // names differ below every parent
		path := fmt.Sprintf("/na%cx/nb%c%cx/nc%c%c%cx/%s", a, a, b2, a, b2, c, []string{"p", "q"}[i%2])
		b.WriteString(combinedLine("GET", path, 200, 3))
		if k%3 == 0 {
			b.WriteString(combinedLine("POST", "/login", 200, 7))
			n++
		}
	}
	p := read(t, Options{Prefix: 100_000}, b.String())
	rows := map[string]iikanji.Row{}
	var sum int64
	for _, r := range p.Rows {
		rows[r.Key] = r
		sum += r.Count
	}
	if sum != int64(3*routes+n) || rows["POST /login"].Count != int64(n) || rows[otherKey].Count == 0 || len(p.Rows) > 2*maxRoutes+2 {
		t.Errorf("%d counted in %d rows, %d logins of %d, %d others", sum, len(p.Rows), rows["POST /login"].Count, n, rows[otherKey].Count)
	}
	if !strings.Contains(strings.Join(p.Notes, "\n"), "are counted in (other routes)") {
		t.Errorf("notes %q", p.Notes)
	}
}

// TestRoutesGiven: patterns have priority over learned routes, specific ones
// before general ones, each only for its method.
func TestRoutesGiven(t *testing.T) {
	var given []Pattern
	for _, s := range []string{"/api/:kind/:id", "/api/isu/{isu_id}", "/api/isu/me", "POST /api/isu/:id/*", "/image/<int:id>.:ext", "/f/{path...}", "/u/@:name"} {
		p, err := Route(s)
		if err != nil {
			t.Fatal(err)
		}
		given = append(given, p)
	}
	more, err := Matches(`^/x/[a-z]{1,3}$,/y.*`)
	if err != nil || len(more) != 2 {
		t.Fatal(more, err)
	}
	given = append(given, more...)
	for request, want := range map[string]string{
		"GET /api/isu/1":       "GET /api/isu/{isu_id}",
		"GET /api/isu/me":      "GET /api/isu/me",
		"GET /api/chair/1?x=y": "GET /api/:kind/:id",
		"GET /api/isu/1/icon":  "GET /api/isu/:id/icon", // learned: the pattern is for POST
		"POST /api/isu/1/a/b":  "POST /api/isu/:id/*",
		"GET /image/12.png":    "GET /image/<int:id>.:ext",
		"GET /image/.png":      "GET /image/.png",
		"GET /f/a/b/c":         "GET /f/{path...}",
		"GET /u/@bob":          "GET /u/@:name",
		"GET /x/abc":           "GET ^/x/[a-z]{1,3}$",
		"GET /x/abcd":          "GET /x/abcd",
		"GET /zzz/y1":          "GET /y.*",
	} {
		m, path, _ := strings.Cut(request, " ")
		p := read(t, Options{Routes: given}, strings.Repeat(combinedLine(m, path, 200, 1), 3))
		if p.Rows[0].Key != want {
			t.Errorf("%s is %s, want %s", request, p.Rows[0].Key, want)
		}
	}
	for _, bad := range []string{"a", "FOO /a", "/a/{b", "/a/:", "/a/*/b", "/<x"} {
		if _, err := Route(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestQueryKeys(t *testing.T) {
	for path, want := range map[string]string{
		"/s?b=1&a=2&b=3": "/s?a&b", "/s?": "/s", "/s?a": "/s?a", "/s?&&=": "/s", "/s?1699999999": "/s?:id", "/s?a=b#c": "/s?a", "/s#x": "/s",
	} {
		p := read(t, Options{QueryKeys: true}, strings.Repeat(combinedLine("GET", path, 200, 1), 3))
		if got := strings.TrimPrefix(p.Rows[0].Key, "GET "); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	// A log with the query in a field of its own.
	p := read(t, Options{QueryKeys: true, Format: `$request_method $uri $args $status`}, strings.Repeat("GET /s x=1&y=2 200\n", 3))
	if p.Rows[0].Key != "GET /s?x&y" {
		t.Error(p.Rows[0].Key)
	}
}

// TestAlign: profiles of two logs get the same routes and lose no request.
func TestAlign(t *testing.T) {
	logOf := func(paths []string) string {
		var b strings.Builder
		for i, p := range paths {
			b.WriteString(combinedLine("GET", p, 200, i%50))
		}
		return b.String()
	}
	few := read(t, Options{}, logOf([]string{"/u/naa", "/u/nbb", "/u/me", "/login", "/s/logo.png"}))
	many := read(t, Options{}, logOf(slices.Concat(under("/u/", names(150), ""), slices.Repeat([]string{"/u/me"}, 100), under("/s/", names(20), ".png"), []string{"/new"})))
	sum := func(p *iikanji.Profile) (n int64) {
		for _, r := range p.Rows {
			n += r.Count
		}
		return n
	}
	a, b := sum(few), sum(many)
	if err := Align(few, many); err != nil {
		t.Fatal(err)
	}
	list := func(p *iikanji.Profile) string {
		var all []string
		for _, r := range p.Rows {
			all = append(all, fmt.Sprintf("%s %d", r.Key, r.Count))
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	if got := list(few); got != "GET /login 1, GET /s/:file.png 1, GET /u/:any 2, GET /u/me 1" {
		t.Error(got)
	}
	if got := list(many); got != "GET /new 1, GET /s/:file.png 20, GET /u/:any 150, GET /u/me 100" {
		t.Error(got)
	}
	if sum(few) != a || sum(many) != b {
		t.Error("aligning lost requests")
	}
	// Names that were always answered 4xx do not absorb new routes.
	before := read(t, Options{}, logOf([]string{"/login", "/logout"})+strings.ReplaceAll(logOf(under("/", names(60), "")), " 200 ", " 404 "))
	after := read(t, Options{}, logOf([]string{"/login", "/fresh"}))
	if err := Align(before, after); err != nil {
		t.Fatal(err)
	}
	if got := list(after); got != "GET /fresh 1, GET /login 1" {
		t.Error(got)
	}
	merged, err := Merge(before, after)
	if err != nil || merged.Intake.Lines != 64 || sum(merged) != 64 {
		t.Errorf("%v %v", merged, err)
	}
	if err := Align(&iikanji.Profile{Source: iikanji.Slow}); err == nil {
		t.Error("a slow log was aligned")
	}
}

// TestOtherMethods: an unknown method is a part of the route, also in a saved
// profile; it costs nothing for the other methods.
func TestOtherMethods(t *testing.T) {
	log := strings.Repeat(combinedLine("FOO", "/a/1", 200, 5)+combinedLine("GET", "/a/2", 200, 1), 3) + combinedLine("M@D", "/a/3", 200, 9) + combinedLine("FOO", "/a/4?x=1", 200, 5)
	for _, o := range []Options{{}, {Prefix: 200, Workers: 3, BlockSize: 200}} {
		p := read(t, o, log)
		if err := Align(p); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range p.Rows {
			got = append(got, fmt.Sprintf("%s %s %d", r.Web.Method, r.Key, r.Count))
		}
		if s := strings.Join(got, ", "); s != "FOO FOO /a/:id 4, OTHER OTHER /a/:id 1, GET GET /a/:id 3" {
			t.Error(s)
		}
	}
	if p := read(t, Options{By: ByMethod}, log); len(p.Rows) != 3 || p.Rows[0].Key != "FOO" || p.Rows[0].Example.Text != "FOO /a/1" {
		t.Errorf("%+v", p.Rows)
	}
	where, err := ParseWhere("method=FOO", nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := read(t, Options{Where: where}, log); len(p.Rows) != 1 || p.Rows[0].Count != 4 {
		t.Errorf("%+v", p.Rows)
	}
	if p := read(t, Options{QueryKeys: true}, log); p.Rows[0].Key != "FOO /a/:id" {
		t.Errorf("%+v", p.Rows[0])
	}
}
