package isucholar

import (
	"maps"
	"net/url"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// query changes the query of requests.
func query(pattern string, change func(q url.Values)) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", pattern, arenatest.Before(func(x *arenatest.Exchange) {
		q, err := url.ParseQuery(x.Query)
		if err == nil {
			change(q)
			x.Query = q.Encode()
		}
	})))
}

// relinked changes the header Link.
func relinked(pattern string, change func(link string) string) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", pattern, arenatest.After(200, func(x *arenatest.Exchange) {
		x.Answer.Set("Link", change(x.Answer.Get("Link")))
	})))
}

// searchFaults are wrong searches, and wrong files.
var searchFaults = []arenatest.Fault{
	{Name: "course missing in the search", Want: by("search-missing"), Spoil: list(atSearch,
		func(v []any) []any { return v[:max(0, len(v)-1)] })},
	{Name: "search in the wrong order", Want: by("search-order"), Spoil: list(atSearch, reversed)},
	{Name: "course too many in the search", Want: by("search-size", "search-extra"), Spoil: list(atSearch,
		func(v []any) []any {
			if len(v) == 0 {
				return v
			}
			more := maps.Clone(v[0].(object))
			more["id"] = "01FGWKRE7YPFBYEB31FQGERSQX"
			return append(v, more)
		})},
	{Name: "course on a page twice", Want: by("search-twice", "search-size"), Spoil: list(atSearch,
		func(v []any) []any { return append(v, v...) })},
	{Name: "status is no condition", Want: by("search-extra"), Spoil: query(atSearch,
		func(q url.Values) { q.Del("status") })},
	{Name: "keywords of any case", Want: by("search-extra"), Spoil: query(atSearch, func(q url.Values) {
		if q.Get("keywords") == "speedup" {
			q.Set("keywords", "SpeedUP")
		}
	})},
	{Name: "description of a course cut", Want: by("search-fields"), Spoil: each(atSearch,
		func(o object) { o["description"] = o["description"].(string)[:3] })},
	{Name: "next page behind the last one", Want: by("search-link"), Spoil: relinked(atSearch, func(link string) string {
		if link == "" {
			return `</api/courses?page=2>; rel="next"`
		}
		return link
	})},
	{Name: "no way back", Want: by("search-link"), Spoil: relinked(atSearch, func(link string) string {
		_, next, _ := strings.Cut(link, ",")
		if strings.Contains(link, `"prev"`) {
			return next
		}
		return link
	})},
	{Name: "way back to the same page", Want: by("search-prev"), Spoil: relinked(atSearch, func(link string) string {
		return strings.Replace(link, `page=1>; rel="prev"`, `page=2>; rel="prev"`, 1)
	})},
	{Name: "link with a host", Want: by("link-form"), Spoil: relinked(atSearch,
		func(link string) string { return strings.ReplaceAll(link, "</", "<http://localhost/") })},
	{Name: "another script", Want: by("asset-crc"), Spoil: plain(arenatest.When("", "GET", appPath, arenatest.After(200,
		func(x *arenatest.Exchange) {
			x.Answer.Del("Etag")
			x.Reply = append(x.Reply, '\n')
		})))},
	{Name: "page without its script", Want: by("page-assets"), Spoil: plain(arenatest.When("", "GET", "/",
		arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = []byte(strings.Replace(string(x.Reply), appPath, "/none.js", 1))
		})))},
	{Name: "no language", Want: by("initialize-language"), Spoil: plain(arenatest.When("", "POST", "/initialize",
		arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = []byte("{}")
		})))},
	{Name: "initialize fails", Want: on(iikanji.FaultStatus, stepInitialize), Edits: []arenatest.Edit{{File: "go/main.go",
		Old: `"2_init.sql", "3_sample.sql"`, New: `"2_init.sql", "4_sample.sql"`}}},
}

