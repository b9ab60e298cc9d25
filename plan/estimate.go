package plan

import "github.com/maker-mdap/maker/usage"

// An Estimate is what carrying out a plan will take if its voters agree and all
// goes well. What it assumes about the length of answers is a guess.
type Estimate struct {
	Steps  int          `json:"steps"`
	Calls  int          `json:"calls"`
	Tokens usage.Tokens `json:"tokens"`
	Model  string       `json:"model"`

	// CostUSD is nil if the model's price is not known.
	CostUSD *float64 `json:"cost_usd"`
}
