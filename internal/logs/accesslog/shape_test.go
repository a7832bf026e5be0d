package accesslog

import (
	"reflect"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

func TestShapes(t *testing.T) {
	for seg, want := range map[string]string{
		"api": "api", "index.php": "index.php", "v1": "v1", "v12": "v12", "2.0": "2.0", "": "", "about-us": "about-us",
		"1": ":id", "12345678901234567890": ":id", "1,2,3": ":id", "20260102": ":id",
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8": ":uuid", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8": ":uuid",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV": ":ulid",
		"01arz3ndektsv4rrffq69g5fav": ":ulid",
		"3f2a1bc":                    ":hex", "DA39A3EE5E6B4B0D": ":hex", "facade": "facade", "decade": "decade", "deadbeef": "deadbeef",
		"dQw4w9WgXcQ": ":token", "V1StGXR8_Z5jdHi6B-myT": ":token", "cjld2cjxh0000qzrmn831i7rn": ":token",
		"how-to-build-a-site-in-2024": "how-to-build-a-site-in-2024", "GettingStarted2024": "GettingStarted2024", "Getting-Started-With-Docker-2024": "Getting-Started-With-Docker-2024",
		"2026-11-19": ":date", "2026-11": ":date", "2026-11-19T04:04:05Z": ":date", "2026-13-19": "2026-13-19", "2026-11-19-release": "2026-11-19-release",
		"a.b@example.com": ":email", "a%40example.com": ":email", "@alice": "@:name", "@": "@", "a@b": "a@b",
		"1.png": ":id.png", "6ba7b810-9dad-11d1-80b4-00c04fd430c8.json": ":uuid.json", "42.json": ":id.json",
		"app.3f2a1bc9.js": ":file.js", "IMG_1234.JPG": ":file.JPG", "logo.png": "logo.png", "report2024.html": "report2024.html", "jquery-3.6.0.min.js": ":file.js",
		"x;jsessionid=1A": "x", "12;a=b": ":id",
		strings.Repeat("long", 20): ":token",
	} {
		s := shapeOf([]byte(seg), maskOf([]byte(seg)))
		if got := kindNames[s.kind] + string(s.text); got != want {
			t.Errorf("%q is %q, want %q", seg, got, want)
		}
		if s.kind == literal {
			continue
		}
		back := parseShape(want) // parseShape is the inverse
		if back.kind != s.kind || string(back.text) != string(s.text) {
			t.Errorf("%q is read again as %v %q", want, back.kind, back.text)
		}
	}
}

// TestParts: segments of two parts, and templates that are read again.
func TestParts(t *testing.T) {
	for path, want := range map[string]string{
		"/wiki/Talk:Tundra": "wiki|Talk|:|Tundra", "/b/42:publish": "b|:id|:|publish", "/Orders(1)": "Orders|(|:id", "/Orders(1)/Lines": "Orders|(|:id|Lines",
		"/Customers('ALFKI')": "Customers|(|'ALFKI'", "/books:batchGet": "books|:|batchGet", "/user:42:name": "user|:|42:name", "/items;a=b:c": "items",
		"/wiki/Lagoon_(film)": "wiki|Lagoon_(film)", "/wiki/Dune:_Part_Two": "wiki|Dune:_Part_Two", "/at/12:30": "at|12:30", "/x()": "x()", "/a:": "a:", "/:b": ":b", "/(1)": "(1)",
		"/at/2026-11-19T04:04:05Z": "at|:date", "/a::b": "a::b",
	} {
		r := newRouter(0, false, nil)
		rec := &record{uri: []byte(path)}
		rec.setMethod([]byte("GET"))
		var segs []shape
		var got []string
		for _, s := range r.segs[:r.split(rec)] {
			segs = append(segs, s.shape)
			got = append(got, map[kind]string{colon: ":", paren: "("}[s.shape.kind]+kindNames[s.shape.kind]+string(s.shape.text))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
		key := routeKey(rec.method, segs)
		back, _, ok := parseKey(&iikanji.Row{Key: key, Web: &iikanji.WebRow{Method: "GET"}})
		again := make([]shape, len(back))
		for i := range back {
			again[i] = back[i].shape
		}
		if !ok || !reflect.DeepEqual(shapeKeys(again), shapeKeys(segs)) {
			t.Errorf("%s is read again as %q", key, shapeKeys(again))
		}
	}
}

func shapeKeys(segs []shape) (keys []string) {
	for _, s := range segs {
		keys = append(keys, s.key())
	}
	return keys
}

// TestAllHex compares with a byte-by-byte test.
func TestAllHex(t *testing.T) {
	for c := range 256 {
		for at := range 8 {
			x := uint64(0x3041463966613539) &^ (0xff << (8 * at)) // eight hex digits
			x |= uint64(c) << (8 * at)
			want := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
			if allHex(x) != want {
				t.Fatalf("byte %d at %d: %v", c, at, !want)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	for i, m := range methods[1:] {
		if methodOf([]byte(m)) != method(i+1) {
			t.Errorf("%s is %v", m, methodOf([]byte(m)))
		}
	}
	for _, m := range []string{"", "get", "GETT", "FOO", "?"} {
		if methodOf([]byte(m)) != 0 {
			t.Errorf("%q is %v", m, methodOf([]byte(m)))
		}
	}
}
