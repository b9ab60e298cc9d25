package sim

import (
	"errors"
	"fmt"
	"math"
	"net/url"
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

	// Latency is the median of a log-normal distribution whose logarithm has
	// the standard deviation Sigma.
	Latency time.Duration
	Sigma   float64

	// Shares of attempts that end in a fault instead of an answer.
	F429, F529, F500, Hang, Cut, Garbage float64

	RetryAfter time.Duration // sent with a 429 or 529; 0 sends nothing

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
	set  func(*Settings, string) error
	get  func(*Settings) string
}

// settings lists the keys in their canonical order.
func settings() []setting {
	return []setting{
		share("p", func(s *Settings) *float64 { return &s.P }),
		share("malformed", func(s *Settings) *float64 { return &s.Malformed }),
		{"overlong", "SHARE or SHARE:TOKENS", setOverlong, getOverlong},
		{"rivals", "a whole number from 1", setRivals, func(s *Settings) string { return strconv.Itoa(s.Rivals) }},
		{"hard", "SHARE:P, both numbers from 0 to 1", setHard, getHard},
		{"load", "a number from 0 to 100", setLoad, func(s *Settings) string { return number(s.Load) }},
		share("rho", func(s *Settings) *float64 { return &s.Rho }),
		{"latency", "MEDIAN or MEDIAN,SIGMA such as 40ms,1.0", setLatency, getLatency},
		share("f429", func(s *Settings) *float64 { return &s.F429 }),
		share("f529", func(s *Settings) *float64 { return &s.F529 }),
		share("f500", func(s *Settings) *float64 { return &s.F500 }),
		share("hang", func(s *Settings) *float64 { return &s.Hang }),
		share("cut", func(s *Settings) *float64 { return &s.Cut }),
		share("garbage", func(s *Settings) *float64 { return &s.Garbage }),
		{"retry_after", "a duration such as 2s, at most 1h", setRetryAfter, func(s *Settings) string { return s.RetryAfter.String() }},
		{"seed", "a whole number from 0", setSeed, func(s *Settings) string { return strconv.FormatUint(s.Seed, 10) }},
		{"price", "IN,OUT in dollars per million tokens", setPrice, func(s *Settings) string { return number(s.PriceIn) + "," + number(s.PriceOut) }},
		{"script", "a file", setScript, func(s *Settings) string { return escape(s.Script) }},
		{"refuse", "some of " + strings.Join(parameterNames[:], "+"), setRefuse, func(s *Settings) string { return s.Refuse.String() }},
		{"cache", "on or off", setCache, getCache},
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
	table := settings()
	given := make(map[string]bool, len(table))
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		if given[key] {
			return s, fmt.Errorf("sim: setting %q is given twice", key)
		}
		given[key] = true
		if err := apply(&s, table, key, value); err != nil {
			return s, err
		}
	}
	return s, s.check()
}

func apply(s *Settings, table []setting, key, value string) error {
	names := make([]string, len(table))
	for i, t := range table {
		if t.name != key {
			names[i] = t.name
			continue
		}
		plain, err := url.PathUnescape(value)
		if err == nil {
			err = t.set(s, plain)
		}
		if err != nil {
			return fmt.Errorf("sim: setting %s=%s: %w; want %s", key, value, err, t.form)
		}
		return nil
	}
	return fmt.Errorf("sim: there is no setting %q; there are %s", key, strings.Join(names, ", "))
}

// check finds settings that are fine one by one but not together.
func (s Settings) check() error {
	if sum := s.Malformed + s.Overlong; sum > 1+rounding {
		return fmt.Errorf("sim: malformed and overlong add up to %s, more than 1", number(sum))
	}
	if sum := s.F429 + s.F529 + s.F500 + s.Hang + s.Cut + s.Garbage; sum > 1+rounding {
		return fmt.Errorf("sim: the fault rates f429, f529, f500, hang, cut and garbage add up to %s, more than 1", number(sum))
	}
	return nil
}

