package cacheplan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// asciiTexts are texts of printable ASCII in lower case: all of one and of two characters,
// all of three letters, and doubled digraphs with their short forms.
func asciiTexts() (out []string) {
	var all []string
	for c := '!'; c <= '~'; c++ {
		if c < 'A' || c > 'Z' {
			all = append(all, string(c))
		}
	}
	out = append(out, all...)
	for _, a := range all {
		for _, b := range all {
			out = append(out, a+b)
		}
	}
	for i := range 26 * 26 * 26 {
		out = append(out, string([]byte{byte('a' + i/676), byte('a' + i/26%26), byte('a' + i%26)}))
	}
	return append(out, strings.Fields("cscs dzdz gygy lyly nyny szsz tyty zszs ddzs dzsdzs")...)
}

// TestCollations compares all these texts by every collation of a MariaDB that a text key
// may have: none of them takes two for equal. Those of languages that do are no keys.
func TestCollations(t *testing.T) {
	tier.Slow(t)
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	db, err := server.Open(t.Context(), "texts")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := asciiTexts()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE x (s VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)"); err != nil {
		t.Fatal(err)
	}
	for rest := texts; len(rest) > 0; {
		n := min(len(rest), 2000)
		args := make([]any, n)
		for i := range n {
			args[i] = rest[i]
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO x VALUES (?)"+strings.Repeat(", (?)", n-1), args...); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	rows, err := db.QueryContext(t.Context(), "SELECT FULL_COLLATION_NAME, CHARACTER_SET_NAME FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY")
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]string
	for rows.Next() {
		var p [2]string
		if err := rows.Scan(&p[0], &p[1]); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	keys, told := 0, map[string]bool{}
	for _, p := range pairs {
		key := tellsASCIIApart(sqlschema.Column{Type: "varchar(8)", Charset: p[1], Collation: p[0]})
		tailored := strings.Contains(p[0], "lithuanian") || strings.Contains(p[0], "roman") && !strings.Contains(p[0], "romanian") || strings.Contains(p[0], "hungarian")
		if !key && !tailored {
			continue
		}
		var n int
		query := fmt.Sprintf("SELECT COUNT(DISTINCT CONVERT(s USING `%s`) COLLATE `%s`) FROM x", p[1], p[0])
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatalf("%s: %v", p[0], err)
		}
		if key && n != len(texts) {
			t.Errorf("%s tells %d of %d texts apart, and its columns may be keys", p[0], n, len(texts))
		}
		if key {
			keys++
		} else if n < len(texts) {
			told[p[0]] = true
		}
	}
	if keys < 40 || !told["utf8mb4_lithuanian_ci"] || !told["utf8mb4_roman_ci"] {
		t.Errorf("%d of %d collations may be those of keys; those that take other texts for equal: %v", keys, len(pairs), told)
	}
	t.Logf("%d of %d collations tell %d texts apart; %v do not", keys, len(pairs), len(texts), told)
}

// TestTextKeys asserts which columns of a definition may be keys.
func TestTextKeys(t *testing.T) {
	for definition, want := range map[string]bool{
		"CREATE TABLE t (k VARCHAR(9))":                                                                                     true,
		"CREATE TABLE t (k VARCHAR(9)) DEFAULT CHARSET=utf8mb4":                                                             true,
		"CREATE TABLE t (k VARCHAR(9)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci":                    true,
		"CREATE TABLE t (k VARCHAR(9)) DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_lithuanian_ci":                     false,
		"CREATE TABLE t (k VARCHAR(9) COLLATE utf8mb4_bin) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_roman_ci":                true,
		"CREATE TABLE t (k VARCHAR(9) CHARACTER SET utf8mb3 COLLATE utf8mb3_roman_ci NOT NULL) DEFAULT CHARSET=utf8mb4":     false,
		"CREATE TABLE t (k VARCHAR(9) CHARACTER SET latin1 NOT NULL) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_lithuanian_ci": true,
		"CREATE TABLE t (k VARCHAR(9) CHARACTER SET latin7) DEFAULT CHARSET=utf8mb4":                                        false,
		"CREATE TABLE t (k VARBINARY(9)) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_lithuanian_ci":                             true,
		"CREATE TABLE t (k CHAR(9) DEFAULT 'collate') COLLATE utf8mb4_0900_ai_ci":                                           true,
		"CREATE TABLE t (k CHAR(9)) COLLATE 'utf8mb4_hu_0900_ai_ci'":                                                        false,
	} {
		s, err := ReadSchema([]string{definition})
		if err != nil {
			t.Errorf("%s: %v", definition, err)
		} else if got := s.Tables["t"].Columns["k"].Key; got != want {
			t.Errorf("%s: a key: %v, want %v", definition, got, want)
		}
	}
}
