package isucholar

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A condition is what a search asks for. Zero fields ask for nothing.
type condition struct {
	kind, teacher, day, keywords, status string
	credit, period                       int
}

// path is the address of the first page.
func (c condition) path() string {
	q := url.Values{}
	for name, value := range map[string]string{"type": c.kind, "teacher": c.teacher, "day_of_week": c.day,
		"keywords": c.keywords, "status": c.status} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, value := range map[string]int{"credit": c.credit, "period": c.period} {
		if value != 0 {
			q.Set(name, fmt.Sprint(value))
		}
	}
	if len(q) == 0 {
		return "/api/courses"
	}
	return "/api/courses?" + q.Encode()
}

// matches reports whether a course satisfies the condition.
func (c condition) matches(o *Course) bool {
	return (c.kind == "" || c.kind == o.Type) && (c.teacher == "" || c.teacher == o.Teacher) && (c.day == "" ||
		c.day == o.DayOfWeek) &&
		(c.status == "" || c.status == o.Status) && (c.credit == 0 || c.credit == o.Credit) && (c.period == 0 ||
		c.period == o.Period) &&
		(c.keywords == "" || hasAll(o.Name, c.keywords) || hasAll(o.Keywords, c.keywords))
}

// hasAll reports whether a text has each of some words.
func hasAll(text, words string) bool {
	for word := range strings.SplitSeq(words, " ") {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// checkSearch compares all pages of a search with the courses that match.
func (a *agent) checkSearch(ctx context.Context, c condition, all []Course) error {
	var want []Course
	for i := range all {
		if c.matches(&all[i]) {
			want = append(want, all[i])
		}
	}
	slices.SortFunc(want, func(a, b Course) int { return cmp.Compare(a.Code, b.Code) })
	l := listing[Course]{name: "search", step: stepSearch, path: c.path(), want: want, get: a.search,
		id: func(c Course) string { return c.ID }, same: func(got, want Course) bool { return got == want }}
	return l.walk(ctx)
}

// checkFound checks a page of a search under load: its order, and that each course
// satisfies the condition. The status is not checked: it may change at any time.
func checkFound(c condition, list []Course) error {
	c.status = ""
	for i := range list {
		if i > 0 && list[i-1].Code >= list[i].Code {
			return wrong(stepSearch, "search-order", "%s: %s is behind %s", c.path(), list[i].Code, list[i-1].Code)
		}
		if !c.matches(&list[i]) {
			return wrong(stepSearch, "search-condition", "%s: course %+v does not satisfy the condition", c.path(), list[i])
		}
	}
	return nil
}
