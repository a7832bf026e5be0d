package fire

import (
	"encoding/json"
	"net/http"

	gojson "github.com/goccy/go-json"
)

type item struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

type page struct {
	Items []item
	Next  int
}

type context struct{ r *http.Request }

func (c *context) Request() *http.Request       { return c.r }
func (c *context) JSON(status int, v any) error { return nil }
func load() []item                              { return nil }
func raw(v any) ([]byte, error)                 { return gojson.Marshal(v) }

func List(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(load()) // want `a list is encoded by encoding/json; use github.com/goccy/go-json`
}

func Marshal(w http.ResponseWriter, r *http.Request) {
	b, err := json.Marshal(load()) // want `use github.com/goccy/go-json`
	if err != nil {
		return
	}
	w.Write(b)
}

func Page(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(page{Items: load()}) // want `a list is encoded`
}

func Pointer(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(&page{Items: load()}) // want `a list is encoded`
}

func Pointers(w http.ResponseWriter, r *http.Request) {
	var out []*item
	if err := json.NewEncoder(w).Encode(out); err != nil { // want `a list is encoded`
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func Numbers(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode([]int{1, 2}) // want `a list is encoded`
}

func Nested(w http.ResponseWriter, r *http.Request) {
	var v struct{ Page page }
	json.NewEncoder(w).Encode(v) // want `a list is encoded`
}

func write(w http.ResponseWriter, items []item) error {
	return json.NewEncoder(w).Encode(items) // want `a list is encoded`
}

func Helper(w http.ResponseWriter, r *http.Request) {
	if write(w, load()) != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func Handler() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(load()) // want `a list is encoded`
	}
}

func Twice(w http.ResponseWriter, r *http.Request) {
	a, _ := json.Marshal(load()) // want `a list is encoded`
	b, _ := json.Marshal(page{}) // want `a list is encoded`
	w.Write(append(a, b...))
}

func Framework(c *context) error {
	return c.JSON(http.StatusOK, load()) // want `set a faster encoder in the framework`
}
