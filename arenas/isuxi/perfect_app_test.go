package isuxi

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// A perfectApp is a right app in memory, with the templates of the slow one. Its sessions
// are cookies with the number of the user.
type perfectApp struct {
	world *world
	pages *template.Template
	// broken has what the app does wrong, by names of checks; "" is nothing.
	broken string

	mu       sync.Mutex // guards what follows
	friends  map[int]map[int]time.Time
	entries  []perfectEntry // in the order of their identifiers, from world.entryID(0) on
	comments []perfectComment
	visits   []perfectVisit
	birthday map[int]time.Time
	answers  int
}

type (
	perfectUser struct {
		ID                           int
		AccountName, NickName, Email string
	}
	perfectEntry struct {
		ID, UserID     int
		Private        bool
		Title, Content string
		CreatedAt      time.Time
	}
	perfectComment struct {
		ID, EntryID, UserID int
		Comment             string
		CreatedAt           time.Time
	}
	perfectVisit struct {
		UserID, OwnerID int
		Updated, Date   time.Time
	}
	perfectProfile struct {
		FirstName, LastName, Sex, Pref string
		Birthday                       struct {
			Valid bool
			Time  time.Time
		}
	}
)

// newPerfectApp returns an app with the initial data.
func newPerfectApp(w *world) *perfectApp {
	a := &perfectApp{world: w}
	a.pages = template.Must(template.New("").Funcs(template.FuncMap{
		"getUser":     a.user,
		"getEntry":    func(id int) perfectEntry { return *a.entry(id) },
		"numComments": func(id int) int { return len(a.commentsOn(id)) },
		"lines":       func(s string) []string { return strings.Split(s, "\n") },
		"cut":         func(s string, n int) string { return string([]rune(s)[:min(n, len([]rune(s)))]) },
		"shorten":     shorten,
		"date":        func(t time.Time) string { return t.In(tokyo).Format(time.DateOnly) },
		"datetime":    datetime,
	}).ParseFS(webapp, "go/templates/*.html"))
	a.reset()
	return a
}

// reset makes the initial data anew.
func (a *perfectApp) reset() {
	w := a.world
	a.friends, a.entries, a.comments, a.visits, a.birthday = map[int]map[int]time.Time{}, nil, nil, nil, map[int]time.Time{}
	for i, p := range w.friends {
		if p.one != 0 {
			a.befriend(int(p.one), int(p.another), rowTime(w.relationID(i)))
		}
	}
	for i, e := range w.entries {
		first, rest, _ := strings.Cut(entryBodies[e.body], "\n")
		a.entries = append(a.entries, perfectEntry{w.entryID(i), int(e.owner), e.private, first, rest, rowTime(w.entryID(i))})
	}
	for i, c := range w.comments {
		a.comments = append(a.comments, perfectComment{w.commentID(i), int(c.entry), int(c.author), commentTexts[c.text], commentTime(w.commentID(i))})
	}
	for i, p := range w.footprints {
		at := rowTime(w.footprintID(i))
		a.visits = append(a.visits, perfectVisit{int(p.one), int(p.another), at, at})
	}
}

func (a *perfectApp) user(id int) perfectUser {
	p := a.world.people[id-1]
	return perfectUser{id, p.Account, p.Nick, p.Email}
}

func (a *perfectApp) userByName(name string) (perfectUser, bool) {
	for i, p := range a.world.people {
		if p.Account == name {
			return a.user(i + 1), true
		}
	}
	return perfectUser{}, false
}

// entry returns the entry with an id, or nil if no entry has it.
func (a *perfectApp) entry(id int) *perfectEntry {
	if i := id - a.entries[0].ID; i >= 0 && i < len(a.entries) {
		return &a.entries[i]
	}
	return nil
}

func (a *perfectApp) commentsOn(entry int) (list []perfectComment) {
	for _, c := range a.comments {
		if c.EntryID == entry {
			list = append(list, c)
		}
	}
	return list
}

func (a *perfectApp) befriend(one, another int, at time.Time) {
	for _, id := range []int{one, another} {
		if a.friends[id] == nil {
			a.friends[id] = map[int]time.Time{}
		}
	}
	a.friends[one][another], a.friends[another][one] = at, at
}

func (a *perfectApp) permitted(me, other int) bool {
	_, friends := a.friends[me][other]
	return me == other || friends
}

// footprintsOf lists the newest visits, one for each visitor and day.
func (a *perfectApp) footprintsOf(id, most int) (list []perfectVisit) {
	seen := map[string]bool{}
	for _, v := range slices.Backward(a.visits) {
		key := fmt.Sprint(v.OwnerID, v.Updated.In(tokyo).Format(time.DateOnly))
		if v.UserID == id && !seen[key] && len(list) < most {
			seen[key] = true
			list = append(list, v)
		}
	}
	return list
}

