//go:build !linux

package main

import "errors"

var errPlatform = errors.New("the hostile corpus requires Linux")

func (p *processes) adopt() error       { return errPlatform }
func resident(int) (now, highest int64) { return 0, 0 }
func orphans(map[int]bool) (left []int) { return nil }
func kill(int)                          {}
func makePipe(string) error             { return errPlatform }
