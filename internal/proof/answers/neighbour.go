package answers

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Neighbours makes up to n requests from others; in each, one parameter has
// a value at a border: of its range, of an hour or a day if it may be a time, of a
// list; or is missing. They test rewrites that derive a range from a parameter.
func Neighbours(of []Request, seed uint64, n int) []Request {
	rng := rand.New(rand.NewPCG(seed, 1))
	seen := map[string]bool{}
	for _, r := range of {
		seen[r.key()] = true
	}
	var out []Request
	for _, i := range rng.Perm(len(of)) {
		if len(out) >= n {
			break
		}
		near := nearby(of[i])
		rng.Shuffle(len(near), func(a, b int) { near[a], near[b] = near[b], near[a] })
		for _, r := range near[:min(len(near), mostNear)] {
			if len(out) < n && !seen[r.key()] {
				seen[r.key()] = true
				out = append(out, r)
			}
		}
	}
	return out
}

// mostNear bounds the neighbours of one request, so that many requests have some.
const mostNear = 6

// nearby lists the neighbours of a request.
func nearby(r Request) []Request {
	path, query, has := strings.Cut(r.Path, "?")
	if !has {
		return nil
	}
	pairs := strings.Split(query, "&")
	var out []Request
	for i, pair := range pairs {
		name, raw, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(raw)
		if err != nil {
			continue
		}
		with := func(pairs []string) {
			to := Request{Route: r.Route, Path: path, Header: r.Header, Border: true}
			if len(pairs) > 0 {
				to.Path += "?" + strings.Join(pairs, "&")
			}
			out = append(out, to)
		}
		with(slices.Delete(slices.Clone(pairs), i, i+1))
		for _, v := range borders(value) {
			to := slices.Clone(pairs)
			to[i] = name + "=" + url.QueryEscape(v)
			with(to)
		}
	}
	return out
}

// Seconds of an hour and of a day: the borders of periods by which apps group times.
const (
	hour = 3600
	day  = 24 * hour
)

// leastTime is the least number that may be a time in seconds: in 1973. Smaller ones
// are taken to be counts.
const leastTime = 100_000_000

// borders are values next to a value.
func borders(value string) []string {
	if list := strings.Split(value, ","); len(list) > 1 {
		return []string{list[0], strings.Join(list[1:], ","), ""}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return []string{"", value + "x"}
	}
	out := []int64{n - 1, n + 1, 0, -1}
	if n >= leastTime {
		out = append(out, n-n%hour, n-n%hour-1, n-n%hour+hour, n-n%day, n-n%day-1, n-n%day+day, n-day, n+day, n-hour, n+hour)
	} else {
		out = append(out, 1, 1_000_000)
	}
	var texts []string
	for _, v := range out {
		texts = append(texts, strconv.FormatInt(v, 10))
	}
	return texts
}
