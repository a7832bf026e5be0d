package isuumo

import "fmt"

// What the tests of the app, in package isuumo_test, use.
var (
	ReadDataset      = readDataset
	WriteChairs      = writeChairs
	WriteEstates     = writeEstates
	TheChairChoices  = chairConditions
	TheEstateChoices = estateConditions
)

// TheCities lists the cities as the map's script writes them.
func TheCities() []string {
	var list []string
	for _, c := range cities {
		list = append(list, fmt.Sprintf("name: '%s', latitude: %.2f, longitude: %.2f", c.name, c.latitude, c.longitude))
	}
	return list
}