func (a *perfectApp) profile(id int) (p perfectProfile) {
	row := a.world.people[id-1]
	p.FirstName, p.LastName, p.Sex, p.Pref = row.First, row.Last, row.Sex, row.Pref
	p.Birthday.Valid, p.Birthday.Time = true, row.birthday
	if at, changed := a.birthday[id]; changed {
		p.Birthday.Time = at
	}
	return p
}

// ServeHTTP answers one request at a time.
func (a *perfectApp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers++
	if a.spoiled(w, r) {
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		a.render(w, 200, "login.html", map[string]any{"Message": ""})
	})
	mux.HandleFunc("POST /login", a.postLogin)
	mux.HandleFunc("GET /logout", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "user", Path: "/", MaxAge: -1})
		http.Redirect(w, r, "/login", http.StatusFound)
	})
	mux.HandleFunc("GET /initialize", func(http.ResponseWriter, *http.Request) { a.reset() })
	mux.HandleFunc("GET /css/bootstrap.min.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(styleBytes))
		w.Write(staticFiles()[0].body)
	})
	for pattern, serve := range map[string]func(http.ResponseWriter, *http.Request, int){
		"GET /{$}": a.getTop, "GET /profile/{name}": a.getProfile, "POST /profile/{name}": a.postProfile,
		"GET /diary/entries/{name}": a.getEntries, "GET /diary/entry/{id}": a.getEntry, "POST /diary/entry": a.postEntry,
		"POST /diary/comment/{id}": a.postComment, "GET /footprints": a.getFootprints, "GET /friends": a.getFriends,
		"POST /friends/{name}": a.postFriend,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			me := 0
			if c, err := r.Cookie("user"); err == nil {
				fmt.Sscan(c.Value, &me)
			}
			if me == 0 {
				http.Redirect(w, r, "/login", http.StatusFound)
				return
			}
			serve(w, r, me)
		})
	}
	mux.ServeHTTP(w, r)
}

