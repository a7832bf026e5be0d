package facts

import (
	"bytes"
	"context"
	"net/http"
)

// Bounds of the requests that find clients whose sessions are alive.
const (
	enoughAlive = 2
	mostTried   = 8
	mostPages   = 12
)

// alive picks the headers of clients with which some URL has another answer than
// without: a session that has ended proves nothing about what is one client's own. A
// URL whose answer changes by itself proves nothing.
func alive(ctx context.Context, client *http.Client, base string, urls map[string]string, candidates [][][2]string) [][][2]string {
	if len(candidates) == 0 {
		return nil
	}
	type page struct {
		url   string
		plain *asked
	}
	var pages []page
	for _, route := range filesFirst(urls) {
		first, err1 := ask(ctx, client, base, urls[route], "")
		second, err2 := ask(ctx, client, base, urls[route], "")
		if err1 == nil && err2 == nil && !differ(first, second) && len(pages) < mostPages {
			pages = append(pages, page{urls[route], first})
		}
	}
	var out [][][2]string
	for _, c := range candidates[:min(len(candidates), mostTried)] {
		for _, p := range pages {
			own, err := askAs(ctx, client, base, p.url, c)
			if err == nil && differ(own, p.plain) {
				out = append(out, c)
				break
			}
		}
		if len(out) == enoughAlive {
			break
		}
	}
	return out
}

// differ reports whether two answers have another status or other bytes.
func differ(a, b *asked) bool { return a.Status != b.Status || !bytes.Equal(a.body, b.body) }