// courseFaults are wrong answers about courses and their classes.
var courseFaults = []arenatest.Fault{
	{Name: "another name", Want: by("me"), Spoil: changed("", atMe, func(o object) object { o["name"] = "x"; return o })},
	{Name: "registered courses without a teacher", Want: by("registered-list"), Spoil: each(atRegistered,
		func(o object) { o["teacher"] = "" })},
	{Name: "closed courses stay registered", Want: by("registered-list"),
		Edits: []arenatest.Edit{{File: "go/registration.go",
			Old: "statusClosed, userID)", New: "\"\", userID)"}}},
	{Name: "list of nothing is null", Want: by("registered-list"), Spoil: list(atRegistered, func(v []any) []any {
		if len(v) == 0 {
			return nil
		}
		return v
	})},
	{Name: "status is late", Want: by("status-visible"), Spoil: changed("", atCourse,
		func(o object) object { o["status"] = statusRegistration; return o })},
	{Name: "course with other credits", Want: by("course-fields"), Spoil: changed("", atCourse,
		func(o object) object { add(o, "credit", 1); return o })},
	{Name: "classes in the wrong order", Want: by("classes-list"), Spoil: list(atClasses, reversed)},
	{Name: "no class counts as submitted", Want: by("classes-submitted"), Spoil: each(atClasses,
		func(o object) { o["submitted"] = false })},
	{Name: "class stays open", Want: by("classes-closed"), Spoil: each(atClasses,
		func(o object) { o["submission_closed"] = false })},
	{Name: "class without description", Want: by("classes-list"), Spoil: each(atClasses,
		func(o object) { o["description"] = "" })},
}

// noticeFaults are wrong announcements.
var noticeFaults = []arenatest.Fault{
	{Name: "unread are counted on the page", Want: by("announcements-count"), Spoil: changed("", atNotices,
		func(o object) object {
			n := 0
			for _, a := range o["announcements"].([]any) {
				if a.(object)["unread"].(bool) {
					n++
				}
			}
			o["unread_count"] = n
			return o
		})},
	{Name: "announcements in the wrong order", Want: by("announcements-order"), Spoil: changed("", atNotices,
		func(o object) object {
			o["announcements"] = reversed(o["announcements"].([]any))
			return o
		})},
	{Name: "all announcements are read", Want: by("announcements-fields"), Spoil: within("", atNotices, "announcements",
		func(o object) { o["unread"] = false })},
	{Name: "announcement of another course", Want: by("announcements-fields"), Spoil: within("", atNotices,
		"announcements", func(o object) { o["course_name"] = "x" })},
	{Name: "announcement missing", Want: by("announcements-missing"), Spoil: changed("", atNotices, func(o object) object {
		if v := o["announcements"].([]any); len(v) > 1 {
			o["announcements"] = v[1:]
		}
		return o
	})},
	{Name: "announcements of all courses", Want: by("announcements-extra"), Spoil: query(atNotices,
		func(q url.Values) { q.Del("course_id") })},
	{Name: "next page behind a full last one", Want: by("announcements-link"),
		Edits: []arenatest.Edit{{File: "go/announcement.go",
			Old: "setLink(c, page, len(list.Announcements) > pageSize)",
			New: "setLink(c, page, len(list.Announcements) >= pageSize)"}}},
	{Name: "announcement is read before it is read", Want: by("announcement-unread"), Spoil: changed("", atNotice,
		func(o object) object { o["unread"] = false; return o })},
	{Name: "announcement without message", Want: by("announcement-fields"), Spoil: changed("", atNotice,
		func(o object) object { o["message"] = ""; return o })},
	{Name: "reading leaves no mark", Want: by("announcements-count", "announcements-fields"),
		Edits: []arenatest.Edit{{File: "go/announcement.go",
			Old: "SET `is_deleted` = true", New: "SET `is_deleted` = false"}}},
	{Name: "one student gets no announcement", Want: by("announcements-missing", "announcements-count",
		"announcements-link", "announcements-size"), Edits: []arenatest.Edit{{File: "go/announcement.go",
		Old: "for _, user := range users {", New: "for _, user := range users[min(1, len(users)):] {"}}},
}
