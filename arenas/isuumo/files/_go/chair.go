package main

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

type Chair struct {
	ID          int64  `db:"id" json:"id"`
	Name        string `db:"name" json:"name"`
	Description string `db:"description" json:"description"`
	Thumbnail   string `db:"thumbnail" json:"thumbnail"`
	Price       int64  `db:"price" json:"price"`
	Height      int64  `db:"height" json:"height"`
	Width       int64  `db:"width" json:"width"`
	Depth       int64  `db:"depth" json:"depth"`
	Color       string `db:"color" json:"color"`
	Features    string `db:"features" json:"features"`
	Kind        string `db:"kind" json:"kind"`
	Popularity  int64  `db:"popularity" json:"-"`
	Stock       int64  `db:"stock" json:"-"`
}

type ChairSearchResponse struct {
	Count  int64   `json:"count"`
	Chairs []Chair `json:"chairs"`
}

type ChairListResponse struct {
	Chairs []Chair `json:"chairs"`
}

// getChairDetail answers one chair, unless it is sold out.
func getChairDetail(c echo.Context) error {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		c.Logger().Infof("id %q is not an integer: %v", c.Param("id"), err)
		return c.NoContent(http.StatusBadRequest)
	}

	chair := Chair{}
	err = db.Get(&chair, "SELECT * FROM chair WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		c.Logger().Infof("chair %d does not exist", id)
		return c.NoContent(http.StatusNotFound)
	} else if err != nil {
		c.Logger().Errorf("reading chair %d: %v", id, err)
		return c.NoContent(http.StatusInternalServerError)
	}
	if chair.Stock <= 0 {
		c.Logger().Infof("chair %d is sold out", id)
		return c.NoContent(http.StatusNotFound)
	}
	return c.JSON(http.StatusOK, chair)
}

