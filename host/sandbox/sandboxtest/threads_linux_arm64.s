#include "textflag.h"

// func cloneParked(flags, stack, fd uintptr) uintptr
TEXT ·cloneParked(SB), NOSPLIT, $0-32
	MOVD flags+0(FP), R0
	MOVD stack+8(FP), R1
	MOVD R1, R20
	MOVD fd+16(FP), R19
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $220, R8 // clone
	SVC
	CBZ  R0, parked
	MOVD R0, ret+24(FP)
	RET

parked: // the new thread, which does not use a stack
	MOVD R19, R0
	MOVD R20, R1
	MOVD $1, R2
	MOVD $63, R8 // read
	SVC
	B    parked
