package redact

import (
	"bytes"
	"testing"
)

// TestStatement: literals that may be secrets are replaced, others stay.
func TestStatement(t *testing.T) {
	for sql, want := range map[string]string{
		"UPDATE users SET password='hunter2' WHERE id = 7":                                               "UPDATE users SET password='(redacted)' WHERE id = 0",
		"CREATE USER 'app'@'%' IDENTIFIED BY 'it''s \\' x'":                                              "CREATE USER '(redacted)'@'(redacted)' IDENTIFIED BY '(redacted)'",
		"INSERT INTO u (name, passwd_hash) VALUES ('bob', \"x\"), ('eve', x'00')":                        "INSERT INTO u (name, passwd_hash) VALUES ('(redacted)', '(redacted)'), ('(redacted)', x'(redacted)')",
		"SELECT * FROM sessions WHERE id = 'abc'":                                                        "SELECT * FROM sessions WHERE id = '(redacted)'",
		"SELECT * FROM player WHERE api_token = ? /* args: [\"s3cret\"] */":                              "SELECT * FROM player WHERE api_token = ? /* (redacted) */",
		"select a from t where jwt = 'eyJhbGciOiJI.eyJzdWIi.abc' and b = 'x'":                            "select a from t where jwt = '(redacted)' and b = 'x'",
		"select a from t where h = '$2b$12$abcdefghijk' and n = 12":                                      "select a from t where h = '(redacted)' and n = 12",
		"select a from t where k = 'd41d8cd98f00b204e9800998ecf8427e'":                                   "select a from t where k = '(redacted)'",
		"select a from t where k = 'aB3dE5fG7hI9jK1lM3nO5pQ7' limit 20":                                  "select a from t where k = '(redacted)' limit 20",
		"UPDATE `isu` SET `name` = 'a;b # c' WHERE id = 7":                                               "UPDATE `isu` SET `name` = 'a;b # c' WHERE id = 7",
		"select a from isu where uuid = '0694e4d7-dfce-4aec-b7ca-887ac42cfb8f'":                          "select a from isu where uuid = '0694e4d7-dfce-4aec-b7ca-887ac42cfb8f'",
		"select 'the password is in a string' from t":                                                    "select 'the password is in a string' from t",
		"SELECT author, sessions_total FROM post WHERE title = 'x'":                                      "SELECT author, sessions_total FROM post WHERE title = 'x'",
		"COMMIT /* POST /login,traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' */": "COMMIT /* POST /login,traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' */",
		"select a from t where b = $1 /* parameters: $1 = 'd41d8cd98f00b204e9800998ecf8427e' */":         "select a from t where b = $1 /* (redacted) */",
		"commit /* jwt=eyJhbGciOiJI.eyJzdWIi.abc */":                                                     "commit /* (redacted) */",
		"update t set pin = 1234 where id = 5":                                                           "update t set pin = 0 where id = 0",
		"update t set secret = 'cut off":                                                                 "update t set secret = '(redacted)'",
		"":                                                                                               "",
	} {
		if got := string(Statement([]byte(sql))); got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

// FuzzStatement: any bytes are redacted without a panic, and no literal of a statement
// about passwords remains.
func FuzzStatement(f *testing.F) {
	for _, s := range []string{"select 'a' , 1", "'\\", "\"", "$$x", "/* a", "x''y", "1.5e3a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sql []byte) {
		if bytes.Contains(sql, []byte("sikrit")) {
			return
		}
		Statement(sql)
		secret := append([]byte("update t set password = 'sikritvalue', b = 918273645 where "), sql...)
		if got := Statement(secret); bytes.Contains(got, []byte("sikritvalue")) || bytes.Contains(got, []byte("918273645")) {
			t.Errorf("%q leaks: %q", secret, got)
		}
	})
}