// postChair stores the chairs of an uploaded CSV file, all or none.
func postChair(c echo.Context) error {
	header, err := c.FormFile("chairs")
	if err != nil {
		c.Logger().Errorf("reading the form: %v", err)
		return c.NoContent(http.StatusBadRequest)
	}
	file, err := header.Open()
	if err != nil {
		c.Logger().Errorf("opening the file: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil {
		c.Logger().Errorf("reading the CSV: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}

	tx, err := db.Begin()
	if err != nil {
		c.Logger().Errorf("beginning a transaction: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	defer tx.Rollback()
	for _, row := range records {
		rm := recordMapper{record: row}
		id := rm.nextInt()
		name := rm.nextString()
		description := rm.nextString()
		thumbnail := rm.nextString()
		price := rm.nextInt()
		height := rm.nextInt()
		width := rm.nextInt()
		depth := rm.nextInt()
		color := rm.nextString()
		features := rm.nextString()
		kind := rm.nextString()
		popularity := rm.nextInt()
		stock := rm.nextInt()
		if rm.err != nil {
			c.Logger().Errorf("reading a record: %v", rm.err)
			return c.NoContent(http.StatusBadRequest)
		}
		_, err := tx.Exec("INSERT INTO chair (id, name, description, thumbnail, price, height, width, depth, color, features, kind, popularity, stock) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			id, name, description, thumbnail, price, height, width, depth, color, features, kind, popularity, stock)
		if err != nil {
			c.Logger().Errorf("inserting chair %d: %v", id, err)
			return c.NoContent(http.StatusInternalServerError)
		}
	}
	if err := tx.Commit(); err != nil {
		c.Logger().Errorf("committing: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.NoContent(http.StatusCreated)
}

// searchChairs answers a page of the chairs in stock that meet all conditions,
// the most popular first, and how many there are.
func searchChairs(c echo.Context) error {
	s := search{}
	cond := chairSearchCondition
	for _, r := range []struct {
		column string
		cond   RangeCondition
		param  string
	}{
		{"price", cond.Price, "priceRangeId"},
		{"height", cond.Height, "heightRangeId"},
		{"width", cond.Width, "widthRangeId"},
		{"depth", cond.Depth, "depthRangeId"},
	} {
		if err := s.addRange(r.column, r.cond, c.QueryParam(r.param)); err != nil {
			c.Logger().Infof("%s is not valid: %v", r.param, err)
			return c.NoContent(http.StatusBadRequest)
		}
	}
	s.addEqual("kind", c.QueryParam("kind"))
	s.addEqual("color", c.QueryParam("color"))
	s.addFeatures(c.QueryParam("features"))
	if len(s.conditions) == 0 {
		c.Logger().Infof("the search has no condition")
		return c.NoContent(http.StatusBadRequest)
	}
	s.conditions = append(s.conditions, "stock > 0")

	page, err := strconv.Atoi(c.QueryParam("page"))
	if err != nil {
		c.Logger().Infof("page is not valid: %v", err)
		return c.NoContent(http.StatusBadRequest)
	}
	perPage, err := strconv.Atoi(c.QueryParam("perPage"))
	if err != nil {
		c.Logger().Infof("perPage is not valid: %v", err)
		return c.NoContent(http.StatusBadRequest)
	}

	res := ChairSearchResponse{Chairs: []Chair{}}
	if err := db.Get(&res.Count, "SELECT COUNT(*) FROM chair WHERE "+s.where(), s.params...); err != nil {
		c.Logger().Errorf("counting chairs: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	s.params = append(s.params, perPage, page*perPage)
	err = db.Select(&res.Chairs, "SELECT * FROM chair WHERE "+s.where()+" ORDER BY popularity DESC, id ASC LIMIT ? OFFSET ?", s.params...)
	if err != nil {
		c.Logger().Errorf("searching chairs: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, res)
}

func getLowPricedChair(c echo.Context) error {
	chairs := []Chair{}
	err := db.Select(&chairs, "SELECT * FROM chair WHERE stock > 0 ORDER BY price ASC, id ASC LIMIT ?", limit)
	if err != nil {
		c.Logger().Errorf("reading the cheapest chairs: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, ChairListResponse{Chairs: chairs})
}

// buyChair takes one chair out of the stock.
func buyChair(c echo.Context) error {
	if ok, err := hasEmail(c); !ok {
		return err
	}
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		c.Logger().Infof("id %q is not an integer: %v", c.Param("id"), err)
		return c.NoContent(http.StatusBadRequest)
	}

	tx, err := db.Beginx()
	if err != nil {
		c.Logger().Errorf("beginning a transaction: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	defer tx.Rollback()
	chair := Chair{}
	err = tx.Get(&chair, "SELECT * FROM chair WHERE id = ? AND stock > 0 FOR UPDATE", id)
	if errors.Is(err, sql.ErrNoRows) {
		c.Logger().Infof("chair %d does not exist or is sold out", id)
		return c.NoContent(http.StatusNotFound)
	} else if err != nil {
		c.Logger().Errorf("locking chair %d: %v", id, err)
		return c.NoContent(http.StatusInternalServerError)
	}
	if _, err := tx.Exec("UPDATE chair SET stock = stock - 1 WHERE id = ?", id); err != nil {
		c.Logger().Errorf("selling chair %d: %v", id, err)
		return c.NoContent(http.StatusInternalServerError)
	}
	if err := tx.Commit(); err != nil {
		c.Logger().Errorf("committing: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.NoContent(http.StatusOK)
}

// hasEmail reports whether the request's body has an address. Otherwise the
// request has been answered.
func hasEmail(c echo.Context) (bool, error) {
	body := map[string]any{}
	if err := json.NewDecoder(c.Request().Body).Decode(&body); err != nil {
		c.Logger().Errorf("reading the body: %v", err)
		return false, c.NoContent(http.StatusInternalServerError)
	}
	if _, ok := body["email"].(string); !ok {
		c.Logger().Info("the body has no email")
		return false, c.NoContent(http.StatusBadRequest)
	}
	return true, nil
}
