package facts

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	mostAnswers = 40      // routes that are requested
	mostBody    = 4 << 20 // largest number of bytes read of an answer
	answerLimit = 2 * time.Second
	leastValue  = 4 << 10 // least size of an answer that is compared with values in databases
)

// AnswerFacts requests one URL of each route of a web server twice, by GET, without
// cookies and without following redirects. The facts are the type, encoding and
// validators of the answers, whether both were the same, and how long an answer
// to their ETag takes. urls are paths with their
// query by route, as in "GET /a/:id" → "/a/7"; base is as in
// "http://127.0.0.1:80". Files with the same bytes as an answer are searched in
// folders, see [FileFolders]. A route that does not answer has no fact. The URL is
// also asked for as the clients of the run.
func AnswerFacts(ctx context.Context, h host.Host, target, base string, urls map[string]string, folders []string, clients Clients) ([]iikanji.Fact, error) {
	client := &http.Client{Timeout: answerLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableCompression: true, Proxy: nil, DialContext: h.Dial,
			// The server is the site's own, on its machine: its certificate may be for
			// another name, or signed by itself.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	proven := false
	if len(clients.Users) == 0 {
		clients.Users = alive(ctx, client, base, urls, clients.Candidates)
		proven = len(clients.Users) > 0
	}
	var out []iikanji.Fact
	for i, route := range filesFirst(urls) {
		if i == mostAnswers {
			break
		}
		first, err1 := ask(ctx, client, base, urls[route], "")
		second, err2 := ask(ctx, client, base, urls[route], "")
		if ctx.Err() != nil {
			return out, fmt.Errorf("asking for %s: %w", urls[route], context.Cause(ctx))
		}
		if err1 != nil || err2 != nil {
			continue
		}
		a := second.Answer
		a.Same = first.Status == second.Status && bytes.Equal(first.body, second.body)
		a.Cookie = a.Cookie || first.Cookie
		a.Took = min(first.Took, second.Took)
		a.File = second.onDisk(h, folders)
		if a.Same && a.Status == http.StatusOK {
			a.Alive = proven
			if a.Users, a.SameForAll = everyone(ctx, client, base, urls[route], second, clients); a.SameForAll {
				a.URLs, a.SameForAll = others(ctx, client, base, clients.Others[route], clients)
				a.URLs++
			}
		}
		if len(clients.Users) > 0 && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) {
			if own, err := askAs(ctx, client, base, urls[route], clients.Users[0]); err == nil {
				a.Again = own.Again
			}
		}
		a.Unchanged = unchanged(ctx, client, base, urls[route], second.etag)
		out = append(out, fact.TopicAnswer.Fact(target, route, a, true))
	}
	return out, nil
}

// filesFirst are the routes in the order in which they are requested: those of files and
// pictures before pages, which may take all of the time on a slow site.
func filesFirst(urls map[string]string) []string {
	out := slices.Sorted(maps.Keys(urls))
	page := func(route string) int {
		name, _, _ := strings.Cut(path.Base(urls[route]), "?")
		if strings.Contains(name, ".") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b string) int { return page(a) - page(b) })
	return out
}

// Through is a host that connects to one address, whatever address a URL names: the
// name of a site need not resolve to the web server that is asked.
func Through(h host.Host, address string) host.Host { return through{h, address} }

type through struct {
	host.Host
	address string
}

// Dial connects to the address.
func (t through) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return t.Host.Dial(ctx, network, t.address)
}

// unchanged is the shorter time of two 304 answers to an ETag; 0 if the answer is
// not a 304.
func unchanged(ctx context.Context, client *http.Client, base, url, etag string) time.Duration {
	least := time.Duration(0)
	for range 2 {
		if etag == "" {
			break
		}
		a, err := ask(ctx, client, base, url, etag)
		if err != nil || a.Status != http.StatusNotModified {
			return 0
		}
		if least == 0 || a.Took < least {
			least = a.Took
		}
	}
	return least
}

// An asked is one answer with its body.
type asked struct {
	fact.Answer
	body []byte
	etag string
}

// ask requests a URL, with If-None-Match for an ETag that is not empty.
func ask(ctx context.Context, client *http.Client, base, url, etag string) (*asked, error) {
	return askWith(ctx, client, base, url, func(h http.Header) {
		if etag != "" {
			h.Set("If-None-Match", etag)
		}
	})
}

// askWith requests a URL with the header that set fills in.
func askWith(ctx context.Context, client *http.Client, base, url string, set func(http.Header)) (*asked, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "iikanji")
	set(req.Header)
	began := time.Now()
	r, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	a := &asked{etag: r.Header.Get("ETag"), Answer: fact.Answer{URL: url, Host: req.URL.Host, Status: r.StatusCode, Encoding: r.Header.Get("Content-Encoding"), ETag: r.Header.Get("ETag") != "",
		LastModified: r.Header.Get("Last-Modified") != "", Expires: r.Header.Get("Expires") != "", Cookie: len(r.Header["Set-Cookie"]) > 0,
		CacheControl: strings.Join(r.Header["Cache-Control"], ", "), Vary: strings.Join(r.Header["Vary"], ", ")}}
	a.Type, _, _ = mime.ParseMediaType(r.Header.Get("Content-Type"))
	if a.body, err = io.ReadAll(io.LimitReader(r.Body, mostBody)); err != nil {
		return nil, err
	}
	a.Took = time.Since(began)
	a.Bytes = iikanji.Bytes(len(a.body))
	if a.Encoding == "" {
		a.Packed = packed(a.body)
	}
	a.Again = againAfter(r.Header, a.Status, unpacked(a.body, a.Encoding))
	if a.Status == http.StatusOK && len(a.body) >= leastValue && a.Encoding == "" && !strings.HasPrefix(a.Type, "text/") {
		a.MD5 = fmt.Sprintf("%x", md5.Sum(a.body))
	}
	return a, nil
}

// packed is the size of a body after gzip at its fastest level.
func packed(body []byte) iikanji.Bytes {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic("BUG: gzip has no fastest level: " + err.Error())
	}
	_, err = w.Write(body)
	if err != nil || w.Close() != nil { // writing to a buffer does not fail
		return 0
	}
	return iikanji.Bytes(b.Len())
}

// SeriesFact is the fact of the sizes of the answers of a route.
func SeriesFact(target, route string, s fact.Series) iikanji.Fact {
	return fact.TopicSeries.Fact(target, route, s, true)
}
