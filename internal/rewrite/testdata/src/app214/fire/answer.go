package fire

import (
	"encoding/json"
	"net/http"
)

type news struct {
	Text  string `json:"text"`
	Again int    `json:"retry_after_ms"`
}

// News answers by two ways, with one time.
func News(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("id") == "" {
		json.NewEncoder(w).Encode(news{Again: 30}) // want `APP214: an answer tells clients when to come again .30.; try another time .240 or 60 or 15.`
		return
	}
	out := &news{Text: "a"}
	out.Again = 30
	json.NewEncoder(w).Encode(out)
}

// Feed has a map.
func Feed(w http.ResponseWriter, r *http.Request) {
	answer := map[string]interface{}{"items": 3, "pollInterval": 5} // want `an answer tells clients`
	if r.FormValue("slow") != "" {
		answer["pollInterval"] = 60 // want `an answer tells clients`
	}
	json.NewEncoder(w).Encode(answer)
}
