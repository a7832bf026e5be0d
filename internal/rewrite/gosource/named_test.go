package gosource

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
)

// TestNamedDigests: a statement with named placeholders has the digest of what sqlx sends,
// and its own, which a driver that takes names logs.
func TestNamedDigests(t *testing.T) {
	var fp slowlog.Fingerprinter
	for sql, sent := range map[string]string{
		"INSERT INTO score (id, points) VALUES (:id, :points)":      "INSERT INTO score (id, points) VALUES (?, ?)",
		"UPDATE t SET at = '12:30', name = :user.name WHERE k = :k": "UPDATE t SET at = '12:30', name = ? WHERE k = ?",
	} {
		if got := sqltext.Positional(sql); got != sent {
			t.Errorf("%s: %q, want %q", sql, got, sent)
		}
		got := digestsOf(&fp, sql)
		if want := []string{digestOf(&fp, sql), digestOf(&fp, sent)}; !slices.Equal(got, want) || got[0] == got[1] {
			t.Errorf("%s: digests %q, want %q", sql, got, want)
		}
	}
	plain := "SELECT name FROM t WHERE id = ? AND at > '10:00'"
	if got := digestsOf(&fp, plain); len(got) != 1 || got[0] != digestOf(&fp, plain) {
		t.Errorf("%s: digests %q", plain, got)
	}
}
