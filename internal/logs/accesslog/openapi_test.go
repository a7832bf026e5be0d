package accesslog

import (
	"slices"
	"strings"
	"testing"
)

const petYAML = `openapi: 3.0.3
info:
  title: "Pets: all of them"
servers:
  - url: https://api.example.com/v1   # the first one
  - url: /other
paths:
  /pets:
    summary: all
    get:
      parameters:
        - name: get
          in: query
      responses:
        "200": {description: ok}
    post:
      operationId: create
  "/pets/{petId}":
    parameters: []
    get: {}
    delete:
      description: |
        post: not a key of the path
components:
  schemas:
    /pets/none:
      get: {}
`

func TestParseRoutes(t *testing.T) {
	want := []string{"DELETE /v1/pets/{petId}", "GET /v1/pets", "GET /v1/pets/{petId}", "POST /v1/pets"}
	for name, text := range map[string]string{
		"YAML":    petYAML,
		"JSON":    `{"openapi":"3.0.3","servers":[{"url":"https://api.example.com/v1/"}],"paths":{"/pets":{"get":{},"post":{},"summary":"x"},"/pets/{petId}":{"parameters":[],"get":{},"delete":{}}}}`,
		"swagger": "swagger: '2.0'\nbasePath: /v1\npaths:\n  /pets:\n    get:\n      a: b\n    post:\n      a: b\n  /pets/{petId}:\n    get:\n      a: b\n    delete:\n      a: b\n",
		"lines":   "# routes\nGET   /v1/pets\nPOST /v1/pets # create\n\nDELETE /v1/pets/{petId}\nGET /v1/pets/{petId}\n",
	} {
		all, err := ParseRoutes(text)
		var got []string
		for _, p := range all {
			got = append(got, p.method+" "+p.text)
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for text, want := range map[string]string{"": "no routes", "# nothing": "no routes", "{": "reading it as OpenAPI", "paths:\n  x:\n    get: {}\n": "does not begin with a slash",
		`{"paths":{}}`: "no routes", "pets": "does not begin with a slash"} {
		if _, err := ParseRoutes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	all, err := ParseRoutes(petYAML)
	if err != nil {
		t.Fatal(err)
	}
	p := read(t, Options{Routes: all}, strings.Repeat(combinedLine("GET", "/v1/pets/rex", 200, 1)+combinedLine("GET", "/v1/pets/tom?x=1", 200, 1)+combinedLine("PUT", "/v1/pets/rex", 405, 1), 3))
	var keys []string
	for _, r := range p.Rows {
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	if got := strings.Join(keys, ", "); got != "GET /v1/pets/{petId}, PUT /v1/pets/rex" {
		t.Error(got)
	}
}

// FuzzParseRoutes: any file of routes is read or refused without a panic.
func FuzzParseRoutes(f *testing.F) {
	for _, s := range []string{petYAML, `{"paths":{"/a":{"get":{}}}}`, "GET /a/:id\n", "paths:\n- '\n \"/a\": x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseRoutes(text)
		if err == nil && len(all) == 0 {
			t.Fatal("no routes and no error")
		}
	})
}

// TestMoreKeys: rows by address, by hour and by two keys.
func TestMoreKeys(t *testing.T) {
	at := func(ip, hour, path string, status int) string {
		return strings.NewReplacer("10.0.0.1", ip, "2026:04:", "2026:"+hour+":").Replace(combinedLine("GET", path, status, 10))
	}
	log := at("10.0.0.1", "04", "/a/1", 200) + at("10.0.0.2", "05", "/a/2", 500) + at("10.0.0.1", "05", "/b", 200) + at("10.0.0.1", "05", "/b", 200)
	for want, o := range map[string]Options{
		"10.0.0.1 3, 10.0.0.2 1":                                                    {By: ByIP},
		"2026-11-19 04:00 1, 2026-11-19 05:00 3":                                    {By: ByHour},
		"GET /a/:id, 200 1, GET /a/:id, 500 1, GET /b, 200 2":                       {By: ByRoute, ThenBy: []By{ByStatus}},
		"200, 2026-11-19 04:00 1, 200, 2026-11-19 05:00 2, 500, 2026-11-19 05:00 1": {By: ByStatus, ThenBy: []By{ByHour}},
	} {
		for _, workers := range []int{1, 3} {
			o.Workers, o.BlockSize = workers, 100
			var got []string
			for _, r := range read(t, o, log).Rows {
				got = append(got, r.Key+" "+string(rune('0'+r.Count)))
			}
			slices.Sort(got)
			if s := strings.Join(got, ", "); s != want {
				t.Errorf("by %v: %s, want %s", joined(o.keys()), s, want)
			}
		}
	}
	if p := read(t, Options{By: ByIP}, strings.Repeat("2026-11-19T04:04:05.943958Z my-elb 192.168.131.39:2817 10.0.0.1:80 0.1 0.1 0.1 200 200 0 29 \"GET http://x:80/a HTTP/1.1\" \"curl\" - -\n", 3)); p.Rows[0].Key != "192.168.131.39" {
		t.Errorf("an address with a port: %s", p.Rows[0].Key)
	}
}

// TestDecodeURI: routes that differ only in their encoding are one.
func TestDecodeURI(t *testing.T) {
	log := combinedLine("GET", "/%E6%97%A5%E6%9C%AC/x", 200, 10) + combinedLine("GET", "/%e6%97%a5%e6%9c%ac/x", 200, 20) + combinedLine("GET", "/%00/%zz", 200, 5)
	p := read(t, Options{DecodeURI: true}, log)
	if len(p.Rows) != 2 || p.Rows[0].Key != "GET /日本/x" || p.Rows[0].Count != 2 || p.Rows[0].Example.Text != "GET /日本/x" || p.Rows[1].Key != "GET /%00/%zz" {
		t.Errorf("%+v", p.Rows)
	}
}

// TestSlowest: the slowest single requests, whatever their route.
func TestSlowest(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		b.WriteString(combinedLine("GET", "/a/"+string(rune('0'+i%10)), 200, i*37%200))
	}
	for _, o := range []Options{{Workers: 1}, {Workers: 4, BlockSize: 300, Prefix: 1000}, {Workers: 2, By: ByStatus}} {
		o.Slowest = 3
		p := read(t, o, b.String())
		if len(p.Slowest) != 3 || p.Slowest[0].Took.Milliseconds() != 199 || p.Slowest[2].Took.Milliseconds() != 197 || p.Slowest[0].Line != 28 || p.Slowest[0].Text != "GET /a/7" {
			t.Errorf("%+v", p.Slowest)
		}
	}
	if p := read(t, Options{}, b.String()); p.Slowest != nil {
		t.Errorf("not asked for: %v", p.Slowest)
	}
}
