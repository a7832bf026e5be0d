package isucondition_test

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"hash/crc32"
	"io/fs"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

// The objects of the API, with the field names of the rules.
type (
	apiISU struct {
		ID        int    `json:"id"`
		UUID      string `json:"jia_isu_uuid"`
		Name      string `json:"name"`
		Character string `json:"character"`
	}
	apiCondition struct {
		UUID      string `json:"jia_isu_uuid"`
		ISUName   string `json:"isu_name"`
		Timestamp int64  `json:"timestamp"`
		IsSitting bool   `json:"is_sitting"`
		Condition string `json:"condition"`
		Level     string `json:"condition_level"`
		Message   string `json:"message"`
	}
	apiListItem struct {
		apiISU
		Latest *apiCondition `json:"latest_isu_condition"`
	}
	apiTrend struct {
		Character string          `json:"character"`
		Info      []apiTrendPoint `json:"info"`
		Warning   []apiTrendPoint `json:"warning"`
		Critical  []apiTrendPoint `json:"critical"`
	}
	apiTrendPoint struct {
		ID        int   `json:"isu_id"`
		Timestamp int64 `json:"timestamp"`
	}
)

func fileOf(t *testing.T, name string) ([]byte, error) {
	t.Helper()
	a, _ := arena.Find("isucondition")
	return fs.ReadFile(a.Files, name)
}

func isuOf(isu ISU) apiISU { return apiISU{isu.ID, isu.UUID, isu.Name, isu.Character} }

func conditionOf(isu ISU, c Condition) apiCondition {
	return apiCondition{isu.UUID, isu.Name, c.Timestamp, c.IsSitting, c.Flags.Condition(), c.Level().String(), c.Message}
}

func testLists(t *testing.T) {
	c := fresh(t)
	for _, user := range c.data.Users {
		g := signedIn(t, user.ID)
		var list []apiListItem
		g.Get("/api/isu").Decode(t, 200, &list)
		if len(list) != len(user.ISUs) {
			t.Fatalf("%s has %d ISUs, want %d", user.ID, len(list), len(user.ISUs))
		}
		for i, isu := range slices.Backward(user.ISUs) {
			got := list[len(user.ISUs)-1-i]
			if got.apiISU != isuOf(isu) {
				t.Errorf("%s: ISU %+v, want %+v", user.ID, got.apiISU, isuOf(isu))
			}
			if want := conditionOf(isu, isu.Conditions[len(isu.Conditions)-1]); got.Latest == nil || *got.Latest != want {
				t.Errorf("%s: newest condition %+v, want %+v", user.ID, got.Latest, want)
			}
			var one apiISU
			g.Get("/api/isu/"+isu.UUID).Decode(t, 200, &one)
			if one != isuOf(isu) {
				t.Errorf("detail %+v, want %+v", one, isuOf(isu))
			}
			icon := g.Get("/api/isu/" + isu.UUID + "/icon")
			if icon.Want(t, 200, ""); md5.Sum(icon.Body) != isu.Image {
				t.Errorf("icon of ISU %d is another one", isu.ID)
			}
		}
	}
	none := signedIn(t, "isucon").Get("/api/isu")
	if none.Want(t, 200, ""); strings.TrimSpace(string(none.Body)) != "[]" {
		t.Errorf("the list of a user without ISU is %q, want []", none.Body)
	}
}

func testForeign(t *testing.T) {
	c := fresh(t)
	g := signedIn(t, "isucon1")
	for _, uuid := range []string{c.data.Users[1].ISUs[0].UUID, "00000000-0000-4000-8000-000000000000", "x"} {
		for _, path := range []string{"/api/isu/%s", "/api/isu/%s/icon", "/api/isu/%s/graph?datetime=1", "/api/condition/%s?end_time=1&condition_level=info"} {
			g.Get(fmt.Sprintf(path, uuid)).Want(t, 404, "not found: isu")
		}
	}
}

