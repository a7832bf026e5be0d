package isuumo

// What the tests of the app, in package isuumo_test, use.
var (
	ReadDataset      = readDataset
	WriteChairs      = writeChairs
	WriteEstates     = writeEstates
	TheChairChoices  = chairConditions
	TheEstateChoices = estateConditions
)
