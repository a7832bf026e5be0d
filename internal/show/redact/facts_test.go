package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// hidden is a part of every secret below; an output that contains it is a leak.
const hidden = "Hunter2secretive"

// TestSecretsRemoved: text that looks like a secret is removed, wherever it is.
func TestSecretsRemoved(t *testing.T) {
	tree := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	directive := func(name string, args ...string) string {
		return tree([]map[string]any{{"name": "http", "block": []map[string]any{{"name": name, "args": args}}}})
	}
	for name, f := range map[string]iikanji.Fact{
		"variable by its name":     {Topic: "variable", Key: "wsrep_sst_auth", Value: "root:" + hidden},
		"password variable":        {Topic: "variable", Key: "report_password", Value: hidden},
		"environment":              {Topic: "environment", Key: "GREETING", Value: hidden},
		"environment, in one":      {Topic: "env", Key: "app", Value: tree(map[string]string{"A": hidden})},
		"assignment":               {Topic: "limit", Key: "x", Value: "DB_PASS=" + hidden + " DB_NAME=x"},
		"assignment, quoted":       {Topic: "limit", Key: "x", Value: `my_password = "` + hidden + ` and more ` + hidden + `"`},
		"colon":                    {Topic: "limit", Key: "x", Value: "api-key: " + hidden},
		"option":                   {Topic: "limit", Key: "x", Value: "mysqldump --password=" + hidden + " x"},
		"option apart":             {Topic: "limit", Key: "x", Value: "tool --token " + hidden},
		"option with a long name":  {Topic: "limit", Key: "x", Value: "tool --db-password " + hidden},
		"option in a list":         {Topic: "limit", Key: "x", Value: `exec "-pass ` + hidden + `"`},
		"JSON by its name":         {Topic: "answer", Key: "x", Value: tree(map[string]any{"a": map[string]any{"clientSecret": hidden}})},
		"JSON in a text":           {Topic: "limit", Key: "x", Value: `see {"password": "` + hidden + `"}`},
		"address":                  {Topic: "limit", Key: "x", Value: "redis://user:" + hidden + "@127.0.0.1:6379/0"},
		"address without a user":   {Topic: "limit", Key: "x", Value: "amqp://:" + hidden + "@h/"},
		"DSN":                      {Topic: "limit", Key: "x", Value: "isucon:" + hidden + "@tcp(127.0.0.1:3306)/isucondition?parseTime=true"},
		"DSN, @ in it":             {Topic: "limit", Key: "x", Value: "isucon:a@" + hidden + "@unix(/run/x.sock)/db"},
		"DSN, short":               {Topic: "limit", Key: "x", Value: "isucon:" + hidden + "@/db"},
		"Authorization":            {Topic: "limit", Key: "x", Value: "Authorization: Basic " + hidden + "=="},
		"Bearer":                   {Topic: "limit", Key: "x", Value: "curl -H 'X: bearer " + hidden + "'"},
		"Cookie":                   {Topic: "limit", Key: "x", Value: "Cookie: a=1; session=" + hidden},
		"PEM":                      {Topic: "limit", Key: "x", Value: "-----BEGIN EC PRIVATE KEY-----\n" + hidden + "\n-----END EC PRIVATE KEY-----\n"},
		"PEM, cut off":             {Topic: "limit", Key: "x", Value: "-----BEGIN RSA PRIVATE KEY-----\n" + hidden},
		"JWT":                      {Topic: "limit", Key: "x", Value: "eyJhbGciOiJFUzI1NiJ9.eyJqaWFfdXNlcl9pZCI6." + hidden},
		"crypt":                    {Topic: "limit", Key: "x", Value: "$2b$12$" + hidden + "abcdefghijklmnop"},
		"forge":                    {Topic: "limit", Key: "x", Value: "ghp_" + hidden + "0123456789abc"},
		"random":                   {Topic: "limit", Key: "x", Value: "k " + hidden + "Zm9vYmFyQmF6UXV4MDEyMzQ1Njc4OQ=="},
		"IDENTIFIED BY":            {Topic: "limit", Key: "x", Value: "CREATE USER x IDENTIFIED BY '" + hidden + "'"},
		"statement":                {Topic: "plan", Key: "x", Value: tree(catalog.QueryPlan{SQL: "INSERT INTO user (name, pw) VALUES ('a', '" + hidden + "')"})},
		"statement, quotes within": {Topic: "plan", Key: "x", Value: tree(catalog.QueryPlan{SQL: `SELECT 'it''s \' ` + hidden + `', "x` + hidden + `"`})},
		"statement, cut off":       {Topic: "plan", Key: "x", Value: tree(catalog.QueryPlan{SQL: "SELECT 1 FROM t WHERE a = '" + hidden})},
		"condition":                {Topic: "selectivity", Key: "db.t name = '" + hidden + "'", Value: "0.1"},
		"nginx header":             {Topic: "nginx", Key: "x", Value: directive("proxy_set_header", "Authorization", "Basic "+hidden)},
		"nginx header, two words":  {Topic: "nginx", Key: "x", Value: directive("proxy_set_header", "X-Api-Key", "a", hidden)},
		"nginx directive":          {Topic: "nginx", Key: "x", Value: directive("secure_link_secret", hidden)},
		"nginx variable":           {Topic: "nginx", Key: "x", Value: directive("set", "$upload_token", hidden)},
		"nginx condition":          {Topic: "nginx", Key: "x", Value: directive("if", "($http_authorization", "!=", hidden+")")},
	} {
		got := Facts([]iikanji.Fact{f})[0]
		if strings.Contains(got.Key+got.Value, hidden) || !strings.Contains(got.Key+got.Value, Removed) && !strings.Contains(got.Key+got.Value, "'?'") {
			t.Errorf("%s: %s = %s", name, got.Key, got.Value)
		}
		if isJSON(f.Value) && f.Topic != "env" && !json.Valid([]byte(got.Value)) {
			t.Errorf("%s: not valid JSON: %s", name, got.Value)
		}
	}
}

