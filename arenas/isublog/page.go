package isublog

import (
	"bytes"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	previewLines   = 8
	indexArticles  = 10
	sidebarLinks   = 10
	anonymous      = "名無しさん"
	sidebarHeading = "新着コメントエントリ"
)

// A shownArticle is an article as a page shows it.
type shownArticle struct {
	id      int // of its link on the index; 0 for none
	title   string
	created string
	lines   []string
}

// A shownComment is a comment as a page shows it.
type shownComment struct {
	name, created string
	lines         []string
}

// A blogPage is what a page of the blog shows.
type blogPage struct {
	res      *scenario.Response
	root     *node
	articles []shownArticle
	comments []shownComment
	heading  string
	sidebar  []int // ids of articles
}

// readPage checks status, type, character set and frame of a page and reads it.
func readPage(res *scenario.Response) (*blogPage, error) {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return nil, err
	}
	if err := scenario.WantType(res, "text/html"); err != nil {
		return nil, err
	}
	_, params, err := mime.ParseMediaType(res.Get("content-type"))
	if set := params["charset"]; err != nil || set != "" && !strings.EqualFold(set, "utf-8") {
		return nil, scenario.Wrong(res, "page-charset", "content type %q, want UTF-8", res.Get("content-type"))
	}
	if !utf8.Valid(res.Body) {
		return nil, scenario.Wrong(res, "page-charset", "the page is not UTF-8")
	}
	if !bytes.Contains(res.Body, []byte("<html")) || !bytes.Contains(res.Body, []byte("</html>")) {
		return nil, scenario.Wrong(res, "page-html", "%d bytes without <html> or </html>", len(res.Body))
	}
	p := &blogPage{res: res, root: readDOM(string(res.Body))}
	p.read()
	return p, p.checkFrame()
}

func (p *blogPage) read() {
	sidebar := p.root.first(byID("sidebar"))
	p.heading = sidebar.first(byTag("td")).words()
	for _, a := range sidebar.all(byTag("a")) {
		p.sidebar = append(p.sidebar, lastID(a.attr("href")))
	}
	view := p.root.first(byID("articleview"))
	for _, a := range view.all(byClass("article")) {
		p.articles = append(p.articles, shownArticle{
			id:      lastID(a.first(byClass("articlelink")).first(byTag("a")).attr("href")),
			title:   a.first(byClass("title")).words(),
			created: a.first(byClass("created")).words(),
			lines:   a.first(byClass("body")).lines(),
		})
	}
	for _, c := range view.first(byClass("comments")).all(byClass("comment")) {
		p.comments = append(p.comments, shownComment{c.first(byClass("name")).words(), c.first(byClass("created")).words(), c.first(byClass("body")).lines()})
	}
}

// lastID returns the number at the end of a link's path, 0 for none.
func lastID(href string) int {
	n, err := strconv.Atoi(href[strings.LastIndexByte(href, '/')+1:])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// checkFrame checks what all pages have: the link of the title image, and the
// sidebar with its heading.
func (p *blogPage) checkFrame() error {
	link := p.root.first(byID("titleimage")).first(byTag("a"))
	href := link.attr("href")
	if at := strings.Index(href, "://"); at >= 0 { // an absolute link
		_, path, _ := strings.Cut(href[at+3:], "/")
		href = "/" + path
	}
	if href != "/post" || !strings.HasSuffix(link.first(byTag("img")).attr("src"), "/images/isucon_title.jpg") {
		return p.wrong("page-title-image", "the title image links to %q", link.attr("href"))
	}
	if p.heading != sidebarHeading {
		return p.wrong("sidebar-heading", "the sidebar begins with %q", p.heading)
	}
	if len(p.sidebar) == 0 || len(p.sidebar) > sidebarLinks {
		return p.wrong("sidebar-links", "the sidebar has %d links, want up to %d", len(p.sidebar), sidebarLinks)
	}
	seen := map[int]bool{}
	for _, id := range p.sidebar {
		if id == 0 || seen[id] {
			return p.wrong("sidebar-links", "the sidebar links to %v", p.sidebar)
		}
		seen[id] = true
	}
	return nil
}

func (p *blogPage) wrong(check, format string, args ...any) error {
	return scenario.Wrong(p.res, check, format, args...)
}
