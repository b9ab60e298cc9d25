package reader

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// unitNames are the units that are known without being asked for, with their other
// names. Symbols are told by their letter case (mW, MW), words are not.
var unitNames = map[string][]string{
	"%": {"percent", "per cent", "pct", "prozent", "pour cent", "por ciento"}, "‰": {"per mille"},
	"$": {"US$", "USD", "dollar", "dollars", "US dollars"}, "€": {"EUR", "euro", "euros"}, "£": {"GBP", "pound sterling", "pounds sterling"},
	"¥": {"JPY", "yen"}, "₹": {"INR", "Rs", "rupees"}, "CHF": {"francs"}, "cent": {"cents"},
	"kg": {"kilogram", "kilograms", "kilogramme", "kilogrammes", "kilos"}, "g": {"gram", "grams", "gramm"}, "mg": {"milligram", "milligrams"},
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

// canonicalUnit is the name that a unit shares with its other names.
func canonicalUnit(name string) string {
	name = strings.TrimSpace(name)
	if canonical, ok := unitBySymbol[name]; ok {
		return canonical
	}
	folded := fold(name)
	if canonical, ok := unitByWord[folded]; ok {
		return canonical
	}
	return folded
}

// unitText is what may be a unit: a sign, or up to three words.
var unitText = regexp.MustCompile(`^[ \x{a0}\x{202f}]?-?(?:\\?[%‰$€£¥₹℃℉]|°\s?[CF]?|[\pLµμΩ][\pLµμΩ0-9²³^]*(?:/[\pLµμ]+[²³0-9]*)?(?: [\pL]+){0,2})`)

// unitAfter is the unit that a text begins with, as it is written: the one that was
// asked for, or one that is known.
func (n *numbers) unitAfter(text string) string {
	if n.asked != "" {
		trimmed := strings.TrimLeft(text, " \u00a0\u202f")
		if len(trimmed) >= len(n.Unit) && strings.EqualFold(trimmed[:len(n.Unit)], n.Unit) && endsWord(trimmed[len(n.Unit):]) &&
			canonicalUnit(trimmed[:len(n.Unit)]) == n.asked {
			return text[:len(text)-len(trimmed)+len(n.Unit)]
		}
	}
	found := unitText.FindString(text)
	for found != "" {
		name := strings.TrimLeft(found, " \u00a0\u202f-\\")
		_, symbol := unitBySymbol[name]
		_, word := unitByWord[fold(name)]
		if (symbol || word || n.asked != "" && canonicalUnit(name) == n.asked) && endsWord(text[len(found):]) {
			return found
		}
		cut := strings.LastIndexByte(found, ' ')
		if cut <= 0 {
			break
		}
		found = found[:cut]
	}
	return ""
}

// endsWord reports whether a text goes on with something that is no part of the word, or
// the unit, before it.
func endsWord(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !isWord(r) && !strings.ContainsRune("/²³^°·", r)
}

// currencies are the names of units that stand before a number as well.
var currencies = []string{"US$", "USD", "EUR", "GBP", "CHF", "JPY", "INR", "Rs", "$", "€", "£", "¥", "₹"}

// currencyBefore takes a currency off the end of a text.
func currencyBefore(text string) (unit, rest string) {
	trimmed := strings.TrimRight(text, " \u00a0\u202f")
	for _, name := range currencies {
		head, ok := strings.CutSuffix(trimmed, name)
		if !ok {
			continue
		}
		if r, _ := utf8.DecodeLastRuneInString(head); isWord(r) && isWord(rune(name[0])) {
			continue
		}
		return canonicalUnit(name), strings.TrimSuffix(head, `\`) // as in Markdown with formulas
	}
	return "", text
}
