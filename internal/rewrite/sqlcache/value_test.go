package sqlcache

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestStripesAgainstServer: texts that the server takes for equal under the
// usual collations have one stripe, or one of them has none.
func TestStripesAgainstServer(t *testing.T) {
	direct := freshDatabase(t, "stripes")
	texts := []string{"", " ", "a", "A", "a ", "á", "Ａ", "b", "ss", "ß", "ae", "æ", "か", "が", "ガ", "1", "01", "a\x00", "a\t", "-", "_", "a-b", "ab", "a\u00ad", "é", "e"}
	for i := range 60 {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		b := make([]byte, 1+r.IntN(2))
		for j := range b {
			b[j] = byte(0x20 + r.IntN(0x5f))
		}
		texts = append(texts, string(b))
	}
	run := func(text string, args ...any) {
		if _, err := direct.Exec(text, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE t (place INT, text TEXT CHARACTER SET utf8mb4)")
	for i, a := range texts {
		run("INSERT INTO t VALUES (?, ?)", i, a)
	}
	pairs := 0
	for _, collation := range []string{"utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_bin", "utf8mb4_uca1400_ai_ci"} {
		rows, err := direct.Query(fmt.Sprintf("SELECT a.place, b.place FROM t a, t b WHERE b.place < a.place AND a.text COLLATE %[1]s = b.text COLLATE %[1]s", collation))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var i, j int
			if err := rows.Scan(&i, &j); err != nil {
				t.Fatal(err)
			}
			pairs++
			a, b := texts[i], texts[j]
			x, okX := textStripe(a)
			y, okY := textStripe(b)
			if okX && okY && x != y {
				t.Errorf("%s takes %q and %q for equal; their stripes are %d and %d", collation, a, b, x, y)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d equal pairs", pairs)
	if pairs < 50 {
		t.Errorf("only %d equal pairs", pairs)
	}
}

func TestInteger(t *testing.T) {
	for _, c := range []struct {
		v  driver.Value
		n  int64
		ok bool
	}{
		{int64(-5), -5, true}, {"7", 7, true}, {[]byte("007"), 7, true}, {"1a", 0, false}, {"", 0, false}, {" 1", 0, false},
		{"+1", 0, false}, {1.0, 0, false}, {nil, 0, false}, {true, 1, true}, {uint64(1 << 63), 0, false}, {time.Time{}, 0, false},
		{"99999999999999999999", 0, false}, {"1e3", 0, false},
	} {
		n, ok := integer(c.v)
		if ok != c.ok || ok && n != c.n {
			t.Errorf("integer(%#v) = %d, %v", c.v, n, ok)
		}
	}
	if _, ok := writtenStripe(Integer, int64(0)); ok {
		t.Error("a written zero may become the next AUTO_INCREMENT value, and has a stripe")
	}
}

func TestArguments(t *testing.T) {
	h := hasher{}
	h.seed = newSeed()
	values := []driver.Value{nil, int64(1), uint64(1), 1.0, true, false, "1", []byte("1"), "", []byte{}, []byte(nil), time.Unix(1, 0), time.Unix(1, 0).UTC()}
	for i, a := range values {
		for j, b := range values {
			same := sameArguments([]driver.Value{a}, []driver.NamedValue{{Ordinal: 1, Value: b}})
			if same != (i == j) {
				t.Errorf("%#v and %#v: same is %v", a, b, same)
			}
			x, okX := h.arguments(1, []driver.NamedValue{{Value: a}})
			y, okY := h.arguments(1, []driver.NamedValue{{Value: b}})
			if same && (!okX || !okY || x != y) {
				t.Errorf("%#v has two keys", a)
			}
		}
	}
	if _, ok := h.arguments(1, []driver.NamedValue{{Value: struct{}{}}}); ok {
		t.Error("a value of an unknown type has a key")
	}
}
