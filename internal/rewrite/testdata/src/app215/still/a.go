package main

import (
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

type Shop struct {
	ID   int64   `db:"id"`
	Name string  `db:"name"`
	Lat  float64 `db:"lat"`
	Lon  float64 `db:"lon"`
	Rank int     `db:"rank_"`
}

var (
	db   *sqlx.DB
	word string
)

func OtherTable(all []Shop) ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM closed WHERE id = ? AND lat > 0", s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func NotUnique() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE name = ? AND lat > 0", s.Name)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func OtherRow() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND lat > 0", s.Rank)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func Effect(seen map[int64]bool) ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		seen[s.ID] = true
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND lat > 0", s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func ArgumentOfTheLoop() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	last := 0.0
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND lat > ?", s.ID, last)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		last = found.Lat
		kept = append(kept, found)
	}
	return kept, nil
}

func GlobalArgument() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND name <> ?", s.ID, word)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func Computed() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND lat > ?", s.ID, s.Lon*2)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func Digits() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND name = ?", s.ID, fmt.Sprintf("%.2f", s.Lat))
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func Either() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? OR lat > 0", s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func StopsAtNone() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND lat > 0", s.ID)
		if err == sql.ErrNoRows {
			break
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func ListUsed() ([]Shop, int, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, 0, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND lat > 0", s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, 0, err
		}
		kept = append(kept, found)
	}
	return kept, len(list), nil
}

func Page() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop LIMIT 10"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND lat > 0", s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func main() {}
