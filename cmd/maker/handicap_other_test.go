//go:build !linux

package main

// handicap is for the scripts that are about Linux.
func handicap() {}
