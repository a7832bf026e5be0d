package isublog_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// page changes the pages of a path, which may contain *.
func page(pattern string, change func(html string) string) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", pattern, arenatest.After(200, func(x *arenatest.Exchange) {
		x.Reply = []byte(change(string(x.Reply)))
	})))
}

// replaced changes each occurrence of a text.
func replaced(pattern, old, now string) func() arenatest.Hook {
	return page(pattern, func(html string) string { return strings.ReplaceAll(html, old, now) })
}

// lastReplaced changes the last occurrence of a text.
func lastReplaced(pattern, old, now string) func() arenatest.Hook {
	return page(pattern, func(html string) string {
		if at := strings.LastIndex(html, old); at >= 0 {
			return html[:at] + now + html[at+len(old):]
		}
		return html
	})
}

// answers changes answers of a path that have a status.
func answers(method, pattern string, status int, change func(x *arenatest.Exchange)) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(status, change)))
}

// transportFaults are answers that are wrong as a whole.
var transportFaults = []arenatest.Fault{
	{Name: "initialize fails", Want: on(iikanji.FaultStatus, onInitialize), Spoil: plain(arenatest.When("", "POST", "/initialize", arenatest.Instead(500, "", "")))},
	{Name: "initialize without effect", Want: by("initial-articles"), Spoil: plain(arenatest.When("", "POST", "/initialize", arenatest.Instead(200, "application/json", "{}")))},
	{Name: "article missing", Want: on(iikanji.FaultStatus, onArticle), Spoil: plain(arenatest.When("", "GET", "/article/3001", arenatest.Instead(404, "text/html", "")))},
	{Name: "index as plain text", Want: on(iikanji.FaultContentType, onIndex), Spoil: answers("GET", "/", 200, func(x *arenatest.Exchange) { x.Answer.Set("Content-Type", "text/plain") })},
	{Name: "index of 6 s", Want: on(iikanji.FaultTimeout, onIndex), Spoil: plain(arenatest.When("", "GET", "/", arenatest.Slow(6*time.Second)))},
	{Name: "body truncated, connection kept", Want: on(iikanji.FaultTimeout, onJS), Spoil: answers("GET", "/js/*", 200, func(x *arenatest.Exchange) { x.Close, x.Stall = false, len(x.Reply)/2 })},
	{Name: "body truncated, connection closed", Want: on(iikanji.FaultClosed, onCSS), Spoil: answers("GET", "/css/*", 200, func(x *arenatest.Exchange) { x.Cut = len(x.Reply) / 2 })},
	{Name: "comment refused", Want: on(iikanji.FaultStatus, onComment), Spoil: plain(arenatest.When("", "POST", "/comment/*", arenatest.Instead(500, "text/plain", "")))},
}

// staticFaults are wrong static files.
var staticFaults = []arenatest.Fault{
	{Name: "wrong static file", Want: by("asset-crc"), Spoil: answers("GET", "/css/*", 200, func(x *arenatest.Exchange) { x.Reply = append(x.Reply, '\n') })},
	{Name: "the empty script is not empty", Want: by("asset-crc"), Spoil: answers("GET", "/js/isucon.js", 200, func(x *arenatest.Exchange) { x.Reply = []byte("\n") })},
	{Name: "another image", Want: by("asset-crc"), Spoil: answers("GET", "/images/*", 200, func(x *arenatest.Exchange) { x.Reply[len(x.Reply)/2]++ })},
	{Name: "compressed file with other content", Want: by("asset-crc"), Spoil: answers("GET", "/js/*", 200, func(x *arenatest.Exchange) {
		if strings.Contains(x.Header.Get("Accept-Encoding"), "gzip") {
			compress(x, []byte("old"))
		}
	})},
	{Name: "compressed for clients that do not accept it", Want: by("asset-crc"), Spoil: answers("GET", "/css/*", 200, func(x *arenatest.Exchange) { compress(x, x.Reply) })},
	{Name: "static file missing", Want: on(iikanji.FaultStatus, onImages), Spoil: plain(arenatest.When("", "GET", "/images/*", arenatest.Instead(404, "text/plain", "")))},
}

