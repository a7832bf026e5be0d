package isucondition

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

const (
	almanacMark  = "// new moon. Computed by TestAlmanac, which can tell how.\n" // as in the file, whose name has its hash
	almanacFirst = 1970
	almanacLast  = 2099

	tokyoLatitude  = 35.6895
	tokyoLongitude = 139.6917
)

// almanacTable returns the table at the end of the vendor script. It holds, for
// each day in Tokyo, sunrise and sunset as HHMM and tenths of days since new moon.
func almanacTable() string {
	var b strings.Builder
	b.WriteString(almanacMark)
	fmt.Fprintf(&b, "const firstYear = %d\nconst table = [\n", almanacFirst)
	for year := almanacFirst; year <= almanacLast; year++ {
		b.WriteString("  '")
		for day := time.Date(year, 1, 1, 0, 0, 0, 0, JST); day.Year() == year; day = day.AddDate(0, 0, 1) {
			rise, set := sunInTokyo(day)
			fmt.Fprintf(&b, "%02d%02d%02d%02d%03d", rise/60, rise%60, set/60, set%60, moonAge(day))
		}
		b.WriteString("',\n")
	}
	b.WriteString("]\n")
	return b.String()
}

// julian returns the Julian day number of an instant.
func julian(t time.Time) float64 { return float64(t.Unix())/86400 + 2440587.5 }

func sind(degrees float64) float64 { return math.Sin(degrees * math.Pi / 180) }
func cosd(degrees float64) float64 { return math.Cos(degrees * math.Pi / 180) }

// sunInTokyo computes sunrise and sunset in minutes after midnight JST. It uses
// the low-precision formulas of Meeus, Astronomical Algorithms, chapter 25, in the
// form of NOAA's solar calculator: the sun's upper edge is on the horizon, with
// 34' of refraction.
func sunInTokyo(day time.Time) (rise, set int) {
	t := (julian(day.Add(12*time.Hour)) - 2451545) / 36525
	meanLongitude := math.Mod(280.46646+36000.76983*t+0.0003032*t*t, 360)
	anomaly := 357.52911 + 35999.05029*t - 0.0001537*t*t
	eccentricity := 0.016708634 - 0.000042037*t
	centre := sind(anomaly)*(1.914602-0.004817*t) + sind(2*anomaly)*(0.019993-0.000101*t) + sind(3*anomaly)*0.000289
	node := 125.04 - 1934.136*t
	apparent := meanLongitude + centre - 0.00569 - 0.00478*sind(node)
	obliquity := 23.439291 - 0.013004*t + 0.00256*cosd(node)
	declination := math.Asin(sind(obliquity) * sind(apparent))

	y := math.Pow(math.Tan(obliquity*math.Pi/360), 2)
	equation := y*sind(2*meanLongitude) - 2*eccentricity*sind(anomaly) + 4*eccentricity*y*sind(anomaly)*cosd(2*meanLongitude) -
		y*y*sind(4*meanLongitude)/2 - 1.25*eccentricity*eccentricity*sind(2*anomaly)
	noon := 720 - 4*tokyoLongitude - equation*4*180/math.Pi + 9*60
	angle := math.Acos(cosd(90.833)/(cosd(tokyoLatitude)*math.Cos(declination))-math.Tan(tokyoLatitude*math.Pi/180)*math.Tan(declination)) * 180 / math.Pi
	return int(math.Round(noon - 4*angle)), int(math.Round(noon + 4*angle))
}

// moonAge returns the time since new moon at noon JST, in tenths of days.
func moonAge(day time.Time) int {
	noon := julian(day.Add(12 * time.Hour))
	k := math.Floor((noon-2451550.1)/29.530588861) + 1
	for newMoon(k) > noon {
		k--
	}
	return int((noon - newMoon(k)) * 10)
}

// newMoon returns the Julian day of the k-th new moon after January 2000, by the
// main terms of Meeus, chapter 49.
func newMoon(k float64) float64 {
	t := k / 1236.85
	e := 1 - 0.002516*t - 0.0000074*t*t
	sun := 2.5534 + 29.10535670*k
	moon := 201.5643 + 385.81693528*k + 0.0107582*t*t
	node := 160.7108 + 390.67050284*k - 0.0016118*t*t
	return 2451550.09766 + 29.530588861*k + 0.00015437*t*t -
		0.40720*sind(moon) + 0.17241*e*sind(sun) + 0.01608*sind(2*moon) + 0.01039*sind(2*node) +
		0.00739*e*sind(moon-sun) - 0.00514*e*sind(moon+sun) + 0.00208*e*e*sind(2*sun) -
		0.00111*sind(moon-2*node) - 0.00057*sind(moon+2*node) + 0.00056*e*sind(2*moon+sun)
}

// TestAlmanac compares the computation with published times, and the vendor
// script's table with the computation.
func TestAlmanac(t *testing.T) {
	clock := func(hour, minute int) int { return hour*60 + minute }
	for _, c := range []struct {
		year, month, day, rise, set int
	}{
		{2021, 1, 1, clock(6, 51), clock(16, 38)},   // first sunrise of a year
		{2021, 6, 21, clock(4, 25), clock(19, 0)},   // longest day
		{2021, 12, 22, clock(6, 47), clock(16, 32)}, // shortest day
	} {
		day := time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, JST)
		if rise, set := sunInTokyo(day); abs(rise-c.rise) > 1 || abs(set-c.set) > 1 {
			t.Errorf("%s: sun from %d to %d min, want %d to %d ±1", day.Format(time.DateOnly), rise, set, c.rise, c.set)
		}
	}
	// The new moon of 2021-08-08 was at 22:50 JST, that of 2000-01-07 at 03:14 JST.
	for _, c := range []struct {
		day time.Time
		age int
	}{
		{time.Date(2021, 8, 9, 0, 0, 0, 0, JST), 5},
		{time.Date(2000, 1, 7, 0, 0, 0, 0, JST), 3},
		{time.Date(2021, 8, 8, 0, 0, 0, 0, JST), 290},
	} {
		if age := moonAge(c.day); abs(age-c.age) > 3 {
			t.Errorf("%s: moon is %d tenths of days old, want about %d", c.day.Format(time.DateOnly), age, c.age)
		}
	}
	_, table, found := strings.Cut(vendorScript(t), almanacMark)
	if want := strings.TrimPrefix(almanacTable(), almanacMark); !found || table != want {
		t.Error("the vendor script's table is not what is computed; go test -run 'TestPageFiles' -update writes it")
	}
}

func abs(v int) int { return max(v, -v) }
