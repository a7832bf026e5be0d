package isucondition

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

type testISU struct {
	ID        int64  `json:"id"`
	UUID      string `json:"jia_isu_uuid"`
	Name      string `json:"name"`
	Character string `json:"character"`
}

type testListed struct {
	testISU
	Latest *testCondition `json:"latest_isu_condition"`
}

// testOwned returns three chairs, newest first. The second has never posted.
func testOwned() (chairs []*chair) {
	for i, n := range []int{5, 0, 9} {
		c := testChair(n)
		c.uuid = c.uuid[:35] + string(rune('a'+i))
		c.id.Store(int64(30 - i))
		chairs = append(chairs, c)
	}
	return chairs
}

func shownISU(c *chair) testISU { return testISU{c.id.Load(), c.uuid, c.name, Labels[c.character]} }

// listOf returns a correct answer with the newest conditions.
func listOf(chairs []*chair) (list []testListed) {
	for _, c := range chairs {
		l := testListed{testISU: shownISU(c)}
		if n := c.past.len(); n > 0 {
			k := c.shown(n - 1)
			l.Latest = &k
		}
		list = append(list, l)
	}
	return list
}

func TestCheckISU(t *testing.T) {
	c := testChair(0)
	for _, k := range []struct {
		check, says string
		spoil       func(i *testISU)
	}{
		{"", "right", func(*testISU) {}},
		{"isu-uuid", "another ISU", func(i *testISU) { i.UUID = "x" }},
		{"isu-name", "another name", func(i *testISU) { i.Name += "。" }},
		{"isu-character", "another character", func(i *testISU) { i.Character = Labels[4] }},
		{"isu-character", "no character", func(i *testISU) { i.Character = "" }},
		{"isu-id", "another id", func(i *testISU) { i.ID++ }},
		{"isu-id", "no id", func(i *testISU) { i.ID = 0 }},
	} {
		shown := shownISU(c)
		k.spoil(&shown)
		_, err := checkISU(answer(t, shown), 200, c)
		wantFault(t, k.says, err, k.check)
	}
	shown := shownISU(c)
	c.id.Store(0)
	id, err := checkISU(answer(t, shown), 200, c)
	wantFault(t, "an id that is news", err, "")
	if id != 42 {
		t.Errorf("id %d, want 42", id)
	}
}

func TestCheckList(t *testing.T) {
	chairs := testOwned()
	var latest []int64
	err := checkList(answer(t, listOf(chairs)), chairs, true, func(_ int, ts int64) { latest = append(latest, ts) })
	wantFault(t, "right", err, "")
	if !slices.Equal(latest, []int64{testStart + 4*60, 0, testStart + 8*60}) {
		t.Errorf("latest %v", latest)
	}
	older := listOf(chairs)
	k := chairs[2].shown(3)
	older[0].Latest, older[2].Latest = nil, &k
	wantFault(t, "null and an older one, under load", checkList(answer(t, older), chairs, false, nil), "")
	wantFault(t, "null and an older one, exactly", checkList(answer(t, older), chairs, true, nil), "list-latest")
}

func TestCheckListWrong(t *testing.T) {
	for _, k := range []struct {
		check, says string
		spoil       func(l []testListed) []testListed
	}{
		{"list-length", "one missing", func(l []testListed) []testListed { return l[:2] }},
		{"list-length", "one more", func(l []testListed) []testListed { return append(l, l[0]) }},
		{"list-uuid", "oldest first", func(l []testListed) []testListed { slices.Reverse(l); return l }},
		{"list-name", "another name", func(l []testListed) []testListed { l[1].Name = ""; return l }},
		{"list-character", "another character", func(l []testListed) []testListed { l[1].Character = Labels[0]; return l }},
		{"list-id", "another id", func(l []testListed) []testListed { l[1].ID = 1; return l }},
		{"list-isu", "condition of another ISU", func(l []testListed) []testListed { l[0].Latest = l[2].Latest; return l }},
		{"list-unknown", "condition never posted", func(l []testListed) []testListed { l[0].Latest.TS++; return l }},
		{"list-altered", "another message", func(l []testListed) []testListed { l[0].Latest.Message = ""; return l }},
		{"list-level", "another level", func(l []testListed) []testListed { l[0].Latest.Level = "critical"; return l }},
		{"list-fields", "condition without fields", nil},
	} {
		chairs := testOwned()
		var res *scenario.Response
		if k.spoil != nil {
			res = answer(t, k.spoil(listOf(chairs)))
		} else {
			res = answer(t, []any{map[string]any{"id": 30, "jia_isu_uuid": chairs[0].uuid, "name": chairs[0].name,
				"character": Labels[3], "latest_isu_condition": map[string]any{"timestamp": testStart}}})
			chairs = chairs[:1]
		}
		wantFault(t, k.says, checkList(res, chairs, false, nil), k.check)
	}
	chairs := testOwned()[:1]
	wantFault(t, "no latest_isu_condition at all", checkList(answer(t, []testISU{shownISU(chairs[0])}), chairs, false, nil), "list-latest")
}
