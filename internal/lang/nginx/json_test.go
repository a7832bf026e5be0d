package nginx

import (
	"encoding/json"
	"testing"
)

// FuzzJSON: a configuration that is written as JSON and read again is written the same.
func FuzzJSON(f *testing.F) {
	f.Add(sample)
	f.Add(`map $a $b { '' x; "c d" "e\"f"; } http { server { location / {} location ~ "^/a{2}$" { return 200 "${x}"; } } server {} }`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load("f", oneText(text))
		if err != nil {
			return
		}
		first, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var again Config
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatal(err)
		}
		if second, err := json.Marshal(&again); err != nil || string(second) != string(first) {
			t.Fatalf("%s\n%s\n%v", first, second, err)
		}
	})
}
