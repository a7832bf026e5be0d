package isublog

import (
	"bytes"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/dom"
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
	root     *dom.Node
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
	p := &blogPage{res: res, root: dom.Read(string(res.Body))}
	p.read()
	return p, p.checkFrame()
}

func (p *blogPage) read() {
	sidebar := p.root.First(dom.ByID("sidebar"))
	p.heading = sidebar.First(dom.ByTag("td")).Words()
	for _, a := range sidebar.All(dom.ByTag("a")) {
		p.sidebar = append(p.sidebar, lastID(a.Attr("href")))
	}
	view := p.root.First(dom.ByID("articleview"))
	for _, a := range view.All(dom.ByClass("article")) {
		p.articles = append(p.articles, shownArticle{
			id:      lastID(a.First(dom.ByClass("articlelink")).First(dom.ByTag("a")).Attr("href")),
			title:   a.First(dom.ByClass("title")).Words(),
			created: a.First(dom.ByClass("created")).Words(),
			lines:   a.First(dom.ByClass("body")).Lines(),
		})
	}
	for _, c := range view.First(dom.ByClass("comments")).All(dom.ByClass("comment")) {
		p.comments = append(p.comments, shownComment{c.First(dom.ByClass("name")).Words(), c.First(dom.ByClass("created")).Words(), c.First(dom.ByClass("body")).Lines()})
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
	link := p.root.First(dom.ByID("titleimage")).First(dom.ByTag("a"))
	href := link.Attr("href")
	if at := strings.Index(href, "://"); at >= 0 { // an absolute link
		_, path, _ := strings.Cut(href[at+3:], "/")
		href = "/" + path
	}
	if href != "/post" || !strings.HasSuffix(link.First(dom.ByTag("img")).Attr("src"), "/images/isucon_title.jpg") {
		return p.wrong("page-title-image", "the title image links to %q", link.Attr("href"))
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
