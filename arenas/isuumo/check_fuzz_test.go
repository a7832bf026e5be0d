package isuumo

import (
	"encoding/json"
	"testing"
)

// FuzzAnswers gives any body to every check. None may panic, and a row that a
// check accepts is the model's, as another JSON reader reads it.
func FuzzAnswers(f *testing.F) {
	w := testWorld()
	q := &query{size: 10, conditions: []condition{{"rentRangeId", "0", w.estates.rent[0]}}}
	for _, v := range []any{showChair(w.chairs.all[0]), showEstate(w.estates.all[0]),
		map[string]any{"count": 1, "chairs": w.shownChairs([]int32{0, 1}), "estates": w.shownEstates([]int32{0})}} {
		text, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"count":-1,"estates":null,"chairs":[{"id":9223372036854775807}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		res := textAnswer(200, "application/json", string(body))
		if found, err := w.checkChair(res, 0, 1); found && err == nil {
			wantSameRow(t, body, showChair(w.chairs.all[0]))
		}
		if w.checkEstate(res, 0) == nil {
			wantSameRow(t, body, showEstate(w.estates.all[0]))
		}
		w.checkChairSearch(res, q, 1)
		w.checkEstateSearch(res, q)
		w.checkChairLow(res, 1)
		w.checkEstateLow(res)
		w.checkRecommended(res, 0)
		w.checkNazotte(res, square)
		readIDs(res, "chairs")
	})
}

// wantSameRow compares the fields of a row, except that coordinates have a
// margin.
func wantSameRow(t *testing.T, body []byte, row any) {
	t.Helper()
	var got, want map[string]any
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("accepted what is not JSON: %v", err)
	}
	for name, v := range want {
		if name != "latitude" && name != "longitude" && got[name] != v {
			t.Errorf("accepted %s %v, want %v", name, got[name], v)
		}
	}
}
