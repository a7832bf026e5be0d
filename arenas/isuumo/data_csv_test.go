package isuumo

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// FuzzReadRows checks that what is read as rows is the same when it is written
// and read again.
func FuzzReadRows(f *testing.F) {
	f.Add("1,n,d,/t.png,1000,30,40,50,c,\"f,g\",k,3000,1\n", false)
	f.Add("1,n,\"d\nd\",/t.png,a,35.5,139.25,30000,100,90,,3000\n", true)
	f.Fuzz(func(t *testing.T, text string, estates bool) {
		if estates {
			wantSameAgain(t, text, readEstates, writeEstates)
		} else {
			wantSameAgain(t, text, readChairs, writeChairs)
		}
	})
}

func wantSameAgain[T any](t *testing.T, text string, read func(io.Reader) ([]T, error), write func(io.Writer, []T) error) {
	t.Helper()
	rows, err := read(strings.NewReader(text))
	if err != nil {
		return
	}
	var b bytes.Buffer
	if err := write(&b, rows); err != nil {
		t.Fatal(err)
	}
	again, err := read(&b)
	if err != nil || fmt.Sprintf("%#v", again) != fmt.Sprintf("%#v", rows) {
		t.Errorf("read %#v, and again %#v (%v)", rows, again, err)
	}
}

// TestReadRowsRefuses checks that damaged rows are an error.
func TestReadRowsRefuses(t *testing.T) {
	const good = "1,n,d,/t.png,1000,30,40,50,c,f,k,3000,1\n"
	for _, text := range []string{good + "2,n\n", strings.Replace(good, "1000", "x", 1), strings.Replace(good, ",1\n", ",1,2\n", 1), good + "\"", strings.Replace(good, "3000", "", 1)} {
		if rows, err := readChairs(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read as %v", text, rows)
		}
	}
	if rows, err := readChairs(strings.NewReader(good)); err != nil || len(rows) != 1 || rows[0].Stock != 1 {
		t.Errorf("%q is read as %v (%v)", good, rows, err)
	}
}
