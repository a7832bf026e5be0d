// Command orchard is a small site whose rows gorm reads. It has slow patterns and code that
// resembles them; comments "Fires" and "Lookalike" name them.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type Keeper struct {
	ID   string `gorm:"primaryKey"`
	Name string
}

type Plot struct {
	ID    int64
	Title string `gorm:"unique"`
}

type Basket struct {
	ID        int64
	TreeID    int64
	Weight    int
	DeletedAt gorm.DeletedAt `gorm:"index"`
}

type Tree struct {
	ID       int64
	PlotID   int64
	KeeperID string
	Kind     string
	Spot     string
	Baskets  []Basket
}

type View struct {
	Kind, Name, Title string
	Weights           []int
}

type site struct{ db *gorm.DB }

func main() {
	db, err := gorm.Open(mysql.Open(os.Getenv("DSN")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		log.Fatal(err)
	}
	s := &site{db}
	for path, f := range map[string]http.HandlerFunc{
		"/keepers": s.keepers, "/plots": s.plots, "/spots": s.spots, "/weights": s.weights, "/loaded": s.loaded, "/filled": s.filled, "/quiet": s.quiet,
		"/asked": s.asked, "/newest": s.newest, "/first": s.first, "/counted": s.counted, "/writes": s.writes, "/kinds": s.kinds, "/held": s.held,
	} {
		http.HandleFunc(path, f)
	}
	l, err := net.Listen("unix", os.Getenv("LISTEN"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, nil))
}

func fail(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func answer(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func (s *site) trees(r *http.Request) (trees []Tree, err error) {
	err = s.db.WithContext(r.Context()).Where("kind >= ?", r.FormValue("from")).Order("id").Find(&trees).Error
	return trees, err
}

// keepers finds a row by a text that is the primary key; some have none.
//
// Fires: APP205
func (s *site) keepers(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []View{}
	for _, t := range trees {
		var k Keeper
		err := s.db.First(&k, "id = ?", t.KeeperID).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			k.Name = "nobody"
		} else if err != nil {
			fail(w, err)
			return
		}
		out = append(out, View{Kind: t.Kind, Name: k.Name})
	}
	answer(w, out)
}

// plots finds a row by a number, which is the primary key, through a pointer.
//
// Fires: APP205
func (s *site) plots(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []View{}
	for i := range trees {
		p := &Plot{}
		if err := s.db.WithContext(r.Context()).First(p, trees[i].PlotID).Error; err != nil {
			log.Print(err)
			continue
		}
		out = append(out, View{Kind: trees[i].Kind, Title: p.Title})
	}
	answer(w, out)
}

// spots finds a row by a unique text.
//
// Fires: APP205
func (s *site) spots(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	ids := map[string]int64{}
	for _, t := range trees {
		var p Plot
		if err = s.db.Where("id > ? AND title = ?", 0, t.Spot).Take(&p).Error; err == nil {
			ids[t.Kind] = p.ID
		}
	}
	answer(w, ids)
}

// weights reads the rows that belong to a row, of which some are marked as deleted.
//
// Fires: APP205
func (s *site) weights(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	trees = append(trees, trees...)
	out := []View{}
	for _, t := range trees {
		var baskets []Basket
		if err := s.db.Where("tree_id = ?", t.ID).Order("weight DESC, id").Find(&baskets).Error; err != nil {
			fail(w, err)
			return
		}
		v := View{Kind: t.Kind}
		for _, b := range baskets {
			v.Weights = append(v.Weights, b.Weight)
		}
		out = append(out, v)
	}
	answer(w, out)
}

// loaded reads rows with those that belong to them.
//
// Fires: APP205
func (s *site) loaded(w http.ResponseWriter, r *http.Request) {
	var plots []Plot
	if err := s.db.Order("id").Find(&plots).Error; err != nil {
		fail(w, err)
		return
	}
	out := map[string][]*Tree{}
	for _, p := range plots {
		trees := []*Tree{}
		if err := s.db.Preload("Baskets", "weight > ?", 1).Order("id").Find(&trees, "plot_id = ? AND kind >= ?", p.ID, r.FormValue("from")).Error; err != nil {
			fail(w, err)
			return
		}
		out[p.Title] = trees
	}
	answer(w, out)
}

// filled fills a field of each row, also with those that are marked.
//
// Fires: APP205
func (s *site) filled(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	for i := range trees {
		s.db.Unscoped().Where("tree_id = ?", trees[i].ID).Order("id").Find(&trees[i].Baskets)
	}
	answer(w, trees)
}

// quiet asks in some rounds only, and stops early.
//
// Fires: APP205
func (s *site) quiet(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, t := range trees {
		if t.Kind == "quince" {
			continue
		}
		var p Plot
		s.db.First(&p, t.PlotID)
		if out = append(out, p.Title); len(out) > 3 {
			break
		}
	}
	answer(w, out)
}

// newest shows the first three.
//
// Fires: APP202
func (s *site) newest(w http.ResponseWriter, r *http.Request) {
	var baskets []Basket
	if err := s.db.Order("id DESC").Find(&baskets).Error; err != nil {
		fail(w, err)
		return
	}
	if len(baskets) > 3 {
		baskets = baskets[:3]
	}
	answer(w, baskets)
}

// first shows one.
//
// Fires: APP201
func (s *site) first(w http.ResponseWriter, r *http.Request) {
	var plots []Plot
	if err := s.db.Where("title >= ?", r.FormValue("from")).Order("title").Find(&plots).Error; err != nil {
		fail(w, err)
		return
	}
	if len(plots) == 0 {
		answer(w, "none")
		return
	}
	answer(w, plots[0])
}

// asked has a condition beside the key that varies.
//
// Lookalike: APP205
func (s *site) asked(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	n := 0
	for i, t := range trees {
		var baskets []Basket
		s.db.Where("tree_id = ? AND weight > ?", t.ID, i).Order("id").Find(&baskets)
		n += len(baskets)
	}
	answer(w, n)
}

// counted uses the number of rows.
//
// Lookalike: APP205
func (s *site) counted(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	n := int64(0)
	for _, t := range trees {
		var baskets []Basket
		n += s.db.Where("tree_id = ?", t.ID).Order("id").Find(&baskets).RowsAffected
	}
	answer(w, n)
}

// writes changes what the next round reads.
//
// Lookalike: APP205
func (s *site) writes(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, t := range trees {
		var p Plot
		if err := s.db.First(&p, t.PlotID).Error; err != nil {
			continue
		}
		out = append(out, p.Title)
		s.db.Model(&p).Update("title", p.Title+"'")
	}
	answer(w, out)
}

// kinds has a text as its key, of which there are several rows.
//
// Lookalike: APP205
func (s *site) kinds(w http.ResponseWriter, r *http.Request) {
	n := 0
	for _, kind := range []string{"apple", "pear", "Pear"} {
		var trees []Tree
		s.db.Where("kind = ?", kind).Order("id").Find(&trees)
		n = n*10 + len(trees)
	}
	answer(w, n)
}

// held reads into a row that has something already.
//
// Lookalike: APP205
func (s *site) held(w http.ResponseWriter, r *http.Request) {
	trees, err := s.trees(r)
	if err != nil {
		fail(w, err)
		return
	}
	var p Plot
	out := []string{}
	for _, t := range trees {
		if err := s.db.First(&p, t.PlotID).Error; err != nil {
			out = append(out, err.Error())
		}
		out = append(out, p.Title)
	}
	answer(w, out)
}