// String returns the canonical name: settings in a fixed order, defaults left
// out. Parsing it gives the same settings back.
func (s Settings) String() string {
	def := Default()
	var b strings.Builder
	b.WriteString(prefix + modelName)
	sep := byte('?')
	for _, t := range settings() {
		v := t.get(&s)
		if v == t.get(&def) {
			continue
		}
		b.WriteByte(sep)
		b.WriteString(t.name)
		b.WriteByte('=')
		b.WriteString(v)
		sep = '&'
	}
	return b.String()
}

func share(name string, field func(*Settings) *float64) setting {
	return setting{
		name: name,
		form: "a number from 0 to 1",
		set:  func(s *Settings, v string) error { return parseNumber(field(s), v, 1) },
		get:  func(s *Settings) string { return number(*field(s)) },
	}
}

// parseNumber reads a number from 0 to most into dst.
func parseNumber(dst *float64, v string, most float64) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return errors.New("not a number")
	}
	if !(f >= 0 && f <= most) {
		return errors.New("out of range")
	}
	*dst = math.Abs(f) // -0 would not survive a round trip
	return nil
}

func parseInt(dst *int, v string, most int) error {
	n, err := strconv.Atoi(v)
	if err != nil {
		return errors.New("not a whole number")
	}
	if n < 1 || n > most {
		return fmt.Errorf("out of range 1 to %d", most)
	}
	*dst = n
	return nil
}

func parseDuration(dst *time.Duration, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil {
		return errors.New("not a duration")
	}
	if d < 0 || d > maxWait {
		return errors.New("out of range")
	}
	*dst = d
	return nil
}

func setOverlong(s *Settings, v string) error {
	v, tokens, ok := strings.Cut(v, ":")
	if ok {
		if err := parseInt(&s.OverlongTokens, tokens, maxTokens); err != nil {
			return err
		}
	}
	return parseNumber(&s.Overlong, v, 1)
}

func getOverlong(s *Settings) string {
	v := number(s.Overlong)
	if s.OverlongTokens != Default().OverlongTokens {
		v += ":" + strconv.Itoa(s.OverlongTokens)
	}
	return v
}

func setRivals(s *Settings, v string) error { return parseInt(&s.Rivals, v, maxRivals) }

func setHard(s *Settings, v string) error {
	v, p, ok := strings.Cut(v, ":")
	if !ok {
		return errors.New("the colon is missing")
	}
	if err := parseNumber(&s.HardShare, v, 1); err != nil {
		return err
	}
	return parseNumber(&s.HardP, p, 1)
}

func getHard(s *Settings) string { return number(s.HardShare) + ":" + number(s.HardP) }

func setLoad(s *Settings, v string) error { return parseNumber(&s.Load, v, maxLoad) }

func setLatency(s *Settings, v string) error {
	v, sigma, ok := strings.Cut(v, ",")
	if ok {
		if err := parseNumber(&s.Sigma, sigma, maxSigma); err != nil {
			return fmt.Errorf("sigma: %w", err)
		}
	}
	return parseDuration(&s.Latency, v)
}

func getLatency(s *Settings) string {
	v := s.Latency.String()
	if s.Sigma != 0 {
		v += "," + number(s.Sigma)
	}
	return v
}

func setRetryAfter(s *Settings, v string) error { return parseDuration(&s.RetryAfter, v) }

func setSeed(s *Settings, v string) error {
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return errors.New("not a whole number")
	}
	s.Seed = n
	return nil
}

func setPrice(s *Settings, v string) error {
	in, out, ok := strings.Cut(v, ",")
	if !ok {
		return errors.New("the comma is missing")
	}
	if err := parseNumber(&s.PriceIn, in, maxPrice); err != nil {
		return err
	}
	return parseNumber(&s.PriceOut, out, maxPrice)
}

func setScript(s *Settings, v string) error {
	s.Script = v
	return nil
}

func setCache(s *Settings, v string) error {
	if v != "on" && v != "off" {
		return errors.New("neither on nor off")
	}
	s.Cache = v == "on"
	return nil
}

func getCache(s *Settings) string {
	if s.Cache {
		return "on"
	}
	return "off"
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// escape protects what would end a value inside a name, and nothing else, so
// that paths stay readable.
func escape(v string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", " ", "%20", "\n", "%0A", "\r", "%0D", "\t", "%09").Replace(v)
}