// TestTypedFacts: the secrets of values that are not text yet are removed, too, in a copy:
// other readers of the fact see the value as it was.
func TestTypedFacts(t *testing.T) {
	conf, err := nginx.Dump{{Path: "/etc/nginx.conf", Text: "http {\n\tproxy_set_header Authorization \"Basic " + hidden + "\";\n}\n"}}.Config()
	if err != nil {
		t.Fatal(err)
	}
	typed := []iikanji.Fact{
		fact.TopicPlan.Fact("db", "x", catalog.QueryPlan{SQL: "SELECT 1 FROM t WHERE a = '" + hidden + "'"}, true),
		fact.TopicNginx.Fact("web", "/etc/nginx.conf", conf, false),
		fact.TopicUnit.Fact("app", "app.service", fact.Unit{Settings: []fact.Setting{{Key: "Environment", Value: "DB_PASSWORD=" + hidden}}}, false),
		fact.TopicCode.Fact("app", "x", fact.CodePlace{Statements: []string{"CREATE USER x IDENTIFIED BY '" + hidden + "'"}}, false),
	}
	for i, got := range Facts(typed) {
		if !strings.Contains(fact.Text(typed[i]), hidden) {
			t.Errorf("%s: the value itself was changed: %s", got.Topic, fact.Text(typed[i]))
		}
		text, err := json.Marshal(got)
		if err != nil || got.Data != nil || strings.Contains(string(text), hidden) || !strings.Contains(string(text), Removed) && !strings.Contains(string(text), "'?'") {
			t.Errorf("%s: %s (%v, %v)", got.Topic, text, got.Data, err)
		}
	}
}

// TestSecretsLeave: values that are not secrets stay unchanged.
func TestSecretsLeave(t *testing.T) {
	for name, f := range map[string]iikanji.Fact{
		"variable":   {Topic: "variable", Key: "innodb_buffer_pool_size", Value: "134217728"},
		"path":       {Topic: "nginx", Key: "/var/lib/Very/Long/Path/To/A/File/Version12/nginx.conf", Value: "x"},
		"proxy_pass": {Topic: "nginx", Key: "x", Value: `[{"args":["http://127.0.0.1:3000"],"name":"proxy_pass"}]`},
		"table": {Topic: "table", Key: "db.user",
			Value: `{"columns":[{"name":"password","type":"varchar(255)"},{"name":"api_token","type":"char(36)"}],"indexes":[{"kind":"btree","name":"PRIMARY","parts":[{"column":"token"}]}],"name":"user","schema":"db"}`},
		"number":       {Topic: "size", Key: "db.user", Value: `{"distinct":{"password":12},"rows":9007199254740993}`},
		"digest":       {Topic: "plan", Key: "d425546ef50630e1", Value: "SELECT a FROM b WHERE c = ? AND token = ?"},
		"uuid":         {Topic: "limit", Key: "x", Value: "0694e4d7-dfce-4aec-b7ca-887ac42cfb8f"},
		"index name":   {Topic: "limit", Key: "x", Value: "iikanji_jia_isu_uuid_character_timestamp_condition_level"},
		"sentence":     {Topic: "limit", Key: "x", Value: "reads 2,000 rows of isu_condition: no index begins with jia_isu_uuid"},
		"host, port":   {Topic: "limit", Key: "x", Value: "127.0.0.1:3306 accepts; /run/x.sock"},
		"basic words":  {Topic: "limit", Key: "x", Value: "a basic understanding"},
		"empty object": {Topic: "answer", Key: "x", Value: "{}"},
	} {
		if got := Facts([]iikanji.Fact{f})[0]; got != f {
			t.Errorf("%s: %s = %s", name, got.Key, got.Value)
		}
	}
}

// TestSecretsCopy: the input facts are not changed.
func TestSecretsCopy(t *testing.T) {
	facts := []iikanji.Fact{{Topic: "limit", Key: "x", Value: "password=" + hidden}}
	if Facts(facts); facts[0].Value != "password="+hidden {
		t.Errorf("%+v", facts)
	}
}

// TestLongTexts: a huge statement is cut.
func TestLongTexts(t *testing.T) {
	b, err := json.Marshal(catalog.QueryPlan{SQL: "SELECT " + strings.Repeat("1, ", 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	if got := Facts([]iikanji.Fact{{Topic: "plan", Value: string(b)}})[0]; len(got.Value) > 2*maxText {
		t.Errorf("%d bytes", len(got.Value))
	}
}
