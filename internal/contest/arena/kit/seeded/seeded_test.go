package seeded

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestWords checks that the words differ and are enough.
func TestWords(t *testing.T) {
	for name, words := range map[string][]string{"adjectives": adjectives, "surnames": surnames} {
		seen := map[string]bool{}
		for _, w := range words {
			if seen[w] || w == "" || len(w) > 255 {
				t.Errorf("%s: %q is there twice, empty or too long", name, w)
			}
			seen[w] = true
		}
	}
	if n := len(adjectives) * len(surnames); n < 25000 {
		t.Errorf("%d names of users, want 25,000", n)
	}
}

func TestUserNames(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var names UserNames
	shape := regexp.MustCompile(`^[a-z]+_[a-z]+[0-9]*$`)
	digits := 0
	seen := map[string]bool{}
	for range 5000 {
		n := names.Next(r)
		if seen[n] || !shape.MatchString(n) {
			t.Fatalf("name %q", n)
		}
		seen[n] = true
		if strings.ContainsAny(n, "0123456789") {
			digits++
		}
	}
	if digits == 0 || names.Take("isucon") != true || names.Take("isucon") != false {
		t.Errorf("%d names of 5000 with a digit, want some", digits)
	}
}

func TestUUID(t *testing.T) {
	shape := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	r, same := rand.New(rand.NewPCG(5, 6)), rand.New(rand.NewPCG(5, 6))
	seen := map[string]bool{}
	for range 1000 {
		u := UUID(r)
		if !shape.MatchString(u) || seen[u] || UUID(same) != u {
			t.Fatalf("UUID %q", u)
		}
		seen[u] = true
	}
}
