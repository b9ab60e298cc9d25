package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/usage"
)

// Settings say how a simulated model behaves. Start from [Default] or [Parse];
// the zero value is not valid.
type Settings struct {
	P float64 // chance that a well-formed answer is right

	Malformed float64 // share of answers that violate the format

	// Overlong is the share of answers that ramble for OverlongTokens before
	// they come to the point.
	Overlong       float64
	OverlongTokens int

	Rivals int // how many distinct wrong answers to one step compete

	// HardShare is the share of steps whose chance of a right answer is HardP
	// instead of P.
	HardShare, HardP float64

	// Load is how much each further operation counts that an answer takes beyond
	// the first: one that takes n is right with probability P^(1+Load*(n-1)). It
	// concerns problems that can be split, in the prompts of recursive solving.
	Load float64

	Rho float64 // chance that a sample repeats the step's common draw

	// Own is the share of framings whose common draw is one of their own instead of
	// that of the step: how much of a common error stays within one way of asking.
	Own float64

	// Latency is the median of a log-normal distribution whose logarithm has
	// the standard deviation Sigma.
	Latency time.Duration
	Sigma   float64

	// Shares of attempts that end in a fault instead of an answer.
	F429, F529, F500, Hang, Cut, Garbage float64

	// RetryAfter is sent with a 429 or 529. If it is 0 nothing is sent, unless RetryNow
	// says that 0 is.
	RetryAfter time.Duration
	RetryNow   bool

	Seed uint64

	PriceIn, PriceOut float64 // dollars per million tokens

	Script string // file of rules that are tried before the built-in skills

	// Refuse is what a server refuses, in the provider's own words, so that a
	// client has to learn to do without. See package simserver.
	Refuse Parameters

	Cache bool // whether prefixes are cached, as [model.Request.CachePrefix] asks
}

// Default returns the settings of the model called sim/default: right in 99 of
// 100 answers, at the list price of a small model.
func Default() Settings {
	return Settings{P: 0.99, OverlongTokens: 1000, Rivals: 1, Load: 4, PriceIn: 0.4, PriceOut: 1.6}
}

// CostUSD is the simulated price of one call.
func (s Settings) CostUSD(t usage.Tokens) float64 {
	in := float64(t.Input + t.CacheRead + t.CacheWrite)
	out := float64(t.Output + t.Reasoning)
	return (in*s.PriceIn + out*s.PriceOut) / 1e6
}

const (
	prefix    = "sim/"
	modelName = "default"

	maxRivals = 1000
	maxTokens = 1 << 20
	maxSigma  = 4
	maxWait   = time.Hour
	maxPrice  = 1e6
	maxLoad   = 100
	rounding  = 1e-9 // slack for sums of shares such as 0.7 + 0.2 + 0.1
)

// A setting is one key of a model's name.
type setting struct {
	name string
	form string // how a value looks, for error texts
	value
}

// A value is where a setting is kept, as texts see it.
type value struct {
	set func(text string) error
	get func() string
}

// table lists the keys in their canonical order.
func (s *Settings) table() []setting {
	const share, wait = "a number from 0 to 1", "a duration such as 2s, at most 1h"
	def := Default()
	return []setting{
		{"p", share, real(&s.P, 1)},
		{"malformed", share, real(&s.Malformed, 1)},
		{"overlong", "SHARE or SHARE:TOKENS", pair(real(&s.Overlong, 1), ":", whole(&s.OverlongTokens, maxTokens), strconv.Itoa(def.OverlongTokens))},
		{"rivals", "a whole number from 1", whole(&s.Rivals, maxRivals)},
		{"hard", "SHARE:P, both numbers from 0 to 1", pair(real(&s.HardShare, 1), ":", real(&s.HardP, 1), "")},
		{"load", "a number from 0 to 100", real(&s.Load, maxLoad)},
		{"rho", share, real(&s.Rho, 1)},
		{"own", share, real(&s.Own, 1)},
		{"latency", "MEDIAN or MEDIAN,SIGMA such as 40ms,1.0", pair(duration(&s.Latency), ",", real(&s.Sigma, maxSigma), "0")},
		{"f429", share, real(&s.F429, 1)},
		{"f529", share, real(&s.F529, 1)},
		{"f500", share, real(&s.F500, 1)},
		{"hang", share, real(&s.Hang, 1)},
		{"cut", share, real(&s.Cut, 1)},
		{"garbage", share, real(&s.Garbage, 1)},
		{"retry_after", wait, orNone(duration(&s.RetryAfter), &s.RetryAfter, &s.RetryNow)},
		{"seed", "a whole number from 0", seed(&s.Seed)},
		{"price", "IN,OUT in dollars per million tokens", pair(real(&s.PriceIn, maxPrice), ",", real(&s.PriceOut, maxPrice), "")},
		{"script", "a file", file(&s.Script)},
		{"refuse", "some of " + strings.Join(parameterNames[:], "+"), value{s.Refuse.set, func() string { return s.Refuse.String() }}},
		{"cache", "on or off", onOff(&s.Cache)},
	}
}

