// Command shop is a small shop: gin, sqlx and transactions. It has slow patterns
// and code that resembles them; comments "Fires" and "Lookalike" name them.
package main

import (
	"database/sql"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// pageSize is the number of items on a page.
const pageSize = 3

type item struct {
	ID      int64  `db:"id" json:"id"`
	Shop    int64  `db:"shop_id" json:"shop"`
	Name    string `db:"name" json:"name"`
	Price   int    `db:"price" json:"price"`
	Picture []byte `db:"picture" json:"-"`
}

type shop struct{ db *sqlx.DB }

func main() {
	db, err := sqlx.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	s := &shop{db}
	e := gin.New()
	e.GET("/cheap", s.cheap)
	e.GET("/named", s.named)
	e.GET("/search", s.search)
	e.GET("/matches", s.matches)
	e.GET("/top", s.top)
	e.GET("/dearest", s.dearest)
	e.GET("/shop/:id", s.ofShop)
	e.GET("/sums", s.sums)
	e.GET("/price/:id", s.price)
	e.POST("/items", s.add)
	e.GET("/sales", s.sales)
	e.POST("/sell/:id", s.sell)
	e.GET("/log", s.logged)
	l, err := net.Listen("unix", os.Getenv("LISTEN"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, e))
}

func fail(c *gin.Context, err error) {
	log.Print(err)
	c.Status(http.StatusInternalServerError)
}

// cheap answers the names of the items below a price.
//
// Fires: APP213 APP203
func (s *shop) cheap(c *gin.Context) {
	below, err := strconv.Atoi(c.Query("below"))
	if err != nil {
		c.Status(http.StatusBadRequest)
		return
	}
	var items []item
	if err := s.db.Select(&items, "SELECT * FROM item ORDER BY id"); err != nil {
		fail(c, err)
		return
	}
	names := []string{}
	for _, i := range items {
		if i.Price >= below {
			continue
		}
		names = append(names, i.Name)
	}
	c.JSON(http.StatusOK, names)
}

// named answers the items of one name, as Go compares text.
//
// Fires: APP213 APP203
func (s *shop) named(c *gin.Context) {
	name := c.Query("name")
	var items []item
	if err := s.db.Select(&items, "SELECT * FROM item ORDER BY id"); err != nil {
		fail(c, err)
		return
	}
	prices := []int{}
	for _, i := range items {
		if i.Name == name {
			prices = append(prices, i.Price)
		}
	}
	c.JSON(http.StatusOK, prices)
}

// search answers a page of the items whose names have a word.
func (s *shop) search(c *gin.Context) {
	page, err := s.found(c.Query("q"))
	if err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, page)
}

// Fires: APP213 APP203
func (s *shop) found(word string) ([]string, error) {
	var items []item
	if err := s.db.Select(&items, "SELECT * FROM item ORDER BY price DESC, id"); err != nil {
		return nil, err
	}
	page := []string{}
	for _, i := range items {
		if strings.Contains(strings.ToLower(i.Name), word) {
			page = append(page, i.Name)
		}
	}
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	return page, nil
}

// matches answers how many items have a word, and a page of them.
//
// Lookalike: APP213
func (s *shop) matches(c *gin.Context) {
	var items []item
	if err := s.db.Select(&items, "SELECT id, name FROM item ORDER BY price DESC, id"); err != nil {
		fail(c, err)
		return
	}
	page := []string{}
	for _, i := range items {
		if strings.Contains(i.Name, c.Query("q")) {
			page = append(page, i.Name)
		}
	}
	n := len(page)
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	c.JSON(http.StatusOK, gin.H{"n": n, "page": page})
}

// top answers the dearest items.
//
// Fires: APP213
func (s *shop) top(c *gin.Context) {
	var items []item
	if err := s.db.Select(&items, "SELECT id, name, price FROM item ORDER BY price DESC, id"); err != nil {
		fail(c, err)
		return
	}
	if len(items) > pageSize {
		items = items[:pageSize]
	}
	c.JSON(http.StatusOK, items)
}

// dearest answers the dearest item.
//
// Fires: APP201 APP203
func (s *shop) dearest(c *gin.Context) {
	var items []item
	if err := s.db.Select(&items, "SELECT * FROM item ORDER BY price DESC, id"); err != nil {
		fail(c, err)
		return
	}
	if len(items) == 0 {
		c.Status(http.StatusNotFound)
		return
	}
	c.String(http.StatusOK, items[0].Name)
}

