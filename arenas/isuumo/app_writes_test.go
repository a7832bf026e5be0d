package isuumo_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isuumo"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

var email = apptest.WithJSON(map[string]string{"email": "isu@example.com"})

// wrongEmails are bodies with the status that each is refused with.
var wrongEmails = map[string]int{
	`{}`: 400, `{"email":1}`: 400, `{"email":null}`: 400, `{"mail":"x"}`: 400,
	`{"email":`: 500, `x`: 500, ``: 500, `[]`: 500,
}

func testDocuments(t *testing.T) {
	g := site.NewClient(t)
	const path = "/api/estate/req_doc/"
	g.Send(http.MethodPost, path+"29500", email).WantEmpty(t, 200)
	g.Send(http.MethodPost, path+"29501", email).WantEmpty(t, 404)
	g.Send(http.MethodPost, path+"x", email).WantEmpty(t, 400)
	for body, status := range wrongEmails {
		g.Send(http.MethodPost, path+"1", apptest.WithBody("application/json", body)).WantEmpty(t, status)
	}
}

func testBuys(t *testing.T) {
	g := site.NewClient(t)
	var chair Chair
	for _, c := range site.data.Chairs { // the cheapest with two in stock
		if c.Stock == 2 && (chair.ID == 0 || c.Price < chair.Price) {
			chair = c
		}
	}
	buy := path("/api/chair/buy/%d", chair.ID)
	for body, status := range wrongEmails {
		g.Send(http.MethodPost, buy, apptest.WithBody("application/json", body)).WantEmpty(t, status)
	}
	listed := func() bool {
		var page apiChairPage
		g.Get(path("/api/chair/search?priceRangeId=0&page=0&perPage=%d", len(site.data.Chairs))).Decode(t, 200, &page)
		for _, c := range page.Chairs {
			if c.ID == chair.ID {
				return true
			}
		}
		return false
	}
	g.Send(http.MethodPost, buy, email).WantEmpty(t, 200)
	g.Get(path("/api/chair/%d", chair.ID)).Want(t, 200, "")
	if !listed() {
		t.Error("a chair in stock is not listed")
	}
	g.Send(http.MethodPost, buy, email).WantEmpty(t, 200)
	g.Get(path("/api/chair/%d", chair.ID)).WantEmpty(t, 404)
	g.Send(http.MethodPost, buy, email).WantEmpty(t, 404)
	g.Get(path("/api/recommended_estate/%d", chair.ID)).Want(t, 200, "") // whatever the stock
	if listed() {
		t.Error("a chair that is sold out is listed")
	}
	if n := count(t, "SELECT stock FROM chair WHERE id = ?", chair.ID); n != 0 {
		t.Errorf("%d left in stock, want 0", n)
	}
	g.Send(http.MethodPost, "/api/chair/buy/0", email).WantEmpty(t, 404)
	g.Send(http.MethodPost, "/api/chair/buy/x", email).WantEmpty(t, 400)
}

// upload builds a form with a CSV file.
func upload(t *testing.T, field string, write func(io.Writer) error) apptest.Edit {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile(field, field+".csv")
	if err == nil {
		err = write(part)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return apptest.WithBody(w.FormDataContentType(), b.String())
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func testPosts(t *testing.T) {
	g := site.NewClient(t)
	chairs, estates := site.data.VerifyChairs, site.data.VerifyEstates
	if len(chairs) != 500 || len(estates) != 500 || chairs[0].Stock != 1 {
		t.Fatalf("%d chairs, the first with a stock of %d, and %d estates; want 500, 1, 500", len(chairs), chairs[0].Stock, len(estates))
	}
	g.Get(path("/api/chair/%d", chairs[0].ID)).WantEmpty(t, 404)
	g.Send(http.MethodPost, "/api/chair", upload(t, "chairs", func(w io.Writer) error { return WriteChairs(w, chairs) })).WantEmpty(t, 201)
	g.Send(http.MethodPost, "/api/estate", upload(t, "estates", func(w io.Writer) error { return WriteEstates(w, estates) })).WantEmpty(t, 201)
	for _, i := range []int{0, 499} {
		var chair apiChair
		g.Get(path("/api/chair/%d", chairs[i].ID)).Decode(t, 200, &chair)
		if want := chairOf(chairs[i]); chair != want {
			t.Errorf("posted chair %+v, want %+v", chair, want)
		}
		var estate apiEstate
		g.Get(path("/api/estate/%d", estates[i].ID)).Decode(t, 200, &estate)
		if want := estateOf(estates[i]); estate != want {
			t.Errorf("posted estate %+v, want %+v", estate, want)
		}
	}
	testBadPosts(t, g)
}

// testBadPosts checks that a refused file leaves no row.
func testBadPosts(t *testing.T, g *apptest.Client) {
	t.Helper()
	const chair, estate = "70001,n,d,t,1,2,3,4,c,f,k,5,6\n", "70001,n,d,t,a,1.5,2.5,3,4,5,f,6\n"
	for _, c := range []struct {
		name, path, field, csv string
		status                 int
	}{
		{"wrong field", "/api/chair", "estates", chair, 400},
		{"wrong field", "/api/estate", "chairs", estate, 400},
		{"too few fields", "/api/chair", "chairs", chair + "70002,n\n", 400},
		{"too few fields", "/api/estate", "estates", estate + "70002,n\n", 400},
		{"a price of letters", "/api/chair", "chairs", chair + strings.Replace(chair, ",1,", ",x,", 1), 400},
		{"a latitude of letters", "/api/estate", "estates", estate + strings.Replace(estate, "1.5", "x", 1), 400},
		{"broken CSV", "/api/chair", "chairs", chair + "70002,\"n", 500},
		{"broken CSV", "/api/estate", "estates", estate + "70002,a\"b\n", 500},
		{"an id twice", "/api/chair", "chairs", chair + chair, 500},
		{"an id of an earlier row", "/api/estate", "estates", estate + strings.Replace(estate, "70001", "1", 1), 500},
	} {
		t.Run(c.name+" "+c.path, func(t *testing.T) {
			g.Send(http.MethodPost, c.path, upload(t, c.field, text(c.csv))).WantEmpty(t, c.status)
			g.Get(c.path+"/70001").WantEmpty(t, 404)
		})
	}
	g.Send(http.MethodPost, "/api/chair", apptest.WithBody("text/plain", chair)).WantEmpty(t, 400)
}
