package isublog_test

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	. "github.com/iikanji/iikanji/arenas/isublog"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// testContest runs tests on the app with its own MariaDB and nginx.
func testContest(t *testing.T, s *stack.Stack) {
	contest.on(t, s)
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"database", testDatabase}, {"pages", testPages}, {"missing", testMissing}, {"posts", testPosts}, {"static", testStatic},
		{"initialize", testInitialize}, {"slow", testSlow}, {"restart", testRestart}, {"browser", testBrowser},
	} {
		t.Run(c.name, c.run)
	}
}

// theContest is the running stack and what the tests need of it.
type theContest struct {
	stack *stack.Stack
	db    *sql.DB
}

var contest theContest

// on has the tests use a stack, with the initial data.
func (c *theContest) on(t *testing.T, s *stack.Stack) {
	t.Helper()
	c.stack = s
	p := s.Places().Service("database")
	var err error
	if c.db, err = sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/%s", p.User, p.Password, p.Port, p.Schema)); err != nil {
		t.Fatal(err)
	}
	c.db.SetMaxOpenConns(1)
	t.Cleanup(func() { c.db.Close() })
	if a := send(t, "POST", "/initialize", nil); a.status != 200 {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
}

// An answer is a received response.
type answer struct {
	status int
	header http.Header
	body   string
	close  bool
}

var guest = &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// send sends a request with a form, or without a body.
func send(t *testing.T, method, path string, form url.Values) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, contest.stack.Places().URL()+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := guest.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(body), res.Close}
}

func get(t *testing.T, path string) answer { t.Helper(); return send(t, "GET", path, nil) }

