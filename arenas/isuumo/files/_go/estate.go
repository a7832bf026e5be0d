package main

import (
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

type Estate struct {
	ID          int64   `db:"id" json:"id"`
	Thumbnail   string  `db:"thumbnail" json:"thumbnail"`
	Name        string  `db:"name" json:"name"`
	Description string  `db:"description" json:"description"`
	Latitude    float64 `db:"latitude" json:"latitude"`
	Longitude   float64 `db:"longitude" json:"longitude"`
	Address     string  `db:"address" json:"address"`
	Rent        int64   `db:"rent" json:"rent"`
	DoorHeight  int64   `db:"door_height" json:"doorHeight"`
	DoorWidth   int64   `db:"door_width" json:"doorWidth"`
	Features    string  `db:"features" json:"features"`
	Popularity  int64   `db:"popularity" json:"-"`
}

type EstateSearchResponse struct {
	Count   int64    `json:"count"`
	Estates []Estate `json:"estates"`
}

type EstateListResponse struct {
	Estates []Estate `json:"estates"`
}

func getEstateDetail(c echo.Context) error {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		c.Logger().Infof("id %q is not an integer: %v", c.Param("id"), err)
		return c.NoContent(http.StatusBadRequest)
	}

	estate := Estate{}
	err = db.Get(&estate, "SELECT * FROM estate WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		c.Logger().Infof("estate %d does not exist", id)
		return c.NoContent(http.StatusNotFound)
	} else if err != nil {
		c.Logger().Errorf("reading estate %d: %v", id, err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, estate)
}

// recordMapper reads the fields of a CSV record in their order.
type recordMapper struct {
	record []string
	offset int
	err    error
}

func (r *recordMapper) next() (string, error) {
	if r.err != nil {
		return "", r.err
	}
	if r.offset >= len(r.record) {
		r.err = errors.New("too few fields")
		return "", r.err
	}
	s := r.record[r.offset]
	r.offset++
	return s, nil
}

func (r *recordMapper) nextInt() int {
	s, err := r.next()
	if err != nil {
		return 0
	}
	i, err := strconv.Atoi(s)
	if err != nil {
		r.err = fmt.Errorf("field %d: %w", r.offset, err)
		return 0
	}
	return i
}

func (r *recordMapper) nextFloat() float64 {
	s, err := r.next()
	if err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		r.err = fmt.Errorf("field %d: %w", r.offset, err)
		return 0
	}
	return f
}

func (r *recordMapper) nextString() string {
	s, err := r.next()
	if err != nil {
		return ""
	}
	return s
}

// postEstate stores the estates of an uploaded CSV file, all or none.
func postEstate(c echo.Context) error {
	header, err := c.FormFile("estates")
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
		address := rm.nextString()
		latitude := rm.nextFloat()
		longitude := rm.nextFloat()
		rent := rm.nextInt()
		doorHeight := rm.nextInt()
		doorWidth := rm.nextInt()
		features := rm.nextString()
		popularity := rm.nextInt()
		if rm.err != nil {
			c.Logger().Errorf("reading a record: %v", rm.err)
			return c.NoContent(http.StatusBadRequest)
		}
		_, err := tx.Exec("INSERT INTO estate (id, name, description, thumbnail, address, latitude, longitude, rent, door_height, door_width, features, popularity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			id, name, description, thumbnail, address, latitude, longitude, rent, doorHeight, doorWidth, features, popularity)
		if err != nil {
			c.Logger().Errorf("inserting estate %d: %v", id, err)
			return c.NoContent(http.StatusInternalServerError)
		}
	}
	if err := tx.Commit(); err != nil {
		c.Logger().Errorf("committing: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.NoContent(http.StatusCreated)
}

// searchEstates answers a page of the estates that meet all conditions, the most
// popular first, and how many there are.
func searchEstates(c echo.Context) error {
	s := search{}
	cond := estateSearchCondition
	for _, r := range []struct {
		column string
		cond   RangeCondition
		param  string
	}{
		{"door_height", cond.DoorHeight, "doorHeightRangeId"},
		{"door_width", cond.DoorWidth, "doorWidthRangeId"},
		{"rent", cond.Rent, "rentRangeId"},
	} {
		if err := s.addRange(r.column, r.cond, c.QueryParam(r.param)); err != nil {
			c.Logger().Infof("%s is not valid: %v", r.param, err)
			return c.NoContent(http.StatusBadRequest)
		}
	}
	s.addFeatures(c.QueryParam("features"))
	if len(s.conditions) == 0 {
		c.Logger().Infof("the search has no condition")
		return c.NoContent(http.StatusBadRequest)
	}

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

	res := EstateSearchResponse{Estates: []Estate{}}
	if err := db.Get(&res.Count, "SELECT COUNT(*) FROM estate WHERE "+s.where(), s.params...); err != nil {
		c.Logger().Errorf("counting estates: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	s.params = append(s.params, perPage, page*perPage)
	err = db.Select(&res.Estates, "SELECT * FROM estate WHERE "+s.where()+" ORDER BY popularity DESC, id ASC LIMIT ? OFFSET ?", s.params...)
	if err != nil {
		c.Logger().Errorf("searching estates: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, res)
}

func getLowPricedEstate(c echo.Context) error {
	estates := []Estate{}
	err := db.Select(&estates, "SELECT * FROM estate ORDER BY rent ASC, id ASC LIMIT ?", limit)
	if err != nil {
		c.Logger().Errorf("reading the cheapest estates: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, EstateListResponse{Estates: estates})
}

// searchRecommendedEstateWithChair answers the most popular estates whose door
// lets a chair in, whichever way it is turned.
func searchRecommendedEstateWithChair(c echo.Context) error {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		c.Logger().Infof("id %q is not an integer: %v", c.Param("id"), err)
		return c.NoContent(http.StatusBadRequest)
	}

	chair := Chair{}
	err = db.Get(&chair, "SELECT * FROM chair WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		c.Logger().Infof("chair %d does not exist", id)
		return c.NoContent(http.StatusBadRequest)
	} else if err != nil {
		c.Logger().Errorf("reading chair %d: %v", id, err)
		return c.NoContent(http.StatusInternalServerError)
	}

	estates := []Estate{}
	w, h, d := chair.Width, chair.Height, chair.Depth
	err = db.Select(&estates, "SELECT * FROM estate WHERE (door_width >= ? AND door_height >= ?) OR (door_width >= ? AND door_height >= ?) OR (door_width >= ? AND door_height >= ?) OR (door_width >= ? AND door_height >= ?) OR (door_width >= ? AND door_height >= ?) OR (door_width >= ? AND door_height >= ?) ORDER BY popularity DESC, id ASC LIMIT ?",
		w, h, w, d, h, w, h, d, d, w, d, h, limit)
	if err != nil {
		c.Logger().Errorf("reading the estates for chair %d: %v", id, err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, EstateListResponse{Estates: estates})
}

// postEstateRequestDocument takes a request for the documents of an estate.
func postEstateRequestDocument(c echo.Context) error {
	if ok, err := hasEmail(c); !ok {
		return err
	}
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		c.Logger().Infof("id %q is not an integer: %v", c.Param("id"), err)
		return c.NoContent(http.StatusBadRequest)
	}

	estate := Estate{}
	err = db.Get(&estate, "SELECT * FROM estate WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		c.Logger().Infof("estate %d does not exist", id)
		return c.NoContent(http.StatusNotFound)
	} else if err != nil {
		c.Logger().Errorf("reading estate %d: %v", id, err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.NoContent(http.StatusOK)
}
