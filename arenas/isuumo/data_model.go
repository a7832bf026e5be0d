package isuumo

// A Chair is a row of the table chair, with the fields that answers do not show.
type Chair struct {
	ID          int64
	Name        string
	Description string
	Thumbnail   string
	Price       int64 // yen
	Height      int64 // cm
	Width       int64 // cm
	Depth       int64 // cm
	Color       string
	Features    string // labels joined by commas
	Kind        string
	Popularity  int64
	Stock       int64
}

// An Estate is a row of the table estate, with the fields that answers do not show.
type Estate struct {
	ID          int64
	Name        string
	Description string
	Thumbnail   string
	Address     string
	Latitude    float64 // degrees
	Longitude   float64 // degrees
	Rent        int64   // yen a month
	DoorHeight  int64   // cm
	DoorWidth   int64   // cm
	Features    string  // labels joined by commas
	Popularity  int64
}

// A Dataset is everything that the benchmarker knows of the data.
type Dataset struct {
	Chairs        []Chair    // the initial rows, in the order of their ids
	Estates       []Estate   // the initial rows, in the order of their ids
	VerifyChairs  []Chair    // posted during the compatibility check; the first has a stock of 1
	VerifyEstates []Estate   // posted during the compatibility check
	DraftChairs   [][]Chair  // files of 500 rows, posted under load
	DraftEstates  [][]Estate // files of 500 rows, posted under load
}
