// Command goguest uses the operating system in the ways of a Go program, and prints the results.
package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

func main() {
	fmt.Printf("args %q\n", os.Args)
	fmt.Printf("environ %q, REGION %q\n", os.Environ(), os.Getenv("REGION"))
	fmt.Println("time", time.Now().UTC().Format(time.RFC3339Nano))

	start := time.Now()
	time.Sleep(90 * time.Minute)
	fmt.Println("slept", time.Since(start))
	woken := make(chan string)
	go func() {
		time.Sleep(time.Second)
		woken <- "woken"
	}()
	fmt.Println(<-woken)

	random := make([]byte, 4)
	_, err := rand.Read(random)
	fmt.Printf("random %x %v\n", random, err)

	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Printf("read %q %v\n", line, err)
	_, err = os.Stdout.Seek(0, 0)
	fmt.Println("seek", err)
	info, err := os.Stdout.Stat()
	fmt.Println("stat", info.Mode(), err)

	_, err = os.ReadFile("x.txt")
	fmt.Println(err, errors.Is(err, syscall.EBADF))
	_, err = os.ReadFile("/etc/passwd")
	fmt.Println(err)
	_, err = os.ReadDir(".")
	fmt.Println(err)
	fmt.Println(os.WriteFile("x.txt", nil, 0o600))
	fmt.Println(os.Mkdir("x", 0o700))
	fmt.Println(os.Remove("x"))
	_, err = fs.Stat(os.DirFS("/"), "x")
	fmt.Println(err)
	_, err = net.FileListener(os.NewFile(3, "socket"))
	fmt.Println(err)

	fmt.Fprint(os.Stderr, "to stderr")
	os.Stdout.Close()
	_, err = os.Stdout.WriteString("lost")
	fmt.Fprint(os.Stderr, ", then ", err)
	os.Exit(7)
}
