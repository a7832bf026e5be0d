package accesslog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/bench/routes/sites"
)

// anyCase writes each letter of some words in capitals or small letters.
func anyCase(all ...string) sites.Pool {
	return sites.Pool{Make: func(r *rand.Rand) string { return all[r.IntN(len(all))] }, N: len(all)}
}

// TestFoldCase: /API and /api are one route where the server does not distinguish them.
func TestFoldCase(t *testing.T) {
	for _, n := range []int{400, 1000, 20000, 40000} {
		s := sites.Site{Name: "any case", Lines: n, Pools: map[string]sites.Pool{"a": anyCase("Shop", "shop", "SHOP"), "b": anyCase("Article", "article")}, Routes: `
			GET /{a}/{b}/{id} 6
			GET /{a}/{b} 3
			GET /{a}/{b}/Print/{id} 2
			GET /{a}/Basket 3
			POST /{a}/Basket 2
			GET /Scripts/main.js 3
			GET /Account/Login 1`}
		if got := scoreSite(t, &s, 1); got.Share() < 1 {
			t.Errorf("%d lines: %.1f %% exact, %d routes, %d learned", n, 100*got.Share(), got.Routes, got.Learned)
		}
	}
}

// TestCaseOfNames: names that differ in capitals are two routes if their requests differ.
func TestCaseOfNames(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "1.2.3.4 - - [19/Nov/2026:04:04:05 +0000] \"GET /%s HTTP/1.1\" 200 %d \"-\" \"x\" 0.%03d\n", []string{"List", "list", "x", "y", "z"}[i%5], 100+1000*(i%5), 2+90*(i%5)+i%2)
	}
	keys := map[string]bool{}
	for _, r := range read(t, Options{}, b.String()).Rows {
		keys[r.Key] = true
	}
	if !keys["GET /List"] || !keys["GET /list"] {
		t.Errorf("the routes are %v", keys)
	}
}
