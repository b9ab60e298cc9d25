package reader

import (
	"strings"
	"unicode/utf8"
)

// unitNames are the units that are known without being asked for, with their other
// names. Symbols are told by their letter case (mW, MW), words are not.
var unitNames = map[string][]string{
	"%": {"percent", "per cent", "pct", "prozent", "pour cent", "por ciento"}, "‰": {"per mille"},
	"$": {"US$", "USD", "dollar", "dollars", "US dollars", "usd"}, "€": {"EUR", "eur", "euro", "euros"}, "£": {"GBP", "pound sterling", "pounds sterling"},
	"¥": {"JPY", "yen"}, "₹": {"INR", "Rs", "rupees"}, "CHF": {"francs"}, "cent": {"cents"},
	"kg": {"KG", "Kg", "kilogram", "kilograms", "kilogramme", "kilogrammes", "kilos"}, "g": {"gram", "grams", "gramm"}, "mg": {"milligram", "milligrams"},
	"t": {"tonne", "tonnes", "tons"}, "lb": {"lbs", "pound", "pounds"}, "oz": {"ounce", "ounces"},
	"km": {"kilometer", "kilometers", "kilometre", "kilometres"}, "m": {"meter", "meters", "metre", "metres"},
	"cm": {"centimeter", "centimeters", "centimetre", "centimetres"}, "mm": {"millimeter", "millimeters", "millimetre", "millimetres"},
	"mi": {"mile", "miles"}, "ft": {"foot", "feet"}, "inch": {"inches"}, "yd": {"yard", "yards"},
	"s": {"sec", "secs", "second", "seconds", "sekunden"}, "ms": {"millisecond", "milliseconds"},
	"min": {"mins", "minute", "minutes", "minuten"}, "h": {"hr", "hrs", "hour", "hours", "stunden"},
	"day": {"days", "tage"}, "week": {"weeks", "wochen"}, "month": {"months", "monate"}, "year": {"years", "yrs", "jahre"},
	"°C": {"℃", "degrees celsius", "degree celsius", "celsius"}, "°F": {"℉", "degrees fahrenheit", "fahrenheit"}, "K": {"kelvin"},
	"°": {"degree", "degrees"}, "L": {"l", "liter", "liters", "litre", "litres"}, "ml": {"mL", "milliliter", "milliliters", "millilitres"},
	"km/h": {"kph", "kmh", "km per hour", "kilometers per hour", "kilometres per hour"}, "mph": {"miles per hour"}, "m/s": {"meters per second", "metres per second"},
	"m²": {"m^2", "m2", "sqm", "square meters", "square metres"}, "km²": {"km^2", "km2", "square kilometers", "square kilometres"}, "m³": {"m^3", "m3", "cubic meters", "cubic metres"},
	"W": {"watt", "watts"}, "kW": {"kilowatt", "kilowatts"}, "MW": {"megawatts"}, "kWh": {"kilowatt hours"}, "V": {"volt", "volts"}, "A": {"ampere", "amps"},
	"J": {"joule", "joules"}, "kJ": {"kilojoules"}, "kcal": {"kilocalories"}, "N": {"newton", "newtons"}, "Hz": {"hertz"}, "kHz": nil, "MHz": nil, "GHz": nil,
	"B": {"byte", "bytes"}, "kB": {"KB", "kilobytes"}, "MB": {"megabytes"}, "GB": {"gigabytes"}, "TB": {"terabytes"},
	"bar": nil, "Pa": {"pascal"}, "hPa": nil, "ppm": nil, "mol": {"moles"}, "ha": {"hectares"},
}

// unitBySymbol and unitByWord find the canonical name of a unit.
var unitBySymbol, unitByWord = func() (symbols, words map[string]string) {
	symbols, words = map[string]string{}, map[string]string{}
	for canonical, names := range unitNames {
		symbols[canonical] = canonical
		for _, name := range names {
			if len(name) > 3 {
				words[name] = canonical
			} else {
				symbols[name] = canonical
			}
		}
		if len(canonical) > 3 && canonical == strings.ToLower(canonical) {
			words[canonical] = canonical
		}
	}
	return symbols, words
}()

// longestSymbol is how many characters a unit may have that is told by its letter case.
const longestSymbol = 4

// canonicalUnit is the name that a unit shares with its other names.
func canonicalUnit(name string) string {
	name = strings.TrimSpace(name)
	if canonical, ok := knownUnit(name); ok {
		return canonical
	}
	if utf8.RuneCountInString(name) <= longestSymbol {
		return name
	}
	return fold(name)
}

func knownUnit(name string) (string, bool) {
	canonical, ok := unitBySymbol[name]
	if !ok {
		canonical, ok = unitByWord[fold(name)]
	}
	return canonical, ok
}

// unit reads all of what follows a number as its unit: none, the one that was asked for,
// or one that is known.
func (n *numbers) unit(rest string) (canonical string, ok bool) {
	name := strings.TrimLeft(rest, " \u00a0\u202f")
	if name == "" {
		return "", true
	}
	canonical = canonicalUnit(name)
	if canonical == n.asked || isPlural(canonical, n.asked) || isPlural(n.asked, canonical) {
		return n.asked, true
	}
	_, ok = knownUnit(name)
	return canonical, ok && name != "B" && name != "K" // these may be billions and thousands
}

// isPlural reports whether a word is another one with an s; of symbols, ms is no m.
func isPlural(word, of string) bool { return len(of) >= longestSymbol && word == of+"s" }

// currencies are the names of units that stand before a number as well.
var currencies = []string{"US$", "USD", "EUR", "GBP", "CHF", "JPY", "INR", "Rs", "$", "€", "£", "¥", "₹"}

// currencyBefore takes a currency off the beginning of a text.
func currencyBefore(text string) (unit, rest string) {
	for _, name := range currencies {
		if rest, ok := strings.CutPrefix(text, name); ok {
			return canonicalUnit(name), strings.TrimLeft(rest, " \u00a0\u202f")
		}
	}
	return "", text
}
