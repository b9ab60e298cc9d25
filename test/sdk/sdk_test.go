package sdk

import (
	_ "github.com/anthropics/anthropic-sdk-go"
	_ "github.com/anthropics/anthropic-sdk-go/option"
	_ "github.com/maker-mdap/maker/model/sim/simserver"
	_ "github.com/openai/openai-go/v3"
	_ "github.com/openai/openai-go/v3/option"
)
