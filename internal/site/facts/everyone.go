package facts

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
)

// Clients are headers that the clients of a run sent.
type Clients struct {
	// Users are the headers of clients, each as pairs of name and value.
	Users [][][2]string
	// Varied are the headers that differed between requests, with some values.
	Varied map[string][]string
	// Candidates are headers of clients whose sessions may have ended, the newest first.
	// Where Users are not known, they are those of Candidates whose sessions are alive.
	Candidates [][][2]string
	// Others are further URLs by route.
	Others map[string][]string
}

// others requests the further URLs of a route as everyone does. It returns how many
// there are that anybody may have, and whether every one of them is the same for
// everybody. URLs that have no page, or no more, do not count.
func others(ctx context.Context, client *http.Client, base string, urls []string, c Clients) (count int, same bool) {
	for _, url := range urls {
		first, err := ask(ctx, client, base, url, "")
		if err != nil || first.Status == http.StatusNotFound {
			continue
		}
		if first.Status != http.StatusOK {
			return count, false
		}
		if _, same := everyone(ctx, client, base, url, first, c); !same {
			return count, false
		}
		count++
	}
	return count, true
}

// Bounds of the requests for one URL.
const (
	mostUsers  = 4
	mostValues = 3
)

// everyone requests a URL without a client's headers, with those of up to mostUsers
// clients of the run, and with each value of each header that varied in the run. It
// returns the number of clients, and whether every answer had the bytes, the status
// and the headers about caching of the answer without a client's headers. Answers
// that change by themselves in the meantime are not the same.
func everyone(ctx context.Context, client *http.Client, base, url string, first *asked, c Clients) (users int, same bool) {
	tries := [][][2]string{}
	for _, u := range c.Users[:min(len(c.Users), mostUsers)] {
		tries = append(tries, u)
		users++
	}
	for name, values := range c.Varied {
		for _, v := range values[:min(len(values), mostValues)] {
			tries = append(tries, [][2]string{{name, v}})
		}
	}
	tries = append(tries, nil) // once more without a client's headers, at the end
	for _, fields := range tries {
		got, err := askAs(ctx, client, base, url, fields)
		if err != nil || got.Cookie || got.Status != first.Status || got.CacheControl != first.CacheControl || got.Vary != first.Vary || !bytes.Equal(got.body, first.body) {
			return users, false
		}
	}
	return users, !first.Cookie && ownedByNobody(first)
}

// ownedByNobody reports whether the application itself does not state that an
// answer is one client's own.
func ownedByNobody(a *asked) bool {
	cc, vary := strings.ToLower(a.CacheControl), strings.ToLower(a.Vary)
	for _, word := range []string{"private", "no-store"} {
		if strings.Contains(cc, word) {
			return false
		}
	}
	for name := range strings.SplitSeq(vary, ",") {
		if name = strings.TrimSpace(name); name != "" && name != "accept-encoding" {
			return false
		}
	}
	return true
}

// skipped are headers that every request of this package sets itself.
var skipped = []string{"accept-encoding", "host", "connection", "content-length", "if-none-match", "if-modified-since"}

func askAs(ctx context.Context, client *http.Client, base, url string, fields [][2]string) (*asked, error) {
	return askWith(ctx, client, base, url, func(h http.Header) {
		for _, f := range fields {
			if !slices.Contains(skipped, strings.ToLower(f[0])) {
				h.Set(f[0], f[1])
			}
		}
	})
}
