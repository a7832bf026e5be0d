package main

import (
	"database/sql"
	"errors"
	"net/http"
	"time"

	"github.com/gorilla/mux"
)

// A profile is one row of the table profiles.
type profile struct {
	UserID                         int
	FirstName, LastName, Sex, Pref string
	Birthday                       sql.NullTime
	UpdatedAt                      time.Time
}

// profile returns an empty one if the user has none.
func (a *app) profile(id int) profile {
	var p profile
	err := a.db.QueryRow("SELECT * FROM profiles WHERE user_id = ?", id).
		Scan(&p.UserID, &p.FirstName, &p.LastName, &p.Sex, &p.Birthday, &p.Pref, &p.UpdatedAt)
	if !errors.Is(err, sql.ErrNoRows) {
		checkErr(err)
	}
	return p
}

// A profilePage is the data of profile.html.
type profilePage struct {
	Owner          *user
	Profile        profile
	Entries        []entry
	Permitted, Own bool
	Sexes, Prefs   []string
}

var sexes = []string{"男性", "女性", "その他"}

var prefs = []string{
	"北海道", "青森県", "岩手県", "宮城県", "秋田県", "山形県", "福島県", "茨城県", "栃木県", "群馬県", "埼玉県", "千葉県",
	"東京都", "神奈川県", "新潟県", "富山県", "石川県", "福井県", "山梨県", "長野県", "岐阜県", "静岡県", "愛知県", "三重県",
	"滋賀県", "京都府", "大阪府", "兵庫県", "奈良県", "和歌山県", "鳥取県", "島根県", "岡山県", "広島県", "山口県", "徳島県",
	"香川県", "愛媛県", "高知県", "福岡県", "佐賀県", "長崎県", "熊本県", "大分県", "宮崎県", "鹿児島県", "沖縄県",
}

func (a *app) getProfile(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	owner := a.userByAccount(mux.Vars(r)["account_name"])
	p := profilePage{Owner: owner, Profile: a.profile(owner.ID), Sexes: sexes, Prefs: prefs}
	p.Permitted = a.permitted(r, owner.ID)
	p.Own = owner.ID == a.currentUser(r).ID
	query := "SELECT * FROM entries WHERE user_id = ? AND private = 0 ORDER BY created_at LIMIT 5"
	if p.Permitted {
		query = "SELECT * FROM entries WHERE user_id = ? ORDER BY created_at LIMIT 5"
	}
	p.Entries = a.entries(query, owner.ID)
	a.markFootprint(r, owner.ID)
	a.render(w, http.StatusOK, "profile.html", p)
}

func (a *app) postProfile(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	me := a.currentUser(r)
	if mux.Vars(r)["account_name"] != me.AccountName {
		checkErr(errPermissionDenied)
	}
	_, err := a.db.Exec("UPDATE profiles SET first_name = ?, last_name = ?, sex = ?, birthday = ?, pref = ?, "+
		"updated_at = CURRENT_TIMESTAMP() WHERE user_id = ?",
		r.FormValue("first_name"), r.FormValue("last_name"), r.FormValue("sex"),
		r.FormValue("birthday"), r.FormValue("pref"), me.ID)
	checkErr(err)
	http.Redirect(w, r, "/profile/"+me.AccountName, http.StatusSeeOther)
}
