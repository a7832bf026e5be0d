package still

import (
	"encoding/json"
	"net/http"
	"os"
)

type user struct {
	ID    int
	Image []byte
	list  []int
}

type private struct{ list []user }

func One(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(user{ID: 1})
}

func Bytes(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode([]byte("x"))
}

func Number(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(1)
}

func Text(w http.ResponseWriter, r *http.Request) {
	b, _ := json.Marshal("text")
	w.Write(b)
}

func Unexported(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(private{})
}

func Start() error {
	return json.NewEncoder(os.Stdout).Encode([]user{})
}

func Decode(w http.ResponseWriter, r *http.Request) {
	var v []user
	json.NewDecoder(r.Body).Decode(&v)
}

func Unmarshal(w http.ResponseWriter, r *http.Request) {
	var v []user
	json.Unmarshal([]byte("[]"), &v)
}

func Map(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(map[string]string{"language": "go"})
}

type encoder struct{}

func (encoder) Encode(v any) error { return nil }

func Other(w http.ResponseWriter, r *http.Request) {
	encoder{}.Encode([]user{})
}

// The encoder is kept: its settings are not known here.
func Kept(w http.ResponseWriter, r *http.Request) {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.Encode([]user{})
}

// There is no other encoder in this application.
func Hint(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode([]user{}) // want `none is a module of the application yet`
}