func (a *perfectApp) render(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := a.pages.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func (a *perfectApp) refuse(w http.ResponseWriter, status int) {
	a.render(w, status, "error.html", map[string]any{"Title": "", "Message": ""})
}

func (a *perfectApp) postLogin(w http.ResponseWriter, r *http.Request) {
	for i, p := range a.world.people {
		if p.Email == r.FormValue("email") && p.Account == r.FormValue("password") {
			http.SetCookie(w, &http.Cookie{Name: "user", Value: fmt.Sprint(i + 1), Path: "/"})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
	}
	a.render(w, http.StatusUnauthorized, "login.html", map[string]any{"Message": ""})
}

func (a *perfectApp) getTop(w http.ResponseWriter, r *http.Request, me int) {
	var own, ofFriends []perfectEntry
	var forMe, byFriends []perfectComment
	for _, e := range a.entries {
		if e.UserID == me && len(own) < topEntries {
			own = append(own, e)
		}
	}
	for _, e := range slices.Backward(a.entries[max(0, len(a.entries)-window):]) {
		if _, friend := a.friends[me][e.UserID]; friend && len(ofFriends) < topRows {
			ofFriends = append(ofFriends, e)
		}
	}
	for _, c := range slices.Backward(a.comments) {
		if a.entry(c.EntryID).UserID == me && len(forMe) < topRows {
			forMe = append(forMe, c)
		}
	}
	for _, c := range slices.Backward(a.comments[max(0, len(a.comments)-window):]) {
		e := a.entry(c.EntryID)
		if _, friend := a.friends[me][c.UserID]; friend && (!e.Private || a.permitted(me, e.UserID)) && len(byFriends) < topRows {
			byFriends = append(byFriends, c)
		}
	}
	a.render(w, 200, "index.html", map[string]any{"User": a.user(me), "Profile": a.profile(me), "Entries": own, "CommentsForMe": forMe,
		"EntriesOfFriends": ofFriends, "CommentsOfFriends": byFriends, "Friends": len(a.friends[me]), "Footprints": a.footprintsOf(me, topRows)})
}

// mark notes a visit.
func (a *perfectApp) mark(me, owner int) {
	if me != owner {
		now := time.Now()
		a.visits = append(a.visits, perfectVisit{owner, me, now, now})
	}
}

func (a *perfectApp) getProfile(w http.ResponseWriter, r *http.Request, me int) {
	owner, ok := a.userByName(r.PathValue("name"))
	if !ok {
		a.refuse(w, http.StatusNotFound)
		return
	}
	var list []perfectEntry
	for _, e := range a.entries {
		if e.UserID == owner.ID && (!e.Private || a.permitted(me, owner.ID)) && len(list) < topEntries {
			list = append(list, e)
		}
	}
	a.mark(me, owner.ID)
	a.render(w, 200, "profile.html", map[string]any{"Owner": owner, "Profile": a.profile(owner.ID), "Entries": list,
		"Permitted": a.permitted(me, owner.ID), "Own": me == owner.ID, "Sexes": sexes, "Prefs": prefectures})
}

func (a *perfectApp) postProfile(w http.ResponseWriter, r *http.Request, me int) {
	if r.PathValue("name") != a.user(me).AccountName {
		a.refuse(w, http.StatusForbidden)
		return
	}
	at, err := time.Parse(time.DateOnly, r.FormValue("birthday"))
	if err != nil {
		http.Error(w, "birthday", http.StatusInternalServerError)
		return
	}
	a.birthday[me] = at
	http.Redirect(w, r, "/profile/"+r.PathValue("name"), http.StatusSeeOther)
}

func (a *perfectApp) getEntries(w http.ResponseWriter, r *http.Request, me int) {
	owner, ok := a.userByName(r.PathValue("name"))
	if !ok {
		a.refuse(w, http.StatusNotFound)
		return
	}
	var list []perfectEntry
	for _, e := range slices.Backward(a.entries) {
		if e.UserID == owner.ID && (!e.Private || a.permitted(me, owner.ID)) && len(list) < pageEntries {
			list = append(list, e)
		}
	}
	a.mark(me, owner.ID)
	a.render(w, 200, "entries.html", map[string]any{"Owner": owner, "Entries": list, "Own": me == owner.ID})
}

// visible returns the entry of a request, nil after a refusal.
func (a *perfectApp) visible(w http.ResponseWriter, r *http.Request, me int) *perfectEntry {
	id := 0
	fmt.Sscan(r.PathValue("id"), &id)
	e := a.entry(id)
	if e == nil {
		a.refuse(w, http.StatusNotFound)
		return nil
	}
	if e.Private && !a.permitted(me, e.UserID) {
		a.refuse(w, http.StatusForbidden)
		return nil
	}
	return e
}

func (a *perfectApp) getEntry(w http.ResponseWriter, r *http.Request, me int) {
	if e := a.visible(w, r, me); e != nil {
		a.mark(me, e.UserID)
		a.render(w, 200, "entry.html", map[string]any{"Owner": a.user(e.UserID), "Entry": e, "Comments": a.commentsOn(e.ID)})
	}
}

func (a *perfectApp) postEntry(w http.ResponseWriter, r *http.Request, me int) {
	title := r.FormValue("title")
	if title == "" {
		title = "無題"
	}
	_, private := r.Form["private"]
	last := a.entries[len(a.entries)-1].ID
	a.entries = append(a.entries, perfectEntry{last + 1, me, private, title, r.FormValue("content"), time.Now()})
	http.Redirect(w, r, "/diary/entries/"+a.user(me).AccountName, http.StatusSeeOther)
}

func (a *perfectApp) postComment(w http.ResponseWriter, r *http.Request, me int) {
	if e := a.visible(w, r, me); e != nil {
		a.comments = append(a.comments, perfectComment{a.comments[len(a.comments)-1].ID + 1, e.ID, me, r.FormValue("comment"), time.Now()})
		http.Redirect(w, r, entryPath(e.ID), http.StatusSeeOther)
	}
}

func (a *perfectApp) getFootprints(w http.ResponseWriter, r *http.Request, me int) {
	a.render(w, 200, "footprints.html", map[string]any{"Footprints": a.footprintsOf(me, allFootprints)})
}

func (a *perfectApp) getFriends(w http.ResponseWriter, r *http.Request, me int) {
	type row struct {
		ID        int
		CreatedAt time.Time
	}
	var list []row
	for id, at := range a.friends[me] {
		list = append(list, row{id, at})
	}
	a.render(w, 200, "friends.html", map[string]any{"Friends": list})
}

func (a *perfectApp) postFriend(w http.ResponseWriter, r *http.Request, me int) {
	other, ok := a.userByName(r.PathValue("name"))
	switch _, friends := a.friends[me][other.ID]; {
	case !ok:
		a.refuse(w, http.StatusNotFound)
	case !friends:
		a.befriend(me, other.ID, time.Now())
		http.Redirect(w, r, "/friends", http.StatusSeeOther)
	}
}

// serve starts the app.
func (a *perfectApp) serve() *httptest.Server { return httptest.NewServer(a) }