// ofShop answers the names of one shop's items.
//
// Fires: APP213
func (s *shop) ofShop(c *gin.Context) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		c.Status(http.StatusBadRequest)
		return
	}
	var items []item
	if err := s.db.Select(&items, "SELECT id, shop_id, name FROM item ORDER BY id"); err != nil {
		fail(c, err)
		return
	}
	names := map[int64][]string{}
	for _, i := range items {
		names[i.Shop] = append(names[i.Shop], i.Name)
	}
	c.JSON(http.StatusOK, names[id])
}

// sums answers the sum of every shop.
//
// Lookalike: APP213
func (s *shop) sums(c *gin.Context) {
	var items []item
	if err := s.db.Select(&items, "SELECT shop_id, price FROM item"); err != nil {
		fail(c, err)
		return
	}
	sums := map[int64]int{}
	for _, i := range items {
		sums[i.Shop] += i.Price
	}
	c.JSON(http.StatusOK, sums)
}

// price answers the price of one item.
//
// Fires: APP210
func (s *shop) price(c *gin.Context) {
	tx, err := s.db.Beginx()
	if err != nil {
		fail(c, err)
		return
	}
	defer tx.Rollback()
	var price int
	err = tx.Get(&price, "SELECT price FROM item WHERE id = ?", c.Param("id"))
	if errors.Is(err, sql.ErrNoRows) {
		c.Status(http.StatusNotFound)
		return
	}
	if err != nil {
		fail(c, err)
		return
	}
	if err := tx.Commit(); err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, price)
}

// insert stores items.
//
// Fires: APP204
func insert(tx *sqlx.Tx, items []item) error {
	for _, i := range items {
		_, err := tx.Exec("INSERT INTO sale (shop_id, name, price) VALUES (?, ?, ?)", i.Shop, i.Name, i.Price)
		if err != nil {
			return err
		}
	}
	return nil
}

// sales answers the first sales.
//
// Fires: APP202
func (s *shop) sales(c *gin.Context) {
	var sales []item
	if err := s.db.Select(&sales, "SELECT id, shop_id, name, price FROM sale ORDER BY id"); err != nil {
		fail(c, err)
		return
	}
	names := []string{}
	for _, i := range sales {
		names = append(names, i.Name)
		if len(names) == pageSize {
			break
		}
	}
	c.JSON(http.StatusOK, names)
}

// add stores the sales that a client sends.
func (s *shop) add(c *gin.Context) {
	var items []item
	if err := c.BindJSON(&items); err != nil {
		return
	}
	tx, err := s.db.Beginx()
	if err != nil {
		fail(c, err)
		return
	}
	defer tx.Rollback()
	if err := insert(tx, items); err != nil {
		fail(c, err)
		return
	}
	if err := tx.Commit(); err != nil {
		fail(c, err)
		return
	}
	c.Status(http.StatusCreated)
}

// sell locks an item and lowers its price.
//
// Lookalike: APP210 APP213
func (s *shop) sell(c *gin.Context) {
	tx, err := s.db.Beginx()
	if err != nil {
		fail(c, err)
		return
	}
	defer tx.Rollback()
	var items []item
	if err := tx.Select(&items, "SELECT id, price FROM item ORDER BY id FOR UPDATE"); err != nil {
		fail(c, err)
		return
	}
	id, _ := strconv.ParseInt(c.Param("id"), 10, 64)
	for _, i := range items {
		if i.ID != id {
			continue
		}
		if _, err := tx.Exec("UPDATE item SET price = ? WHERE id = ?", i.Price/2, id); err != nil {
			fail(c, err)
			return
		}
	}
	if err := tx.Commit(); err != nil {
		fail(c, err)
		return
	}
	c.Status(http.StatusNoContent)
}

// logged counts the items of each price while it filters.
//
// Lookalike: APP213
func (s *shop) logged(c *gin.Context) {
	var items []item
	if err := s.db.Select(&items, "SELECT id, name, price FROM item ORDER BY id"); err != nil {
		fail(c, err)
		return
	}
	seen, names := map[int]int{}, []string{}
	for _, i := range items {
		seen[i.Price]++
		if i.Price < 100 {
			continue
		}
		names = append(names, i.Name)
	}
	c.JSON(http.StatusOK, gin.H{"seen": len(seen), "names": names})
}
