package isublog_test

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

// driven serves the contest's pages with an added script, which runs on pages whose
// address ends in #go.
func driven(t *testing.T, script string) *httptest.Server {
	t.Helper()
	return apptest.WithElement(t, contest.stack.Places().URL(), "<script>if (location.hash == '#go') {"+script+"}</script>")
}

// count counts the matches of a pattern.
func count(page, pattern string) int {
	return len(regexp.MustCompile(pattern).FindAllString(page, -1))
}

func testBrowser(t *testing.T) {
	browser := apptest.NewBrowser(t)
	t.Run("index and scripts", func(t *testing.T) {
		s := driven(t, `onload = function () { document.body.setAttribute("data-seen", [typeof isublog, document.styleSheets.length, document.images[0].naturalWidth].join(" ")) }`)
		page := browser.Browse(t, s.URL+"/#go")
		if !strings.Contains(page, `data-seen="object 2 960"`) {
			t.Errorf("scripts, styles and image: %q", regexp.MustCompile(`data-seen="[^"]*"`).FindString(page))
		}
		if n := count(page, `<div class="article">`); n != 10 {
			t.Errorf("%d articles", n)
		}
		if n := count(page, `<tr><td><a href="/article/\d+">`); n != 10 {
			t.Errorf("%d links in the sidebar", n)
		}
	})
	t.Run("article and comment form", func(t *testing.T) {
		s := driven(t, `var f = document.forms[0]; f.elements.body.value = "一\n二"; f.elements.name.value = "見学者"; f.submit();`)
		page := browser.Browse(t, s.URL+"/article/3000#go")
		if !strings.Contains(page, `<div class="name">見学者</div>`) || !strings.Contains(page, "一<br>\n二<br>") {
			t.Error("the comment is not on the page behind the form")
		}
		if n := number(t, "SELECT COUNT(*) FROM comment WHERE article = 3000 AND name = '見学者'"); n != 1 {
			t.Errorf("%d comments are stored", n)
		}
		if n, want := count(page, `<div class="comment">`), number(t, "SELECT COUNT(*) FROM comment WHERE article = 3000"); n != want || want < 2 {
			t.Errorf("%d comments, want %d", n, want)
		}
	})
	t.Run("post form", func(t *testing.T) {
		s := driven(t, `var f = document.forms[0]; f.elements.title.value = "見学"; f.elements.body.value = "本文"; f.submit();`)
		page := browser.Browse(t, s.URL+"/post#go")
		want := fmt.Sprintf(`<div class="title"><a href="/article/%d">見学</a></div>`, number(t, "SELECT MAX(id) FROM article"))
		if !strings.Contains(page, want) {
			t.Errorf("the index behind the form has no %s", want)
		}
	})
}
