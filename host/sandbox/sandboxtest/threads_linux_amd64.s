#include "textflag.h"

// func cloneParked(flags, stack, fd uintptr) uintptr
TEXT ·cloneParked(SB), NOSPLIT, $0-32
	MOVQ flags+0(FP), DI
	MOVQ stack+8(FP), SI
	MOVQ SI, R13
	MOVQ fd+16(FP), R12
	MOVQ $0, DX
	MOVQ $0, R10
	MOVQ $0, R8
	MOVQ $56, AX // clone
	SYSCALL
	CMPQ AX, $0
	JEQ  parked
	MOVQ AX, ret+24(FP)
	RET

parked: // the new thread, which does not use a stack
	MOVQ R12, DI
	MOVQ R13, SI
	MOVQ $1, DX
	MOVQ $0, AX // read
	SYSCALL
	JMP  parked