// compress sends a text with gzip.
func compress(x *arenatest.Exchange, body []byte) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(body)
	z.Close()
	x.Reply = b.Bytes()
	x.Answer = http.Header{"Content-Type": x.Answer["Content-Type"], "Content-Encoding": {"gzip"}}
}

var shownTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// inUTC shows times nine hours earlier.
func inUTC(html string) string {
	return shownTime.ReplaceAllStringFunc(html, func(text string) string {
		at, err := time.Parse(time.DateTime, text)
		if err != nil {
			return text
		}
		return at.Add(-9 * time.Hour).Format(time.DateTime)
	})
}

var sidebarRow = regexp.MustCompile(`<tr><td><a href="/article/\d+">[^\n]*\n`)

// sidebarSwapped swaps the first two links of the sidebar.
func sidebarSwapped(html string) string {
	rows := sidebarRow.FindAllString(html, 2)
	if len(rows) < 2 {
		return html
	}
	return strings.Replace(html, rows[0]+rows[1], rows[1]+rows[0], 1)
}

// pageFaults are wrong pages.
var pageFaults = []arenatest.Fault{
	{Name: "wrong charset", Want: by("page-charset"), Spoil: answers("GET", "/article/*", 200, func(x *arenatest.Exchange) { x.Answer.Set("Content-Type", "text/html; charset=Shift_JIS") })},
	{Name: "text in another encoding", Want: by("page-charset"), Spoil: replaced("/", "新着", "\x90\x56\x92\x85")},
	{Name: "page without its end", Want: by("page-html"), Spoil: replaced("/post", "</html>", "")},
	{Name: "title image links elsewhere", Want: by("page-title-image"), Spoil: replaced("/article/*", `href="/post"`, `href="/"`)},
	{Name: "sidebar without its heading", Want: by("sidebar-heading"), Spoil: replaced("/", "新着コメントエントリ", "")},
	{Name: "page without a sidebar", Want: by("sidebar-links"), Spoil: page("/article/*", func(html string) string { return sidebarRow.ReplaceAllString(html, "") })},
	{Name: "sidebar in another order", Want: by("sidebar-order"), Spoil: page("/", sidebarSwapped)},
	{Name: "index of nine articles", Want: by("index-count"), Spoil: lastReplaced("/", `class="article"`, `class="hidden"`)},
	{Name: "index with a wrong link", Want: by("index-order"), Spoil: lastReplaced("/", `<div class="articlelink"><a href="/article/`, `<div class="articlelink"><a href="/article/1`)},
	{Name: "previews without line breaks", Want: by("index-preview"), Spoil: replaced("/", "<br>", "")},
	{Name: "index escaped twice", Want: by("index-preview", "index-title"), Spoil: replaced("/", "&", "&amp;")},
	{Name: "times in UTC", Want: by("created-time"), Spoil: page("/", inUTC)},
	{Name: "times as numbers", Want: by("created-format"), Spoil: page("/article/*", func(html string) string { return shownTime.ReplaceAllString(html, "1314403200") })},
	{Name: "title of another article", Want: by("article-title"), Spoil: replaced("/article/*", `<div class="title">`, `<div class="title">続`)},
	{Name: "article without line breaks", Want: by("article-body"), Spoil: replaced("/article/*", "<br>", "")},
	{Name: "article without its end", Want: by("article-body"), Spoil: page("/article/*", func(html string) string {
		begin := strings.Index(html, `<div class="body">`)
		end := begin + strings.Index(html[begin:], "</div>")
		return html[:begin+strings.LastIndex(html[begin:end-len("<br>\n")], "<br>")] + html[end:]
	})},
	{Name: "a comment is missing", Want: by("comment-count"), Spoil: lastReplaced("/article/*", `class="comment"`, `class="hidden"`)},
	{Name: "a comment without its name", Want: by("comment-altered"), Spoil: replaced("/article/*", "名無しさん", "")},
	{Name: "form without a field", Want: by("post-form"), Spoil: replaced("/post", `name="body"`, `name="text"`)},
}
