module github.com/maker-mdap/maker/test/browser

go 1.26.0

require github.com/chromedp/chromedp v0.21.0