// form builds a registration request. With a nil image it has no file.
func form(t *testing.T, uuid, name string, image []byte) apptest.Edit {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, err := range []error{w.WriteField("jia_isu_uuid", uuid), w.WriteField("isu_name", name)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if image != nil {
		part, err := w.CreateFormFile("image", "isu.jpg")
		if err == nil {
			_, err = part.Write(image)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return apptest.WithBody(w.FormDataContentType(), b.String())
}

func testRegisters(t *testing.T) {
	c := fresh(t)
	g := signedIn(t, "isucon")
	const first, second = "a0000000-0000-4000-8000-000000000001", "a0000000-0000-4000-8000-000000000002"

	var isu apiISU
	g.Send("POST", "/api/isu", form(t, first, "いす🪑", nil)).Decode(t, http.StatusCreated, &isu)
	if want := (apiISU{29, first, "いす🪑", Labels[3]}); isu != want {
		t.Errorf("registered %+v, want %+v", isu, want)
	}
	image := c.data.Image(7).Bytes
	g.Send("POST", "/api/isu", form(t, second, "写真つき", image)).Decode(t, http.StatusCreated, &isu)

	if icon := g.Get("/api/isu/" + first + "/icon"); !bytes.Equal(icon.Body, c.data.NoImage.Bytes) {
		t.Errorf("without a photo the icon has %d bytes, want the default", len(icon.Body))
	}
	if icon := g.Get("/api/isu/" + second + "/icon"); !bytes.Equal(icon.Body, image) {
		t.Error("the icon is not the photo")
	}
	var list []apiListItem
	g.Get("/api/isu").Decode(t, 200, &list)
	if len(list) != 2 || list[0].UUID != second || list[1].UUID != first || list[0].Latest != nil {
		t.Errorf("list after registering: %+v", list)
	}

	g.Send("POST", "/api/isu", form(t, first, "again", nil)).Want(t, 409, "duplicated: isu")
	signedIn(t, "isucon2").Send("POST", "/api/isu", form(t, first, "mine", nil)).Want(t, 409, "duplicated: isu")
	for _, status := range []int{400, 404, 403, 503} {
		uuid := fmt.Sprintf("%d00000-0000-4000-8000-000000000001", status)
		g.Send("POST", "/api/isu", form(t, uuid, "refused", nil)).Want(t, status, "JIAService returned error")
		g.Get("/api/isu/"+uuid).Want(t, 404, "not found: isu")
	}
	g.Send("POST", "/api/isu", form(t, "b-unknown", "x", nil)).Want(t, 404, "JIAService returned error")
	g.Send("POST", "/api/isu", apptest.WithBody("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.jpg\"\r\n\r\ncut off")).Want(t, 400, "bad format: icon")
	g.Send("POST", "/api/isu", apptest.WithBody("text/plain", "nothing")).Want(t, 400, "bad format: icon")

	c.jia.CloseClientConnections()
	contest.NewClient(t).Send("POST", "/initialize", apptest.WithJSON(map[string]string{"jia_service_url": "http://127.0.0.1:1"})).Want(t, 200, "")
	g = signedIn(t, "isucon")
	g.Send("POST", "/api/isu", form(t, first, "JIA is away", nil)).WantEmpty(t, 500)
	g.Get("/api/isu/"+first).Want(t, 404, "not found: isu")
}

func testTrend(t *testing.T) {
	c := fresh(t)
	var trend []apiTrend
	contest.NewClient(t).Get("/api/trend").Decode(t, 200, &trend)
	got := map[string]string{}
	for _, group := range trend {
		if _, twice := got[group.Character]; twice || group.Info == nil || group.Warning == nil || group.Critical == nil {
			t.Errorf("group %+v: twice, or a list is null", group)
		}
		got[group.Character] = fmt.Sprint(group.Info, group.Warning, group.Critical)
	}
	if len(got) != Characters {
		t.Errorf("%d characters, want %d", len(got), Characters)
	}
	want := map[string]*[Critical + 1][]apiTrendPoint{}
	for _, u := range c.data.Users {
		for _, isu := range u.ISUs {
			newest := isu.Conditions[len(isu.Conditions)-1]
			if want[isu.Character] == nil {
				want[isu.Character] = &[Critical + 1][]apiTrendPoint{}
			}
			list := &want[isu.Character][newest.Level()]
			*list = append(*list, apiTrendPoint{isu.ID, newest.Timestamp})
		}
	}
	for character, lists := range want {
		for _, l := range lists {
			slices.SortFunc(l, func(a, b apiTrendPoint) int { return int(b.Timestamp - a.Timestamp) })
		}
		if w := fmt.Sprint(lists[Info], lists[Warning], lists[Critical]); got[character] != w {
			t.Errorf("trend of %s: %s, want %s", character, got[character], w)
		}
	}

	// An ISU without conditions appears in no list of the trend.
	signedIn(t, "isucon").Send("POST", "/api/isu", form(t, "a-silent", "黙", nil)).Want(t, 201, "")
	again := contest.NewClient(t).Get("/api/trend")
	if strings.Contains(string(again.Body), `"isu_id":29`) {
		t.Error("an ISU without conditions is in the trend")
	}
}

func testPages(t *testing.T) {
	c := fresh(t)
	g := contest.NewClient(t)
	for _, path := range []string{"/", "/register", "/isu/x", "/isu/x/condition", "/isu/x/graph"} {
		page := g.Get(path)
		page.Want(t, 200, "")
		if kind := page.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
			t.Errorf("%s: content type %q", path, kind)
		}
		if crc32.ChecksumIEEE(page.Body) != c.data.Assets[0].CRC32 {
			t.Errorf("%s is not index.html", path)
		}
	}
	kinds := map[string]string{".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
	for _, a := range c.data.Assets[1:] {
		file := g.Get(a.Path)
		file.Want(t, 200, "")
		if got := crc32.ChecksumIEEE(file.Body); got != a.CRC32 {
			t.Errorf("%s: CRC32 %08x, want %08x", a.Path, got, a.CRC32)
		}
		if kind := kinds[a.Path[strings.LastIndex(a.Path, "."):]]; !strings.HasPrefix(file.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: content type %q, want %s", a.Path, file.Header.Get("Content-Type"), kind)
		}
		if file.Header.Get("Cache-Control") != "" || file.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is tuned: %v", a.Path, file.Header)
		}
	}
	g.Get("/assets/none.js").Want(t, 404, "")
	g.Get("/nowhere").Want(t, 404, "")
}

// testOtherPaths checks the answers to paths and methods that the API does not have.
func testOtherPaths(t *testing.T) {
	fresh(t)
	g := contest.NewClient(t)
	for endpoint, want := range map[string]struct {
		status  int
		message string
	}{
		"GET /api/nowhere":     {404, "Not Found"},
		"GET /api/isu/x/y":     {404, "Not Found"},
		"GET /Api/trend":       {404, "Not Found"},
		"DELETE /api/trend":    {405, "Method Not Allowed"},
		"GET /initialize":      {405, "Method Not Allowed"},
		"PUT /api/user/me":     {405, "Method Not Allowed"},
		"POST /register":       {405, "Method Not Allowed"},
		"PUT /api/condition/x": {405, "Method Not Allowed"},
	} {
		method, path, _ := strings.Cut(endpoint, " ")
		var answer struct{ Message string }
		g.Send(method, path).Decode(t, want.status, &answer)
		if answer.Message != want.message {
			t.Errorf("%s: message %q, want %q", endpoint, answer.Message, want.message)
		}
	}
}
