package isuxi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/dom"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A page is a page of the site.
type page struct {
	res  *scenario.Response
	root *dom.Node
}

// readPage checks status, type and style of a page and reads it.
func readPage(res *scenario.Response) (*page, error) {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return nil, err
	}
	if err := scenario.WantType(res, "text/html"); err != nil {
		return nil, err
	}
	p := &page{res, dom.Read(string(res.Body))}
	for _, link := range p.root.First(dom.ByTag("head")).All(dom.ByTag("link")) {
		if link.Attr("rel") == "stylesheet" && link.Attr("href") == stylePath {
			return p, nil
		}
	}
	return nil, p.wrong("page-style", "the head of the page does not refer to %s", stylePath)
}

// shown makes a check of a page out of one of an answer.
func shown(check func(p *page) error) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		p, err := readPage(res)
		if err != nil {
			return err
		}
		return check(p)
	}
}

func (p *page) wrong(check, format string, args ...any) error {
	return scenario.Wrong(p.res, check, format, args...)
}

func (p *page) id(id string) *dom.Node { return p.root.First(dom.ByID(id)) }

// words is the text of an element in one line.
func words(n *dom.Node) string { return strings.Join(strings.Fields(n.Words()), " ") }

// link is the address of the first link of an element.
func link(n *dom.Node) string { return n.First(dom.ByTag("a")).Attr("href") }

// class is the first element of a class in another one.
func class(n *dom.Node, name string) *dom.Node { return n.First(dom.ByClass(name)) }

// item describes parts of an element in one text, so that lists can be compared.
func item(parts ...string) string { return strings.Join(parts, " | ") }

// listed compares a list of a page with what it should be.
func (p *page) listed(check string, got, want []string) error {
	if slices.Equal(got, want) {
		return nil
	}
	for i, w := range want {
		switch {
		case i >= len(got):
			return p.wrong(check, "%d rows, want %d", len(got), len(want))
		case got[i] != w:
			return p.wrong(check, "row %d of %d is %.200q, want %.200q", i+1, len(want), got[i], w)
		}
	}
	return p.wrong(check, "%d rows, want %d", len(got), len(want))
}

// created is the time of an element, without the label in front.
func created(n *dom.Node) string {
	text := words(n)
	_, time, _ := strings.Cut(text, ":")
	return strings.TrimSpace(time)
}
