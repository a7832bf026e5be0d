package isuumo_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isuumo"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

var pagePaths = []string{"/", "/chair/search", "/chair/detail", "/estate/search", "/estate/detail", "/estate/nazotte"}

// testPages checks that nginx serves every page and every static file, with
// their types, and nothing else.
func testPages(t *testing.T) {
	a, _ := arena.Find("isuumo")
	g := site.NewClient(t)
	for _, path := range pagePaths {
		page := g.Get(path + "?id=1")
		page.Want(t, 200, "")
		want, err := fs.ReadFile(a.Files, filepath.Join("public", path, "index.html"))
		if err != nil || string(page.Body) != string(want) || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s is %d bytes of %s, want its file (%v)", path, len(page.Body), page.Header.Get("Content-Type"), err)
		}
	}
	kinds := map[string]string{".css": "text/css", ".js": "application/javascript", ".svg": "image/svg+xml"}
	assets, err := fs.ReadDir(a.Files, "public/assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range assets {
		file := g.Get("/assets/" + f.Name())
		if file.Want(t, 200, ""); !strings.HasPrefix(file.Header.Get("Content-Type"), kinds[filepath.Ext(f.Name())]) {
			t.Errorf("%s is %s", f.Name(), file.Header.Get("Content-Type"))
		}
	}
	for _, path := range []string{site.data.Chairs[0].Thumbnail, site.data.Estates[0].Thumbnail} {
		picture := g.Get(path)
		picture.Want(t, 200, "")
		if !strings.HasPrefix(string(picture.Body), "\x89PNG") || !strings.HasSuffix(string(picture.Body), filepath.Base(path)) {
			t.Errorf("%s is not a picture with its name at the end", path)
		}
	}
	for _, path := range []string{"/nowhere", "/chair", "/assets/", "/assets/none.js", "/go/main.go"} {
		g.Get(path).Want(t, 404, "")
	}
}

func numbers(ids []int64) []string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, fmt.Sprint(id))
	}
	return texts
}

func ids[T any](rows []T, id func(T) int64) []string { return numbers(converted(rows, id)) }

func chairID(c apiChair) int64   { return c.ID }
func estateID(e apiEstate) int64 { return e.ID }

// cards lists the ids of the cards of a kind on a page.
func cards(page, kind string) []string {
	return apptest.All(page, `data-kind="`+kind+`" data-id="(\d+)"`)
}

// sound checks that a page shows no problem.
func sound(t *testing.T, page string) {
	t.Helper()
	if strings.Contains(page, `class="problem"`) {
		t.Errorf("the page shows a problem: %.1500s", page)
	}
}

func testBrowserSearch(t *testing.T) {
	g := site.NewClient(t)
	t.Run("top", func(t *testing.T) {
		var chairs apiChairs
		g.Get("/api/chair/low_priced").Decode(t, 200, &chairs)
		var estates apiEstates
		g.Get("/api/estate/low_priced").Decode(t, 200, &estates)
		page := site.Browse(t, site.URL()+"/")
		sound(t, page)
		apptest.WantAll(t, "chairs", cards(page, "chair"), ids(chairs.Chairs, chairID))
		apptest.WantAll(t, "estates", cards(page, "estate"), ids(estates.Estates, estateID))
	})
	t.Run("chairs", func(t *testing.T) {
		query := "priceRangeId=1&color=" + url.QueryEscape(TheChairChoices().Color.List[3]) + "&page=1"
		var want apiChairPage
		g.Get("/api/chair/search?"+query+"&perPage=25").Decode(t, 200, &want)
		page := site.Browse(t, site.URL()+"/chair/search?"+query)
		sound(t, page)
		apptest.WantAll(t, "chairs", cards(page, "chair"), ids(want.Chairs, chairID))
		apptest.WantAll(t, "count", apptest.All(page, `id="count" data-count="(\d+)"`), []string{fmt.Sprint(want.Count)})
		apptest.WantAll(t, "ways", apptest.All(page, `data-page="(\d+)"`), []string{"0", "2"})
	})
	t.Run("form", func(t *testing.T) {
		// The user chooses a rent and two features, and then the second page.
		features := []string{"駐車場", "庭つき"}
		server := site.Driven(t, `
			const wait = setInterval(() => {
				const form = document.getElementById('conditions')
				if (!form.elements.rentRangeId) return
				clearInterval(wait)
				form.querySelector('[name=rentRangeId][value="2"]').click()
				form.querySelector('[name=features][value="`+features[0]+`"]').click()
				form.requestSubmit()
				const next = setInterval(() => {
					const button = document.querySelector('button[data-page="1"]')
					if (button) { clearInterval(next); button.click() }
				}, 50)
			}, 50)`)
		var want apiEstatePage
		g.Get("/api/estate/search?rentRangeId=2&features="+url.QueryEscape(features[0])+"&page=1&perPage=25").Decode(t, 200, &want)
		page := site.Browse(t, server.URL+"/estate/search")
		sound(t, page)
		if len(want.Estates) == 0 {
			t.Fatal("there is no second page")
		}
		apptest.WantAll(t, "estates", cards(page, "estate"), ids(want.Estates, estateID))
	})
	t.Run("nothing chosen", func(t *testing.T) {
		page := site.Browse(t, site.Driven(t, `
			const wait = setInterval(() => {
				const form = document.getElementById('conditions')
				if (form.elements.priceRangeId) { clearInterval(wait); form.requestSubmit() }
			}, 50)`).URL+"/chair/search")
		sound(t, page)
		if !strings.Contains(page, "条件を一つ以上選んでください") {
			t.Error("nothing asks for a condition")
		}
	})
}