// number asks the database for one number.
func number(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	if err := contest.db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// texts asks the database for one column.
func texts(t *testing.T, query string, args ...any) (list []string) {
	t.Helper()
	rows, err := contest.db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func testDatabase(t *testing.T) {
	for table, want := range map[string]int{"article": Articles, "comment": Comments} {
		if n := number(t, "SELECT COUNT(*) FROM "+table); n != want {
			t.Errorf("%d rows in %s, want %d", n, table, want)
		}
		if n := number(t, "SELECT MAX(id) FROM "+table); n != want {
			t.Errorf("ids of %s up to %d, want no gap up to %d", table, n, want)
		}
	}
	columns := texts(t, "SELECT CONCAT(table_name, '.', column_name, ' ', column_type) FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position")
	if want := []string{"article.id int(11)", "article.title varchar(128)", "article.body varchar(4096)", "article.created_at timestamp",
		"comment.id int(11)", "comment.article int(11)", "comment.name varchar(64)", "comment.body varchar(1024)", "comment.created_at timestamp"}; !slices.Equal(columns, want) {
		t.Errorf("columns %q, want %q", columns, want)
	}
	indexes := texts(t, "SELECT CONCAT(table_name, ' ', GROUP_CONCAT(column_name, IF(collation = 'D', ' DESC', '') ORDER BY seq_in_index)) FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name, index_name ORDER BY 1")
	if want := []string{"article id", "comment article,created_at DESC", "comment article,id DESC", "comment id"}; !slices.Equal(indexes, want) {
		t.Errorf("indexes %q, want %q", indexes, want)
	}
	if n := number(t, "SELECT @@innodb_buffer_pool_size"); n != 8<<20 {
		t.Errorf("a buffer pool of %d bytes, want the contest's 8 MiB", n)
	}
	if n := number(t, "SELECT COUNT(*) FROM comment WHERE name = ''"); n != 0 {
		t.Errorf("%d initial comments have an empty name", n)
	}
}

func testPages(t *testing.T) {
	for _, path := range []string{"/", "/article/1", "/article/3000", "/post"} {
		a := get(t, path)
		if a.status != 200 || a.header.Get("Content-Type") != "text/html; charset=UTF-8" || !a.close {
			t.Errorf("%s: status %d, %v, close %t: want a page and no keep-alive", path, a.status, a.header, a.close)
		}
		for _, want := range []string{`href="/css/jquery-ui-1.8.14.custom.css"`, `href="/css/isucon.css"`, `src="/js/jquery-1.6.2.min.js"`,
			`src="/js/jquery-ui-1.8.14.custom.min.js"`, `src="/js/isucon.js"`, "</html>"} {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
	}
	if body := get(t, "/article/3000").body; strings.Count(body, `class="comment"`) != number(t, "SELECT COUNT(*) FROM comment WHERE article = 3000") {
		t.Error("the page of an article does not have all its comments")
	}
}

func testMissing(t *testing.T) {
	for _, path := range []string{"/article/3001", "/article/0", "/article/-1", "/article/x", "/article/", "/css/none.css", "/js/../../go/main.go", "/favicon.ico"} {
		if a := get(t, path); a.status != 404 && a.status != 400 {
			t.Errorf("%s: status %d", path, a.status)
		}
	}
	if a := send(t, "POST", "/comment/x", url.Values{"body": {"x"}}); a.status != 404 {
		t.Errorf("a comment on no article: status %d", a.status)
	}
}

// testPosts: an article and comments appear on every page at once, as they were
// written.
func testPosts(t *testing.T) {
	const body = "一行目\n二 <b>行</b> & \"目\"\n\n四行目"
	a := send(t, "POST", "/post", url.Values{"title": {"題 <名>"}, "body": {strings.ReplaceAll(body, "\n", "\r\n")}})
	if a.status != 302 || a.header.Get("Location") != "/" {
		t.Fatalf("status %d, %v", a.status, a.header)
	}
	id := number(t, "SELECT MAX(id) FROM article")
	if id != Articles+1 {
		t.Errorf("article %d, want %d", id, Articles+1)
	}
	path := fmt.Sprintf("/article/%d", id)
	for _, where := range []string{"/", path} {
		page := get(t, where).body
		for _, want := range []string{"題 &lt;名&gt;", "二 &lt;b&gt;行&lt;/b&gt; &amp; &#34;目&#34;<br>\n<br>\n四行目<br>"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %q", where, want)
			}
		}
	}
	for _, name := range []string{"", "筆者"} {
		a := send(t, "POST", fmt.Sprintf("/comment/%d", id), url.Values{"name": {name}, "body": {"感想\n" + name}})
		if a.status != 302 || a.header.Get("Location") != path {
			t.Errorf("status %d, %v", a.status, a.header)
		}
	}
	page := get(t, path).body
	first, second := strings.Index(page, `<div class="name">名無しさん</div>`), strings.Index(page, `<div class="name">筆者</div>`)
	if first < 0 || second < first || strings.Count(page, `class="comment"`) != 2 {
		t.Errorf("the page has its comments at %d and %d", first, second)
	}
	link := fmt.Sprintf(`<tr><td>新着コメントエントリ</td></tr>`+"\n"+`<tr><td><a href="/article/%d">題 &lt;名&gt;</a></td></tr>`, id)
	for _, where := range []string{"/", "/article/1", "/post"} {
		if !strings.Contains(get(t, where).body, link) {
			t.Errorf("the sidebar of %s does not begin with the article that was commented on", where)
		}
	}
}

func testStatic(t *testing.T) {
	for path, kind := range map[string]string{"/css/isucon.css": "text/css", "/js/isucon.js": "text/javascript", "/images/isucon_title.jpg": "image/jpeg"} {
		file, err := os.ReadFile(filepath.Join(contest.stack.Places().Webapp, "public", path))
		if err != nil {
			t.Fatal(err)
		}
		if a := get(t, path); a.status != 200 || a.body != string(file) || !strings.HasPrefix(a.header.Get("Content-Type"), kind) {
			t.Errorf("%s: status %d, %d bytes, %v", path, a.status, len(a.body), a.header)
		}
	}
}

// testInitialize: the rows of the tests before are gone, and ids go on without a gap.
func testInitialize(t *testing.T) {
	send(t, "POST", "/post", url.Values{"title": {"a"}, "body": {"b"}})
	for range 2 {
		if a := send(t, "POST", "/initialize", nil); a.status != 200 || !strings.Contains(a.body, `"language":"go"`) {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		if n, k := number(t, "SELECT COUNT(*) FROM article"), number(t, "SELECT COUNT(*) FROM comment"); n != Articles || k != Comments {
			t.Errorf("%d articles and %d comments", n, k)
		}
	}
	send(t, "POST", "/post", url.Values{"title": {"a"}, "body": {"b"}})
	send(t, "POST", "/comment/1", url.Values{"body": {"b"}})
	if n, k := number(t, "SELECT MAX(id) FROM article"), number(t, "SELECT MAX(id) FROM comment"); n != Articles+1 || k != Comments+1 {
		t.Errorf("the next ids are %d and %d, want no gap", n, k)
	}
	send(t, "POST", "/initialize", nil)
}

// testSlow: the slow spots of the contest are there.
func testSlow(t *testing.T) {
	rowsRead := func() int {
		return number(t, "SELECT CAST(SUM(variable_value) AS SIGNED) FROM information_schema.global_status WHERE variable_name LIKE 'HANDLER\\_READ\\_%'")
	}
	before := rowsRead()
	get(t, "/post")
	if n := rowsRead() - before; n < Comments {
		t.Errorf("a page reads %d rows, want all %d comments for its sidebar", n, Comments)
	}
	status := func(name string) int {
		return number(t, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = ?", name)
	}
	prepared := status("COM_STMT_PREPARE")
	get(t, "/article/5")
	if n := status("COM_STMT_PREPARE") - prepared; n < 2 {
		t.Errorf("%d statements were prepared for the page of an article, want those with its id", n)
	}
	log, err := os.ReadFile(contest.stack.Places().Service("app").Log("output"))
	if err != nil || !strings.Contains(string(log), `"uri":"/article/5"`) {
		t.Errorf("the app's log does not have the request (%v)", err)
	}
}