// Parse reads the name of a simulated model, such as
// sim/default?p=0.9978&rivals=2&seed=7. The prefix sim/ may be missing.
func Parse(name string) (Settings, error) {
	s := Default()
	base, query, _ := strings.Cut(strings.TrimPrefix(name, prefix), "?")
	if base != modelName && base != "" {
		return s, fmt.Errorf("sim: no simulated model is called %q; there is %s%s, with settings such as %s%s?p=0.9", base, prefix, modelName, prefix, modelName)
	}
	table := s.table()
	var names []string
	for _, t := range table {
		names = append(names, t.name)
	}
	given := make(map[string]bool, len(table))
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		at := slices.Index(names, key)
		switch {
		case given[key]:
			return s, fmt.Errorf("sim: setting %q is given twice", key)
		case at < 0:
			return s, fmt.Errorf("sim: there is no setting %q; there are %s", key, strings.Join(names, ", "))
		}
		given[key] = true
		plain, err := url.PathUnescape(value)
		if err == nil {
			err = table[at].set(plain)
		}
		if err != nil {
			return s, fmt.Errorf("sim: setting %s=%s: %w; want %s", key, value, err, table[at].form)
		}
	}
	return s, s.check()
}

// faults are the shares of the faults.
func (s *Settings) faults() [6]float64 {
	return [...]float64{s.F429, s.F529, s.F500, s.Hang, s.Cut, s.Garbage}
}

// check finds settings that are fine one by one but not together.
func (s Settings) check() error {
	if sum := s.Malformed + s.Overlong; sum > 1+rounding {
		return fmt.Errorf("sim: malformed and overlong add up to %s, more than 1", number(sum))
	}
	sum := 0.0
	for _, share := range s.faults() {
		sum += share
	}
	if sum > 1+rounding {
		return fmt.Errorf("sim: the fault rates f429, f529, f500, hang, cut and garbage add up to %s, more than 1", number(sum))
	}
	return nil
}

// String returns the canonical name: settings in a fixed order, defaults left
// out. Parsing it gives the same settings back.
func (s Settings) String() string {
	def := Default()
	defaults := def.table()
	var given []string
	for i, t := range s.table() {
		if v := t.get(); v != defaults[i].get() {
			given = append(given, t.name+"="+v)
		}
	}
	if given == nil {
		return prefix + modelName
	}
	return prefix + modelName + "?" + strings.Join(given, "&")
}

// scalar is a value in a range, which is read from a text and written to one.
func scalar[T cmp.Ordered](at *T, what string, read func(string) (T, error), least, most T, outside string, write func(T) string) value {
	return value{func(text string) error {
		v, err := read(text)
		if err != nil {
			return errors.New("not " + what)
		}
		if !(v >= least && v <= most) {
			return errors.New(outside)
		}
		*at = v
		return nil
	}, func() string { return write(*at) }}
}

const outOfRange = "out of range"

// real is a number from 0 to most.
func real(at *float64, most float64) value {
	read := func(text string) (float64, error) {
		f, err := strconv.ParseFloat(text, 64)
		return f + 0, err // -0 would not survive a round trip
	}
	return scalar(at, "a number", read, 0, most, outOfRange, number)
}

// whole is a number from 1 to most.
func whole(at *int, most int) value {
	return scalar(at, "a whole number", strconv.Atoi, 1, most, fmt.Sprintf("out of range 1 to %d", most), strconv.Itoa)
}

func seed(at *uint64) value {
	read := func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }
	write := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return scalar(at, "a whole number", read, 0, math.MaxUint64, outOfRange, write)
}

func duration(at *time.Duration) value {
	return scalar(at, "a duration", time.ParseDuration, 0, maxWait, outOfRange, time.Duration.String)
}

// orNone tells a duration of 0 that was given from none.
func orNone(v value, at *time.Duration, zero *bool) value {
	return value{func(text string) error {
		err := v.set(text)
		*zero = err == nil && *at == 0
		return err
	}, func() string {
		if *at == 0 && !*zero {
			return ""
		}
		return v.get()
	}}
}

func file(at *string) value {
	return value{func(text string) error { *at = text; return nil }, func() string { return escape(*at) }}
}

func onOff(at *bool) value {
	return value{func(text string) error {
		if text != "on" && text != "off" {
			return errors.New("neither on nor off")
		}
		*at = text == "on"
		return nil
	}, func() string { return map[bool]string{true: "on", false: "off"}[*at] }}
}

// pair is two values with a sign between them. The second may be left out if there is
// one that it has then.
func pair(a value, sign string, b value, otherwise string) value {
	return value{func(text string) error {
		first, second, found := strings.Cut(text, sign)
		if !found && otherwise == "" {
			return fmt.Errorf("the %s is missing", map[string]string{":": "colon", ",": "comma"}[sign])
		}
		if found {
			if err := b.set(second); err != nil {
				return err
			}
		}
		return a.set(first)
	}, func() string {
		if b.get() == otherwise {
			return a.get()
		}
		return a.get() + sign + b.get()
	}}
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// escape protects what would end a value inside a name, and nothing else, so
// that paths stay readable.
func escape(v string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", " ", "%20", "\n", "%0A", "\r", "%0D", "\t", "%09").Replace(v)
}
