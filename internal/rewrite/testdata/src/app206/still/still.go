package still

import (
	"database/sql"
	"encoding/json"
	"html/template"
	"net/http"
	"os"
	"regexp"
	"sync"
	"time"
)

var (
	once  sync.Once
	page  *template.Template
	ready = regexp.MustCompile("ready")
	lazy  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("lazy") })
)

// The pattern depends on the request.
func Search(w http.ResponseWriter, r *http.Request) {
	re := regexp.MustCompile(regexp.QuoteMeta(r.URL.Query().Get("q")))
	w.Write(re.Find([]byte("text")))
}

// It is made once already.
func Once(w http.ResponseWriter, r *http.Request) {
	once.Do(func() { page = template.Must(template.New("p").Parse("x")) })
	page.Execute(w, nil)
	_ = ready.MatchString(r.URL.Path) && lazy().MatchString(r.URL.Path)
}

// It is kept in a package variable.
func Kept(w http.ResponseWriter, r *http.Request) {
	if page == nil {
		page = template.Must(template.New("p").Parse("x"))
	}
	page.Execute(w, nil)
}

// A middleware runs when the routes are set up.
func Middleware(next http.Handler) http.Handler {
	re := regexp.MustCompile("^/api/")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if re.MatchString(r.URL.Path) {
			next.ServeHTTP(w, r)
		}
	})
}

// A template that is changed after it was parsed.
func Changed(w http.ResponseWriter, r *http.Request) {
	t := template.Must(template.New("a").Parse("a"))
	t.New("b").Parse(r.URL.Path)
	t.Execute(w, nil)
}

// The bytes are written to.
func Written(w http.ResponseWriter, r *http.Request) {
	b, err := os.ReadFile("head")
	if err != nil {
		return
	}
	b[0] = 'x'
	w.Write(b)
}

// The bytes are passed to code that may keep or change them.
func Passed(w http.ResponseWriter, r *http.Request) {
	b, err := os.ReadFile("head")
	if err != nil {
		return
	}
	shuffle(b)
	w.Write(b)
}

func shuffle(b []byte) { b[0], b[1] = b[1], b[0] }

// The app writes the file itself.
func Notice(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		os.WriteFile("notice.txt", []byte("new"), 0o600)
	}
	b, err := os.ReadFile("notice.txt")
	if err != nil {
		return
	}
	w.Write(b)
}

// The path depends on the request.
func File(w http.ResponseWriter, r *http.Request) {
	b, err := os.ReadFile("files/" + r.PathValue("name"))
	if err != nil {
		return
	}
	w.Write(b)
}

// A start that no request reaches.
func Start() (*time.Location, error) {
	return time.LoadLocation("Asia/Tokyo")
}

// A client without a transport of its own shares all connections.
func Client(w http.ResponseWriter, r *http.Request) {
	client := &http.Client{Timeout: time.Second}
	if res, err := client.Get("http://127.0.0.1/"); err == nil {
		res.Body.Close()
	}
}

// The value is not constant.
func Encoded(w http.ResponseWriter, r *http.Request) {
	b, err := json.Marshal(map[string]string{"path": r.URL.Path})
	if err != nil {
		return
	}
	w.Write(b)
}

// An invalid pattern panics only when the handler runs.
func Invalid(w http.ResponseWriter, r *http.Request) {
	regexp.MustCompile("(").MatchString(r.URL.Path)
}

// A function of the template belongs to the request.
func Local(w http.ResponseWriter, r *http.Request) {
	t := template.Must(template.New("p").Funcs(template.FuncMap{"path": func() string { return r.URL.Path }}).Parse("{{path}}")) // want `a template is parsed each time`
	t.Execute(w, nil)
}

// A pool whose address is not constant is a hint.
func Pool(w http.ResponseWriter, r *http.Request) {
	db, err := sql.Open("mysql", os.Getenv("DSN")) // want `a pool of connections is opened each time; make it once, outside of the handler`
	if err != nil {
		return
	}
	defer db.Close()
}

// A constant that is decoded is a hint.
func Decoded(w http.ResponseWriter, r *http.Request) {
	var v map[string]int
	if err := json.Unmarshal([]byte(`{"a":1}`), &v); err != nil { // want `a constant is decoded each time`
		return
	}
	w.WriteHeader(v["a"])
}
