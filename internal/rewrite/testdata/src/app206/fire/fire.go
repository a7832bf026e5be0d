package fire

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"html/template"
	"net/http"
	"os"
	"regexp"
	"strings"
	text "text/template"
	"time"
)

const iconFile = "icon.png"

var funcs = template.FuncMap{"upper": strings.ToUpper}

func Name(w http.ResponseWriter, r *http.Request) {
	re := regexp.MustCompile(`^[a-z]+$`) // want `a regular expression is compiled each time`
	if !re.MatchString(r.URL.Query().Get("name")) {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func Inline(w http.ResponseWriter, r *http.Request) {
	if !regexp.MustCompile(`\d+`).MatchString(r.URL.Path) { // want `a regular expression is compiled`
		w.WriteHeader(http.StatusBadRequest)
	}
}

func Checked(w http.ResponseWriter, r *http.Request) {
	re, err := regexp.Compile("a+b") // want `a regular expression is compiled`
	if err != nil {
		return
	}
	w.Write(re.Find([]byte(r.URL.Path)))
}

// isHex is used by a handler.
func isHex(s string) bool {
	hex := regexp.MustCompile("^[0-9a-f]*$") // want `a regular expression is compiled`
	return hex.MatchString(s)
}

func Hex(w http.ResponseWriter, r *http.Request) {
	if isHex(r.URL.Path) {
		w.WriteHeader(http.StatusNoContent)
	}
}

// Words is no handler, but compiles in a loop.
func Words(lines []string) (n int) {
	for _, line := range lines {
		n += len(regexp.MustCompile(`\w+`).FindAllString(line, -1)) // want `a regular expression is compiled`
	}
	return n
}

func Escape(w http.ResponseWriter, r *http.Request) {
	w.Write([]byte(strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(r.URL.Path))) // want `a replacer is built`
}

func Page(w http.ResponseWriter, r *http.Request) {
	t := template.Must(template.New("page").Funcs(funcs).Parse("<b>{{upper .}}</b>")) // want `a template is parsed`
	t.Execute(w, r.URL.Path)
}

func Files(w http.ResponseWriter, r *http.Request) {
	t, err := template.ParseFiles("head.html", "body.html") // want `a template is parsed each time; make it once: a later version of the file is not seen`
	if err != nil {
		return
	}
	t.ExecuteTemplate(w, "body.html", nil)
}

func Text(w http.ResponseWriter, r *http.Request) {
	text.Must(text.New("t").Parse("{{.}}")).Execute(w, 1) // want `a template is parsed`
}

func Icon(w http.ResponseWriter, r *http.Request) {
	b, err := os.ReadFile(iconFile) // want `a file is read each time`
	if err != nil {
		http.Error(w, "no icon", http.StatusInternalServerError)
		return
	}
	w.Write(b)
}

// defaultIcon is returned to readers only.
func defaultIcon() ([]byte, error) {
	return os.ReadFile("default.png") // want `a file is read each time`
}

func Default(w http.ResponseWriter, r *http.Request) {
	b, err := defaultIcon()
	if err != nil {
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

func Zone(w http.ResponseWriter, r *http.Request) {
	tokyo, err := time.LoadLocation("Asia/Tokyo") // want `a time zone is loaded`
	if err != nil {
		return
	}
	w.Write([]byte(time.Now().In(tokyo).String()))
}

func Language(w http.ResponseWriter, r *http.Request) {
	b, err := json.Marshal(map[string]string{"language": "go"}) // want `a constant is encoded`
	if err != nil {
		return
	}
	w.Write(b)
}

func Fetch(w http.ResponseWriter, r *http.Request) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 10}, Timeout: time.Second} // want `an HTTP client with its own connections is made`
	res, err := client.Get("http://127.0.0.1/")
	if err != nil {
		return
	}
	res.Body.Close()
}

func Count(w http.ResponseWriter, r *http.Request) {
	db, err := sql.Open("mysql", "root@/app") // want `a pool of connections is opened`
	if err != nil {
		return
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM t").Scan(&n); err != nil {
		return
	}
}

func Mux() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if regexp.MustCompile("x").MatchString(r.URL.Path) { // want `a regular expression is compiled`
			w.WriteHeader(http.StatusTeapot)
		}
	})
	return m
}