func testBrowserDetail(t *testing.T) {
	g := site.NewClient(t)
	t.Run("chair", func(t *testing.T) {
		chair := site.data.Chairs[41]
		var want apiEstates
		g.Get(path("/api/recommended_estate/%d", chair.ID)).Decode(t, 200, &want)
		page := site.Browse(t, site.URL()+path("/chair/detail?id=%d", chair.ID))
		sound(t, page)
		if !strings.Contains(page, "<h1>"+chair.Name+"</h1>") || !strings.Contains(page, chair.Description) || !strings.Contains(page, `src="`+chair.Thumbnail+`"`) {
			t.Errorf("the page does not show chair %+v", chair)
		}
		apptest.WantAll(t, "estates", cards(page, "estate"), ids(want.Estates, estateID))
	})
	t.Run("documents", func(t *testing.T) {
		estate := site.data.Estates[7]
		page := site.Browse(t, site.Driven(t, `
			const wait = setInterval(() => {
				const form = document.querySelector('form.mail')
				if (!form) return
				clearInterval(wait)
				form.elements.email.value = 'isu@example.com'
				form.requestSubmit()
			}, 50)`).URL+path("/estate/detail?id=%d", estate.ID))
		sound(t, page)
		if !strings.Contains(page, "<h1>"+estate.Name+"</h1>") || !strings.Contains(page, estate.Address) || !strings.Contains(page, `id="done"`) {
			t.Errorf("the page does not show that documents of %+v were asked for: %.2000s", estate, page)
		}
	})
	t.Run("missing", func(t *testing.T) {
		page := site.Browse(t, site.URL()+"/chair/detail?id=999999")
		if !strings.Contains(page, "見つかりませんでした") {
			t.Errorf("a chair that does not exist: %.1000s", page)
		}
	})
}

// testBrowserNazotte draws a triangle on the map with the mouse.
func testBrowserNazotte(t *testing.T) {
	page := site.Browse(t, site.Driven(t, `
		const wait = setInterval(() => {
			const map = document.getElementById('map')
			if (!map?.viewBox.baseVal?.width) return
			clearInterval(wait)
			const matrix = map.getScreenCTM()
			const shrink = Math.cos(36 * Math.PI / 180)
			const mouse = (kind, [latitude, longitude]) => {
				const at = new DOMPoint(longitude * shrink, -latitude).matrixTransform(matrix)
				map.dispatchEvent(new PointerEvent(kind, { clientX: at.x, clientY: at.y, pointerId: 1, bubbles: true }))
			}
			mouse('pointerdown', [35.6, 139.2])
			mouse('pointermove', [35.6, 139.5])
			mouse('pointermove', [35.75, 139.2])
			mouse('pointerup', [35.75, 139.2])
		}, 50)`).URL+"/estate/nazotte")
	sound(t, page)
	// A pixel of the mouse is about 0.005 degrees: what is well inside must be there,
	// if it is popular enough, and nothing from well outside.
	depth := func(e Estate) float64 {
		return min(e.Latitude-35.6, e.Longitude-139.2, (1-(e.Latitude-35.6)/.15-(e.Longitude-139.2)/.3)*.134)
	}
	got := cards(page, "estate")
	near := sorted(site.data.Estates, func(e Estate) bool { return depth(e) > -0.01 }, morePopularEstate)
	surely := 0
	for i, e := range near {
		shown := slices.Contains(got, fmt.Sprint(e.ID))
		if depth(e) > 0.01 && i < 50 {
			if surely++; !shown {
				t.Errorf("estate %d at %v, %v is not shown", e.ID, e.Latitude, e.Longitude)
			}
		}
	}
	if surely < 20 || len(got) > 50 {
		t.Errorf("%d estates are surely inside and %d shown, want over 20 and up to 50", surely, len(got))
	}
	for _, id := range got {
		if !slices.ContainsFunc(near, func(e Estate) bool { return fmt.Sprint(e.ID) == id }) {
			t.Errorf("estate %s is shown and far outside", id)
		}
	}
	apptest.WantAll(t, "points on the map", apptest.All(page, `class="found"[^>]* data-id="(\d+)"`), got)
}

// TestMap compares the map's towns with those of the data.
func TestMap(t *testing.T) {
	tier.Slow(t)
	a, _ := arena.Find("isuumo")
	script, err := fs.ReadFile(a.Files, "public/assets/map.js")
	if err != nil {
		t.Fatal(err)
	}
	apptest.WantAll(t, "towns", apptest.All(string(script), `\{ (name: '[^}]*) \}`), TheCities())
}
