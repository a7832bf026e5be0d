package isuxi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/dom"
)

// Texts of pages that are part of the contract.
const (
	honorific = "さん"
	counter   = "人" // behind the number of friends
)

// facts are the rows of a profile on the top page and on that of a profile.
func (p *page) fact(name string) string { return words(p.id("prof-" + name)) }

// ownEntries are the entries of the user on the top page.
func (p *page) ownEntries() (rows []string) {
	for _, a := range p.id("entries").All(dom.ByTag("a")) {
		rows = append(rows, item(a.Attr("href"), words(a)))
	}
	return rows
}

// footprints are the footprints of a page: time, visitor. form is that of the time.
func (p *page) footprints(form string) (rows []string) {
	for _, li := range p.id("footprints").All(dom.ByClass("footprints-footprint")) {
		text := words(li)
		rows = append(rows, item(text[:min(len(form), len(text))], link(li)))
	}
	return rows
}

// comments are the comments on the user's entries on the top page.
func (p *page) comments() (rows []string) {
	for _, c := range p.id("comments").All(dom.ByClass("comments-comment")) {
		rows = append(rows, item(link(class(c, "comment-owner")), words(class(c, "comment-comment")), created(class(c, "comment-created-at"))))
	}
	return rows
}

// friendEntries are the entries of friends on the top page.
func (p *page) friendEntries() (rows []string) {
	for _, e := range p.id("friend-entries").All(dom.ByClass("friend-entry")) {
		title := class(e, "entry-title")
		rows = append(rows, item(link(class(e, "entry-owner")), link(title), words(title), created(class(e, "entry-created-at"))))
	}
	return rows
}

// friendComments are the comments of friends on the top page.
func (p *page) friendComments() (rows []string) {
	for _, c := range p.id("friend-comments").All(dom.ByClass("friend-comment")) {
		var names []string
		for _, a := range class(c, "comment-from-to").All(dom.ByTag("a")) {
			names = append(names, words(a))
		}
		rows = append(rows, item(strings.Join(names, " to "), words(class(c, "comment-comment")), created(class(c, "comment-created-at"))))
	}
	return rows
}

// friends are the friends of the page of friends, in any order.
func (p *page) friends() (rows []string) {
	list := p.id("friends")
	dates, names := list.All(dom.ByClass("friend-date")), list.All(dom.ByClass("friend-friend"))
	for i, dd := range names {
		if i < len(dates) {
			rows = append(rows, item(words(dates[i]), link(dd), words(dd)))
		}
	}
	slices.Sort(rows)
	return rows
}

var number = regexp.MustCompile(`\d+`)

// A shownEntry is an entry on the page of entries, or on its own.
type shownEntry struct {
	path, title, created string
	private              bool
	comments             int
	lines                []string
}

// entries are the entries of the page of entries.
func (p *page) entries() (list []shownEntry) {
	for _, e := range p.id("entries").All(dom.ByClass("entry")) {
		s := readEntry(e)
		s.comments, _ = strconv.Atoi(number.FindString(words(class(e, "entry-comments"))))
		list = append(list, s)
	}
	return list
}

func readEntry(n *dom.Node) shownEntry {
	title := class(n, "entry-title")
	return shownEntry{path: link(title), title: words(title), created: created(class(n, "entry-created-at")),
		private: class(n, "entry-private") != nil, lines: class(n, "entry-content").Lines()}
}

// remarks are the comments on the page of an entry: author, text, time.
func (p *page) remarks() (rows []string) {
	for _, c := range p.id("entry-comments").All(dom.ByClass("comment")) {
		rows = append(rows, item(link(class(c, "comment-owner")), strings.Join(class(c, "comment-comment").Lines(), "/"), created(class(c, "comment-created-at"))))
	}
	return rows
}

// shorten cuts the text of a comment as the top page does.
func shorten(text string) string {
	if all := []rune(text); len(all) >= 30 {
		text = string(all[:27]) + "..."
	}
	return strings.Join(strings.Fields(text), " ")
}

// datetime is how pages show a time.
func datetime(t time.Time) string { return t.In(tokyo).Format(time.DateTime) }

// profileEntries are the entries of the page of a profile.
func (p *page) profileEntries() (list []shownEntry) {
	for _, e := range p.id("prof-entries").All(dom.ByClass("entry")) {
		list = append(list, readEntry(e))
	}
	return list
}

// checkLoginForm checks the fields of the page that logs in.
func (p *page) checkLoginForm() error {
	kinds := map[string]int{}
	for _, form := range p.root.All(dom.ByTag("form")) {
		for _, field := range form.All(dom.ByTag("input")) {
			kinds[field.Attr("type")]++
			if field.Attr("type") == "text" && field.Attr("name") != "email" {
				return p.wrong("login-form", "the field for the address is called %.40q", field.Attr("name"))
			}
		}
	}
	if kinds["text"] != 1 || kinds["password"] != 1 || kinds["submit"] != 1 {
		return p.wrong("login-form", "fields %v, want a text, a password and a button", kinds)
	}
	return nil
}
