package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

type Coordinate struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

type Coordinates struct {
	Coordinates []Coordinate `json:"coordinates"`
}

type BoundingBox struct {
	TopLeftCorner     Coordinate
	BottomRightCorner Coordinate
}

// searchEstateNazotte answers the most popular estates inside a polygon.
func searchEstateNazotte(c echo.Context) error {
	coordinates := Coordinates{}
	if err := json.NewDecoder(c.Request().Body).Decode(&coordinates); err != nil {
		c.Logger().Infof("reading the polygon: %v", err)
		return c.NoContent(http.StatusBadRequest)
	}
	if len(coordinates.Coordinates) == 0 {
		return c.NoContent(http.StatusBadRequest)
	}

	b := coordinates.getBoundingBox()
	estatesInBoundingBox := []Estate{}
	err := db.Select(&estatesInBoundingBox,
		"SELECT * FROM estate WHERE latitude <= ? AND latitude >= ? AND longitude <= ? AND longitude >= ? ORDER BY popularity DESC, id ASC",
		b.BottomRightCorner.Latitude, b.TopLeftCorner.Latitude, b.BottomRightCorner.Longitude, b.TopLeftCorner.Longitude)
	if err != nil {
		c.Logger().Errorf("reading the estates of the bounding box: %v", err)
		return c.NoContent(http.StatusInternalServerError)
	}

	estatesInPolygon := []Estate{}
	for _, estate := range estatesInBoundingBox {
		point := fmt.Sprintf("POINT(%f %f)", estate.Latitude, estate.Longitude)
		validated := Estate{}
		err := db.Get(&validated, "SELECT * FROM estate WHERE id = ? AND ST_Contains(ST_PolygonFromText(?), ST_GeomFromText(?))",
			estate.ID, coordinates.toText(), point)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			c.Logger().Errorf("checking estate %d: %v", estate.ID, err)
			return c.NoContent(http.StatusInternalServerError)
		}
		estatesInPolygon = append(estatesInPolygon, validated)
	}

	res := EstateSearchResponse{Estates: estatesInPolygon}
	if len(res.Estates) > nazotteLimit {
		res.Estates = res.Estates[:nazotteLimit]
	}
	res.Count = int64(len(res.Estates))
	return c.JSON(http.StatusOK, res)
}

func (cs Coordinates) getBoundingBox() BoundingBox {
	first := cs.Coordinates[0]
	b := BoundingBox{TopLeftCorner: first, BottomRightCorner: first}
	for _, c := range cs.Coordinates[1:] {
		b.TopLeftCorner.Latitude = min(b.TopLeftCorner.Latitude, c.Latitude)
		b.TopLeftCorner.Longitude = min(b.TopLeftCorner.Longitude, c.Longitude)
		b.BottomRightCorner.Latitude = max(b.BottomRightCorner.Latitude, c.Latitude)
		b.BottomRightCorner.Longitude = max(b.BottomRightCorner.Longitude, c.Longitude)
	}
	return b
}

// toText writes the polygon as the database reads it.
func (cs Coordinates) toText() string {
	points := make([]string, 0, len(cs.Coordinates))
	for _, c := range cs.Coordinates {
		points = append(points, fmt.Sprintf("%f %f", c.Latitude, c.Longitude))
	}
	return "POLYGON((" + strings.Join(points, ",") + "))"
}
